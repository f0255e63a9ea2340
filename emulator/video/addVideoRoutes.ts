import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors';
import { moderate } from '../moderate';
import { callerOf, requireCaller, requireCredit } from '../requireCaller';
import type { Service } from '../service';
import { cdnVideoPath } from './cdnVideo';
import { effectiveVideo } from './effectiveVideo';
import { enhancedPrompt } from './enhancedPrompt';
import { VIDEO_MODELS, type VideoModel } from './models';
import { TASK_SCHEMA, VIDEO_SCHEMA, type VideoBody } from './requestSchema';
import type { VideoTask } from './tasks';
import { taskStatus } from './taskStatus';

function modelOf(code: string): VideoModel {
	const model = VIDEO_MODELS.find((row) => row.code === code);
	if (model) return model;
	throw new ServiceError(
		402,
		`The video model ${code} does not exist, or the account may not use it.`,
	);
}

/** The fields that a finished task adds to its answer, those of some models included (spec 2.10). */
function results({ protocol, host }: FastifyRequest, task: VideoTask, seed: number) {
	const { size, aspect_ratio: aspectRatio, duration: seconds } = task.video;
	const model = modelOf(task.video.model);
	const origin = `${protocol}://${host}`;
	return {
		video_url: origin + cdnVideoPath({ taskId: task.id, size, aspectRatio, seconds }),
		...(model.thumbnail && { thumbnail_url: `${origin}/cdn/thumbnails/${task.id}.jpg` }),
		...(model.enhancedPrompt && { enhanced_prompt: enhancedPrompt(task.video.prompt, seed) }),
	};
}

/** Video creation and task query (spec 2.8 to 2.11, 3.1). */
export function addVideoRoutes(server: FastifyInstance, service: Service): void {
	const { clock, tasks, settings } = service;

	server.register(async (videos) => {
		requireCaller(videos);

		videos.post<{ Body: VideoBody }>(
			'/v1/videos/generations',
			{ schema: { body: VIDEO_SCHEMA } },
			async (request) => {
				const { body } = request;
				const caller = callerOf(request);
				const video = effectiveVideo(body, modelOf(body.model));
				requireCredit(caller);
				moderate('the prompt', body.prompt);
				const references = [body.images, body.videos, body.audios].flatMap(
					(urls) => urls ?? [],
				);
				moderate('a reference resource', references.join('\n'));

				const task = tasks.create(caller.account.name, video, clock.now());
				const { status } = taskStatus(task, task.createdMs);
				return { task_id: task.id, status, model: video.model, created_at: null };
			},
		);

		videos.post<{ Body: { readonly task_id: string } }>(
			'/v1/videos/tasks',
			{ schema: { body: TASK_SCHEMA } },
			async (request) => {
				const task = tasks.find(callerOf(request).account.name, request.body.task_id);
				if (!task) throw new ServiceError(400, `There is no task ${request.body.task_id}`);

				const { status, error } = taskStatus(task, clock.now());
				return {
					task_id: task.id,
					status,
					model: task.video.model,
					...(status === 'completed' && results(request, task, settings.seed)),
					...(error !== undefined && { error_message: error }),
				};
			},
		);
	});
}

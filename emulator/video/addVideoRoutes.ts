import type { FastifyInstance, FastifyRequest } from 'fastify';
import { extname } from 'node:path';
import { languageOf } from '../chat/generation/language';
import { imageName } from '../chat/plugins/plugins';
import { HttpError } from '../errors';
import { moderate } from '../moderate';
import { pick } from '../random';
import { authenticate, requireAuthentication, requireCredit } from '../authentication';
import type { EmulatedService, ServiceSettings } from '../service';
import { cdnVideoPath } from './cdnVideo';
import { effectiveVideo, hasSound } from './effectiveVideo';
import { EMULATED_MODELS, type EmulatedModel } from './models';
import { TASK_SCHEMA, VIDEO_SCHEMA, type VideoBody } from './requestSchema';
import type { VideoTask } from './tasks';
import { taskStatus } from './taskStatus';

function modelOf(code: string): EmulatedModel {
	const model = EMULATED_MODELS.find((row) => row.code === code);
	if (model) return model;
	const problem = `The video model ${code} does not exist, or the account may not use it.`;
	throw new HttpError(402, problem);
}

/** `enhanced_prompt`: a more detailed version of a prompt (spec 2.10). */
function enhancedPrompt(prompt: string, seed: number): string {
	const more = pick(languageOf(prompt).lists['enhancement']!, seed, prompt);
	return `${prompt.trim().replace(/[.!。！]+$/, '')}, ${more}.`;
}

/** Extra response fields of a completed task, including those that only some models return (spec 2.10). */
function completedFields(
	{ protocol, host }: FastifyRequest,
	task: VideoTask,
	{ seed, minimal, wordsInVideos }: ServiceSettings,
) {
	const { size, aspect_ratio: aspectRatio, duration: seconds, watermark } = task.video;
	const words = wordsInVideos ? task.video.prompt : '';
	const names = wordsInVideos ? task.video.images.map(imageName) : [];
	const isFrames = task.video.image_mode === 'first_last_frame';
	const model = modelOf(task.video.model);
	const origin = `${protocol}://${host}`;
	const { file } = task.script ?? {};
	const path =
		file === undefined
			? cdnVideoPath({
					...{ taskId: task.id, size, aspectRatio, seconds, words, watermark },
					sound: hasSound(task.video),
					[isFrames ? 'frames' : 'references']: names,
				})
			: `/cdn/scripted/${task.id}${extname(file)}`;
	return {
		video_url: origin + path,
		...(model.thumbnail &&
			!minimal && { thumbnail_url: `${origin}/cdn/thumbnails/${task.id}.jpg` }),
		...(model.enhancedPrompt &&
			!minimal && { enhanced_prompt: enhancedPrompt(task.video.prompt, seed) }),
	};
}

/** Routes of video creation and task query (spec 2.8 to 2.11, 3.1). */
export function addVideoRoutes(server: FastifyInstance, service: EmulatedService): void {
	const { clock, tasks, settings, scripts } = service;

	server.register(async (videos) => {
		requireAuthentication(videos, service);

		videos.post<{ Body: VideoBody }>(
			'/v1/videos/generations',
			{ schema: { body: VIDEO_SCHEMA } },
			async (request) => {
				const { body } = request;
				const caller = authenticate(request);
				const video = effectiveVideo(body, modelOf(body.model));
				requireCredit(caller);
				moderate('the prompt', body.prompt);
				const references = [body.images, body.videos, body.audios].flat();
				moderate('a reference resource', references.join('\n'));

				const script = scripts.find(request)?.reply.task;
				const task = tasks.create(caller.account.name, video, clock.now(), script);
				const { status } = taskStatus(task, task.createdMs);
				return { task_id: task.id, status, model: video.model, created_at: null };
			},
		);

		videos.post<{ Body: { readonly task_id: string } }>(
			'/v1/videos/tasks',
			{ schema: { body: TASK_SCHEMA } },
			async (request) => {
				const task = tasks.find(authenticate(request).account.name, request.body.task_id);
				if (!task) throw new HttpError(400, `Unknown task: ${request.body.task_id}`);

				const { status, error } = taskStatus(task, clock.now());
				return {
					task_id: task.id,
					status,
					model: task.video.model,
					...(status === 'completed' && completedFields(request, task, settings)),
					...(error !== undefined && { error_message: error }),
					...task.script?.fields,
				};
			},
		);
	});
}

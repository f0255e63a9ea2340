import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import axios from 'axios';
import type { INodeExecutionData } from 'n8n-workflow';

import { binaryOf, failureOf, outputItems, type Execution } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import { probeVideo, type VideoFacts } from './probeVideo';
import { EXAMPLES } from './readExample';

/** A video that the batch has made, saved to a file. */
export interface SavedVideo extends VideoFacts {
	readonly topic: string;
	readonly model: string;
	readonly file: string;
	readonly bytes: number;
}

/** Where the service is, to look at the tasks meanwhile. */
export interface Service {
	readonly url: string;
	readonly key: string;
}

const { batch } = EXAMPLES;

/**
 * Runs the batch example through n8n and waits for its end.
 *
 * @param onProgress Told in a line what n8n is doing and how far the tasks are.
 * @throws Error when the execution fails, or not every topic becomes a video.
 */
export async function runBatch(
	n8n: N8nClient,
	workflow: WorkflowRef,
	{ service, onProgress }: { service: Service; onProgress: (text: string) => void },
): Promise<Execution> {
	const id = await n8n.run(workflow, batch.trigger);
	const execution = await n8n.waitForExecution(id, {
		limitMs: 11 * 60_000,
		onProgress: async (sofar) => {
			onProgress(await describe(sofar, service));
		},
	});
	if (execution.status !== 'success') {
		throw new Error(`The batch ended with status ${execution.status}. ${failureOf(execution)}`);
	}
	const wanted = outputItems(execution, 'Topics').length;
	const finished = outputItems(execution, batch.finished).length;
	if (finished === wanted) return execution;

	const reasons = outputItems(execution, batch.failed).map(({ json }) => json['error_message']);
	throw new Error(`${finished} of ${wanted} videos were made. ${reasons.join('; ')}`);
}

/**
 * Saves the videos of a finished batch into a folder, which is emptied first.
 *
 * @throws Error when a file is no valid video of the asked length.
 */
export async function saveVideos(
	n8n: N8nClient,
	execution: Execution,
	folder: string,
): Promise<readonly SavedVideo[]> {
	await rm(folder, { recursive: true, force: true });
	await mkdir(folder, { recursive: true });
	const topics = outputItems(execution, 'Topics');
	const videos: SavedVideo[] = [];
	for (const [index, item] of outputItems(execution, batch.finished).entries()) {
		const file = join(folder, fileName(index, item));
		const bytes = await n8n.download(binaryOf(item, 'video'));
		await writeFile(file, bytes);
		const facts = await probeVideo(file);
		const asked = topics.find(({ json }) => json['topic'] === item.json['topic'])?.json;
		if (facts.seconds !== asked?.['duration']) {
			throw new Error(
				`${file} is ${facts.seconds} s long, not ${String(asked?.['duration'])} s`,
			);
		}
		videos.push({
			topic: String(item.json['topic']),
			model: String(item.json['model']),
			file,
			bytes: bytes.length,
			...facts,
		});
	}
	return videos;
}

/** For example `1-a-lighthouse-at-dawn.mp4`. */
function fileName(index: number, { json }: INodeExecutionData): string {
	const words =
		String(json['topic'])
			.toLowerCase()
			.match(/[a-z0-9]+/g) ?? [];
	return `${[index + 1, ...words].join('-')}.mp4`;
}

async function describe(execution: Execution, service: Service): Promise<string> {
	const running = batch.steps.find((step) => outputItems(execution, step).length === 0);
	if (running === undefined) return 'all steps are done';
	if (running !== 'Wait for Video') return running;
	const tasks = outputItems(execution, 'Create Video').map(({ json }) => json['task_id']);
	const states = await Promise.all(tasks.map((taskId) => stateOf(taskId, service)));
	return `${running}: ${states.join(', ')}`;
}

async function stateOf(taskId: unknown, { url, key }: Service): Promise<string> {
	const { data } = await axios.post<{ model: string; status: string }>(
		`${url}/v1/videos/tasks`,
		{ task_id: taskId },
		{ proxy: false, headers: { Authorization: `Bearer ${key}` } },
	);
	return `${data.model} ${data.status}`;
}

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { INodeExecutionData } from 'n8n-workflow';

import type { Emulator } from '../../emulator/startEmulator';
import { taskStatus } from '../../emulator/video/taskStatus';
import { binaryOf, failureOf, outputItems, type Execution } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import { probeVideo, type VideoFacts } from './probeVideo';
import { EXAMPLES } from '../n8n/readExample';

/** A video of the batch, saved to a file. */
export interface SavedVideo extends VideoFacts {
	readonly topic: string;
	readonly model: string;
	readonly file: string;
	readonly bytes: number;
}

const { batch } = EXAMPLES;

/**
 * Executes the batch example and waits for its end.
 *
 * @param onProgress Called with one line: the status of the tasks, which the emulator knows. n8n saves nothing of an
 * execution before its end.
 * @throws Error if the execution fails or a video is missing.
 */
export async function runBatch(
	n8n: N8nClient,
	workflow: WorkflowRef,
	{ emulator, onProgress }: { emulator: Emulator; onProgress: (text: string) => void },
): Promise<Execution> {
	const id = await n8n.run(workflow, batch.trigger);
	const execution = await n8n.waitForExecution(id, {
		limitMs: 11 * 60_000,
		onProgress: () => {
			onProgress(describe(emulator));
			return Promise.resolve();
		},
	});
	if (execution.status !== 'success') {
		throw new Error(`The batch ended with status ${execution.status}. ${failureOf(execution)}`);
	}
	const expected = outputItems(execution, 'Topics').length;
	const finished = outputItems(execution, batch.finished).length;
	if (finished === expected) return execution;
	throw new Error(`${finished} of ${expected} videos were generated`);
}

/**
 * Saves the videos of a finished batch to a folder, which is emptied first.
 *
 * @throws Error if a file is not a valid video of the requested duration.
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
		const bytes = await n8n.download(binaryOf(item, 'data'));
		await writeFile(file, bytes);
		const facts = await probeVideo(file);
		const requested = topics.find(({ json }) => json['topic'] === item.json['topic'])?.json;
		if (facts.seconds !== requested?.['duration']) {
			throw new Error(
				`${file} lasts ${facts.seconds} s, not ${String(requested?.['duration'])} s`,
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

function describe({ tasks, clock }: Emulator): string {
	const statuses = tasks.all.map(
		(task) => `${task.video.model} ${taskStatus(task, clock.now()).status}`,
	);
	return statuses.join(', ') || 'no video task yet';
}

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ROOT } from '../paths';
import type { Workflow } from './workflow';

const EXAMPLES_FOLDER = join(ROOT, 'examples');

/** The workflows of examples/ that the demo and the end-to-end tests run, and the nodes these look at. */
export const EXAMPLES = {
	batch: {
		file: 'nightly-video-batch.json',
		trigger: 'Run Now',
		/** In the order in which they run. */
		steps: ['Topics', 'Write Prompt', 'Create Video', 'Wait for Video'],
		finished: 'Finished Videos',
		failed: 'Failed Videos',
	},
	durable: {
		file: 'durable-waiting.json',
		trigger: 'Run Now',
		finished: 'Finished Videos',
	},
	agent: {
		file: 'ai-agent-video.json',
		agent: 'Video Agent',
	},
	chat: {
		file: 'chat-answer.json',
		trigger: 'When Chat Message Received',
		answer: 'Answer',
	},
} as const;

/** The name of the credential that the examples ask for; n8n gives it to the first one that is made by hand. */
export const EXAMPLE_CREDENTIAL = 'Agent Video account';

/** Reads one of EXAMPLES. */
export async function readExample(name: keyof typeof EXAMPLES): Promise<Workflow> {
	return await readExampleFile(EXAMPLES[name].file);
}

/** Reads a workflow of examples/ by its file name. */
export async function readExampleFile(file: string): Promise<Workflow> {
	return JSON.parse(await readFile(join(EXAMPLES_FOLDER, file), 'utf8')) as Workflow;
}

/** The file names of all workflows of examples/. */
export async function exampleFiles(): Promise<readonly string[]> {
	return (await readdir(EXAMPLES_FOLDER)).filter((file) => file.endsWith('.json')).sort();
}

/** The webhook ID of the node of a workflow that has one. */
export function webhookIdOf({ name, nodes }: Workflow): string {
	const id = nodes.find(({ webhookId }) => webhookId !== undefined)?.webhookId;
	if (id === undefined) throw new Error(`No node of "${name}" has a webhook`);
	return id;
}

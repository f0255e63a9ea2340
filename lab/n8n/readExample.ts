import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ROOT } from '../paths';
import type { Workflow } from './workflow';

const EXAMPLES_FOLDER = join(ROOT, 'examples');

/** Workflows of examples/ that the demo and the end-to-end tests run, with the names of the nodes that they read. */
export const EXAMPLES = {
	batch: {
		file: 'nightly-video-batch.json',
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

/** Name of the credential in the examples: n8n gives this name to the first one that is created by hand. */
export const EXAMPLE_CREDENTIAL = 'Agent Video account';
/** Name of the mail credential in the examples, which n8n suggests in the same way. */
export const SMTP_CREDENTIAL = 'SMTP account';
/** Name of the credential with the token of an MCP client, which n8n suggests in the same way. */
export const BEARER_CREDENTIAL = 'Bearer Auth account';

/** Reads one of EXAMPLES. */
export async function readExample(name: keyof typeof EXAMPLES): Promise<Workflow> {
	return await readExampleFile(EXAMPLES[name].file);
}

/** Reads a workflow of examples/ by file name. */
export async function readExampleFile(file: string): Promise<Workflow> {
	return JSON.parse(await readFile(join(EXAMPLES_FOLDER, file), 'utf8')) as Workflow;
}

/** Lists the file names of all workflows in examples/. */
export async function exampleFiles(): Promise<readonly string[]> {
	return (await readdir(EXAMPLES_FOLDER)).filter((file) => file.endsWith('.json')).sort();
}

/** Returns the webhook ID of the first node that has one. */
export function webhookIdOf({ name, nodes }: Workflow): string {
	const id = nodes.find(({ webhookId }) => webhookId !== undefined)?.webhookId;
	if (id === undefined) throw new Error(`No node of "${name}" has a webhook ID`);
	return id;
}

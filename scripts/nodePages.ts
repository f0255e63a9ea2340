import { join } from 'node:path';

import type { INodeType } from 'n8n-workflow';

import { ROOT } from '../lab/paths';

/** The page of each node in docs/, and the name of its folder and class. */
export const NODE_PAGES: Readonly<Record<string, string>> = {
	'chat-completion.md': 'ChatCompletion',
	'agent-with-tools.md': 'AgentWithTools',
	'super-assistant.md': 'SuperAssistant',
	'chat-model.md': 'AgentVideoChatModel',
	'create-video.md': 'CreateVideo',
	'wait-for-video.md': 'WaitForVideo',
};

/** A node of nodes/ by its name. */
export async function loadNode(name: string): Promise<INodeType> {
	// With its whole path: without the ending, the codex file of the same name would be found.
	const file = join(ROOT, 'nodes', name, `${name}.node.ts`);
	const classes = (await import(file)) as Readonly<Record<string, new () => INodeType>>;
	return new classes[name]!();
}

const BEGIN = '<!-- fields: written by npm run docs -->';
const END = '<!-- end of fields -->';

/**
 * The part of a page between the marks of its field tables.
 *
 * @throws Error when the page does not have both marks.
 */
export function fieldsOf(page: string): string {
	const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
	if (begin < 0 || end < begin) throw new Error(`A page needs "${BEGIN}" and "${END}"`);
	return page.slice(begin + BEGIN.length, end).trim();
}

/** The page with other field tables between its marks. */
export function withFields(page: string, tables: string): string {
	const old = page.slice(page.indexOf(BEGIN), page.indexOf(END));
	return page.replace(old, () => `${BEGIN}\n\n${tables}\n\n`);
}

import { VIDEO_MODELS } from '../nodes/client/video/models';
import { ownFieldTables, sharedFieldTable } from './fieldTables';
import { modelTable } from './modelTable';
import { loadNode, NODE_NAMES } from './nodePages';
import { stateDiagram } from './stateDiagram';
import { STATES, stateTable } from './stateTable';

/** A part of a page that `npm run docs` writes between two marks. */
export interface GeneratedPart {
	/** The file, from the root. */
	readonly page: string;
	/** What the part holds: the word in its marks. */
	readonly content: string;
	/** Builds the Markdown between the marks. */
	readonly build: () => Promise<string>;
}

const descriptions = async () =>
	(await Promise.all(NODE_NAMES.map(loadNode))).map(({ description }) => description);

/** All generated parts: the fields of the nodes, the video models, the states of a paid call and what becomes of each. */
export const GENERATED_PARTS: readonly GeneratedPart[] = [
	{
		page: 'docs/fields.md',
		content: 'fields',
		build: async () => ownFieldTables(await descriptions()),
	},
	{
		page: 'docs/fields.md',
		content: 'shared fields',
		build: async () => sharedFieldTable(await descriptions()),
	},
	{
		page: 'docs/fields.md',
		content: 'models',
		build: () => Promise.resolve(modelTable(VIDEO_MODELS)),
	},
	{
		page: 'docs/architecture.md',
		content: 'states',
		build: () => Promise.resolve(stateDiagram(STATES)),
	},
	{
		page: 'docs/paid-twice.md',
		content: 'what becomes of a row',
		build: () => Promise.resolve(stateTable()),
	},
];

/** The mark that begins a generated part. */
export const beginOf = (content: string) => `<!-- ${content}: written by npm run docs -->`;
/** The mark that ends a generated part. */
export const endOf = (content: string) => `<!-- end of ${content} -->`;

/**
 * Splits a page at the marks of a generated part.
 *
 * @throws Error when the page does not have both marks.
 */
export function splitPage(page: string, content: string) {
	const begin = page.indexOf(beginOf(content));
	const end = page.indexOf(endOf(content), begin);
	if (begin < 0 || end < 0) {
		throw new Error(`The page needs the marks "${beginOf(content)}" and "${endOf(content)}"`);
	}
	const start = begin + beginOf(content).length;
	return {
		before: page.slice(0, start),
		generated: page.slice(start, end).trim(),
		after: page.slice(end),
	};
}

/** Replaces what is between the marks of a generated part. */
export function replacePart(page: string, content: string, markdown: string): string {
	const { before, after } = splitPage(page, content);
	return `${before}\n\n${markdown}\n\n${after}`;
}

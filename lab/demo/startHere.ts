import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import { EXAMPLE_CREDENTIAL, readExampleFile } from '../n8n/readExample';
import type { Workflow } from '../n8n/workflow';
import { ROOT } from '../paths';

export const START_HERE = 'Start Here';

/** An example, as a row of the table in examples/README.md describes it. */
export interface ListedExample {
	readonly name: string;
	readonly file: string;
	/** For example `a click`. */
	readonly startsWith: string;
	readonly shows: string;
	readonly workflow: Workflow;
}

/** A row of the table: name, file, what it starts with, and what it shows. */
const ROW = /^\| \[(.+?)\]\((.+?\.json)\) +\| (.+?) +\| (.+?) +\|$/gm;

const OWN = 'n8n-nodes-agent-video.';

/** The notes that list the examples, and where they are. An example is in the first whose nodes it has. */
const GROUPS = [
	{
		title: 'Agents and assistants',
		types: /functionCallingAgent|superAssistant|langchain\.agent|mcpTrigger/,
		position: [560, 0],
		width: 420,
	},
	{ title: 'Videos', types: /createVideo|waitForVideo/, position: [1020, 0], width: 420 },
	{ title: 'Chats', types: /./, position: [0, 480], width: 500 },
] as const;

/** Size of the text in a note, in pixels. */
const TEXT = { heading: 60, line: 21, character: 7 } as const;
const GREEN = 4;

/** Reads all examples in the order of examples/README.md. */
export async function listExamples(): Promise<readonly ListedExample[]> {
	const readme = await readFile(join(ROOT, 'examples', 'README.md'), 'utf8');
	return await Promise.all(
		[...readme.matchAll(ROW)].map(async ([, name, file, startsWith, shows]) => ({
			name: name!,
			file: file!,
			startsWith: startsWith!,
			shows: shows!,
			workflow: await readExampleFile(file!),
		})),
	);
}

/** The note that a type of example belongs to. */
function groupOf({ workflow }: ListedExample): string {
	const types = workflow.nodes.map(({ type }) => type).join(' ');
	return GROUPS.find((group) => group.types.test(types))!.title;
}

const note = (
	name: string,
	[left, top]: [number, number],
	parameters: Readonly<Record<string, string | number>>,
): INode => ({
	id: name.toLowerCase().replaceAll(' ', '-'),
	name,
	type: 'n8n-nodes-base.stickyNote',
	typeVersion: 1,
	position: [left, top],
	parameters,
});

const step = (name: string, type: string, left: number, top: number, parameters: object = {}) => ({
	id: name.toLowerCase().replaceAll(' ', '-'),
	name,
	type,
	typeVersion: 1,
	position: [left, top] as [number, number],
	parameters: parameters as INode['parameters'],
	...(type.startsWith(OWN) && {
		credentials: { agentVideoApi: { id: '', name: EXAMPLE_CREDENTIAL } },
	}),
});

/**
 * The workflow that the demo opens with: a first video, and notes with links to all examples.
 *
 * @param ids IDs of the imported examples, by file name. The links are paths, so they stay valid at another port.
 */
export function startHere(
	examples: readonly ListedExample[],
	ids: Readonly<Record<string, string>>,
): Workflow {
	const welcome = note('Welcome', [0, 0], {
		content:
			'## Start here\n\n**Click Execute workflow** below: a video of a paper boat is created, and *Create Video* has its file 12 seconds later ' +
			'(double-click the node, then **Binary → View**).\n\nThe service is an emulator on this machine: nothing is paid, and its videos only show ' +
			'your words. The other notes lead to the examples; change them as you like.',
		width: 500,
		height: 220,
		color: GREEN,
	});
	const model = { __rl: true, mode: 'id', value: 'video-m1' };
	const nodes = [
		step('Start', 'n8n-nodes-base.manualTrigger', 0, 280),
		step('Create Video', `${OWN}createVideo`, 192, 280, {
			model,
			prompt: 'A paper boat on a calm lake at sunrise',
			waitUntilFinished: true,
		}),
	];
	const notes = GROUPS.map(({ title, position: [left, top], width }) => {
		const own = examples.filter(
			(example) => groupOf(example) === title && ids[example.file] !== undefined,
		);
		const rows = own.map(({ name, shows, startsWith }) =>
			Math.ceil(((name + shows + startsWith).length * TEXT.character) / (width - 60) + 0.5),
		);
		const links = own.map(
			({ name, file, shows, startsWith }) =>
				`- [**${name}**](/workflow/${ids[file]}): ${shows} (starts with ${startsWith})`,
		);
		return note(title, [left, top], {
			content: [`### ${title}`, '', ...links].join('\n'),
			width,
			height: TEXT.heading + TEXT.line * rows.reduce((sum, count) => sum + count, 0),
		});
	});
	return {
		name: START_HERE,
		nodes: [welcome, ...nodes, ...notes],
		connections: { Start: { main: [[{ node: 'Create Video', type: 'main', index: 0 }]] } },
		settings: { executionOrder: 'v1' },
	};
}

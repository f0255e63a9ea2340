import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import { ROOT } from '../../lab/paths';
import {
	EXAMPLE_CREDENTIAL,
	exampleFiles,
	readExampleFile,
	SMTP_CREDENTIAL,
} from '../../lab/n8n/readExample';
import type { Workflow } from '../../lab/n8n/workflow';
import { EXAMPLE_RUNS } from '../e2e/support/exampleRuns';

const NOTE = 'n8n-nodes-base.stickyNote';
const README = readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8');
/** Size of a node on n8n's canvas, with its name below. */
const NODE_SIZE = { width: 96, height: 150 };

interface Box {
	readonly name: string;
	readonly left: number;
	readonly top: number;
	readonly right: number;
	readonly bottom: number;
}

let files: readonly string[];
let examples: readonly Workflow[];

beforeAll(async () => {
	files = await exampleFiles();
	examples = await Promise.all(files.map(readExampleFile));
});

const isNote = ({ type }: INode) => type === NOTE;

function boxOf({ name, parameters, position: [left, top] }: INode): Box {
	const { width, height } = { ...NODE_SIZE, ...parameters };
	return { name, left, top, right: left + width, bottom: top + height };
}

/** The pairs of overlapping boxes. */
function overlaps(boxes: readonly Box[]): readonly string[] {
	return boxes.flatMap((a, index) =>
		boxes
			.slice(index + 1)
			.filter(
				(b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
			)
			.map((b) => `${a.name} and ${b.name}`),
	);
}

test('the end-to-end tests run every example', () => {
	expect(Object.keys(EXAMPLE_RUNS).sort()).toStrictEqual(files);
});

test('examples/README.md links to every example by its name', () => {
	for (const [index, { name }] of examples.entries()) {
		expect(README).toContain(`[${name}](${files[index]})`);
	}
});

test('identifiers are unique', () => {
	const nodes = examples.flatMap((example) => example.nodes);
	const ids = nodes.map(({ id }) => id);
	expect(new Set(ids).size).toBe(ids.length);
	const webhooks = nodes.flatMap(({ webhookId = [] }) => webhookId);
	expect(new Set(webhooks).size).toBe(webhooks.length);
});

test('the nodes use the credential name that n8n suggests first, without an ID', () => {
	for (const { type, name, credentials } of examples.flatMap(({ nodes }) => nodes)) {
		const wanted = type.startsWith('n8n-nodes-agent-video.')
			? { agentVideoApi: { id: '', name: EXAMPLE_CREDENTIAL } }
			: type === 'n8n-nodes-base.emailSend'
				? { smtp: { id: '', name: SMTP_CREDENTIAL } }
				: undefined;
		expect({ name, credentials }).toStrictEqual({ name, credentials: wanted });
	}
});

test('the first node is a green note that says what the workflow does and how to try it', () => {
	for (const { name, nodes } of examples) {
		const [first] = nodes;
		expect({ name, type: first!.type, color: first!.parameters['color'] }).toStrictEqual({
			name,
			type: NOTE,
			color: 4,
		});
		expect(first!.parameters['content']).toMatch(/^## .*\*\*Try it:\*\*/s);
	}
});

test('nodes and notes on the canvas do not overlap', () => {
	for (const { name, nodes } of examples) {
		const found = [
			...overlaps(nodes.filter(isNote).map(boxOf)),
			...overlaps(nodes.filter((node) => !isNote(node)).map(boxOf)),
		];
		expect({ name, found }).toStrictEqual({ name, found: [] });
	}
});

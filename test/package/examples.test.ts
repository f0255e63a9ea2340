import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import {
	BEARER_CREDENTIAL,
	EXAMPLE_CREDENTIAL,
	exampleFiles,
	readExampleFile,
	SMTP_CREDENTIAL,
} from '../../lab/n8n/readExample';
import type { ExportedWorkflow } from '../../lab/n8n/workflow';
import { EXAMPLE_RUNS } from '../e2e/support/exampleRuns';
const NOTE = 'n8n-nodes-base.stickyNote';
const README = readFileSync(join(ROOT, 'examples', 'README.md'), 'utf8');
let files: readonly string[];
let examples: readonly ExportedWorkflow[];

beforeAll(async () => {
	files = await exampleFiles();
	examples = await Promise.all(files.map(readExampleFile));
});

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
	const others: Readonly<Record<string, object>> = {
		'n8n-nodes-base.emailSend': { smtp: { id: '', name: SMTP_CREDENTIAL } },
		'@n8n/n8n-nodes-langchain.mcpTrigger': {
			httpBearerAuth: { id: '', name: BEARER_CREDENTIAL },
		},
	};
	for (const { type, name, credentials } of examples.flatMap(({ nodes }) => nodes)) {
		const wanted = type.startsWith('n8n-nodes-agent-video.')
			? { agentVideoApi: { id: '', name: EXAMPLE_CREDENTIAL } }
			: others[type];
		expect({ name, credentials }).toStrictEqual({ name, credentials: wanted });
	}
});

test('pinned data are items, whose fields expressions read', () => {
	for (const { name, pinData = {} } of examples)
		for (const item of Object.values(pinData).flat())
			expect({ name, fields: Object.keys(item) }).toStrictEqual({ name, fields: ['json'] });
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

test('the other notes are gray: on other colors the wires are hardly visible in a dark editor', () => {
	for (const { name, nodes } of examples) {
		const [, ...notes] = nodes.filter(({ type }) => type === NOTE);
		const colors = new Set(notes.map(({ parameters }) => parameters['color']));
		expect({ name, colors: [...colors] }).toStrictEqual({ name, colors: [7] });
	}
});

test('a field that a note names is in the workflow, or on the page of a node', () => {
	const pages = ['chat-completion', 'super-assistant', 'agent-with-tools', 'create-video'];
	const texts = [...pages, 'wait-for-video'].map((page) =>
		readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8'),
	);
	const unknown = examples.flatMap(({ name, nodes }) => {
		const notes = nodes.filter(({ type }) => type === NOTE);
		const others = nodes.filter(({ type }) => type !== NOTE);
		const workflow = JSON.stringify(others.map(({ parameters }) => parameters));
		const named = notes.flatMap(({ parameters }) => [
			...String(parameters['content']).matchAll(/`([a-z]+(?:[_.][a-z]+)*)`/g),
		]);
		return named
			.map(([, field]) => field!)
			.filter((field) => {
				const inWorkflow = new RegExp(`\\b${field.replaceAll('.', '\\.')}\\b`).test(
					workflow,
				);
				const [first] = field.split('.');
				return !inWorkflow && !texts.some((text) => text.includes(`\`${first}\``));
			})
			.map((field) => `${name}: ${field}`);
	});
	expect(unknown).toStrictEqual([]);
});

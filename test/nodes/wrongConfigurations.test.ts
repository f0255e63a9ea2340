/**
 * What an AI, or a person who writes JSON, gets wrong in a node: n8n validates nothing of community nodes, so the node says it,
 * before anything is sent.
 */
import type { IDataObject } from 'n8n-workflow';

import { exampleFiles, readExampleFile } from '../../lab/n8n/readExample';
import { checkNames } from '../../nodes/shared/run/names';
import { formOwners, readSaved, savedVersions } from '../../scripts/savedWorkflows';
import { NODE_TYPES, runNode } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

let server: ScriptedServer;

beforeEach(async () => {
	server = await startScriptedServer((response) => {
		json(response, 500, {});
	});
});
afterEach(async () => {
	await server.stop();
});

const NODES = {
	video: ['createVideo', { prompt: 'A lighthouse' }],
	chat: ['chatCompletion', { prompt: 'Hi' }],
	agent: ['functionCallingAgent', { prompt: 'Hi' }],
	assistant: ['superAssistant', { appCode: 'a', message: 'Hi' }],
	wait: ['waitForVideo', { taskId: 't-1' }],
} as const;

const URL = 'https://example.com/boat.jpg';
const SCHEMA = { responseFormat: 'schema' };
const TOOL = '[{ "type": "function", "function": { "name": "a" } }]';

/** A node, what is wrong in its parameters, and the name that the error tells in its place. */
const WRONG: readonly [keyof typeof NODES, IDataObject, string, string][] = [
	['video', { idempotencyKey: 'order-7' }, 'idempotencyKey', 'options.idempotencyKey'],
	['video', { limitPeriod: 'day' }, 'limitPeriod', 'options.limitPeriod'],
	['video', { maximumCost: 20 }, 'maximumCost', 'options.maximumCost'],
	['video', { dryRun: true }, 'dryRun', 'options.dryRun'],
	['video', { options: { maxVideos: 5 } }, 'options.maxVideos', 'options.maximumVideos'],
	['video', { options: { waitUntilFinished: true } }, 'options.wait', 'waitUntilFinished'],
	['video', { options: { batching: { concurrency: 2 } } }, 'options.batching', 'batchInterval'],
	['video', { options: { retries: 0, maxVideos: 5 } }, 'options.maxVideos', 'maximumVideos'],
	['video', { images: [URL] }, 'images', 'references'],
	['video', { options: { images: [URL] } }, 'options.images', 'references'],
	['video', { aspect_ratio: '9:16' }, 'aspect_ratio', 'aspectRatio'],
	['video', { references: [URL] }, 'references', 'file'],
	['video', { references: { image: [{ url: URL }] } }, 'references.image', 'references'],
	['video', { references: [{ url: URL }] }, 'references.url', 'references.file.url'],
	['video', { references: { file: [{ image: URL }] } }, 'entry 1', 'Enter a URL'],
	['video', { size: '4K' }, 'Size', '720P, 480P or 1080P'],
	['chat', { temperature: 0.2 }, 'temperature', 'options.temperature'],
	['chat', { tools: '[]' }, 'tools', 'options.tools'],
	['chat', { options: { systemMessage: 'Be kind' } }, 'options.sys', 'systemMessage'],
	['agent', { options: { tools: '[]' } }, 'options.tools', 'Write tools'],
	['agent', { options: { maximumRounds: 3 } }, 'options.maximumR', 'options.maxRounds'],
	['chat', { ...SCHEMA, fields: { field: [{ key: 'a' }] } }, 'without a name', 'Name the field'],
	['agent', { tools: {} }, 'Tools are missing', 'Add a tool'],
	['agent', { tools: { tool: [] } }, 'Tools are missing', 'connect a tool node'],
	['agent', { toolSource: 'json', toolsJson: '[]' }, 'Tools are missing', 'Chat Completion'],
	[
		'agent',
		{ toolSource: 'form', toolsJson: TOOL, tools: {} },
		'Tools are missing',
		'Add a tool',
	],
	['assistant', { options: { sessionId: 's-1' } }, 'options.sessionId', 'sessionId'],
	['wait', { maximumWait: 5 }, 'maximumWait', 'options.maximumWait'],
];

test.each(WRONG)('%s with %j: the error names %s, and %s', async (key, wrong, name, instead) => {
	const [node, usual] = NODES[key];
	const { error } = await runNode(node, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		parameters: { ...usual, ...wrong },
	});
	expect(error?.message).toContain(name);
	expect(error?.description).toMatch(new RegExp(instead));
	expect(server.requests).toHaveLength(0);
});

test('every name in the examples and in stored forms is one of the form', async () => {
	const examples = await Promise.all((await exampleFiles()).map(readExampleFile));
	const nodes = examples.flatMap(({ nodes: drawn }) => drawn);
	const own = nodes.filter(({ type }) => type.replace(/Tool$/, '') in NODE_TYPES);
	expect(own.length).toBeGreaterThan(20);
	for (const { type, parameters } of own) {
		const { properties } = NODE_TYPES[type.replace(/Tool$/, '')]!.description;
		expect(() => {
			checkNames(parameters, properties);
		}).not.toThrow();
	}
	const owners = await formOwners();
	const forms = savedVersions().flatMap((version) => readSaved(version).owners);
	for (const { name, forms: saved } of forms) {
		const { properties } = owners.find((owner) => owner.name === name)!;
		for (const { saved: parameters, defaults } of saved)
			expect(() => {
				checkNames({ ...parameters, ...defaults }, properties);
			}).not.toThrow();
	}
});

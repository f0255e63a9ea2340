import { NodeHelpers, type IDataObject, type INodeProperties } from 'n8n-workflow';

import { bodyOf, STOP } from '../support/chatReplies';
import { dataTables } from '../support/dataTables';
import {
	NODE_TYPES,
	packageNode,
	runNode,
	runWithoutWorkflow,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';

const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });

const [CHAT, CREATE, POLL] = ['/v1/chat/completions', '/v1/videos/generations', '/v1/videos/tasks'];
const CREATED = { task_id: 'task-1', status: 'queued', model: 'video-m1', created_at: null };

/** By path, what the service answers well. */
let answers: Record<string, (body: IDataObject) => object>;

const server = serverForEach((response, { path, body }) => {
	const answer = answers[path];
	if (answer === undefined) json(response, 503, { error: { message: 'Down' } });
	else json(response, 200, answer(body as IDataObject));
});

beforeEach(() => {
	const message = { content: 'Hello', reasoning_content: 'Long thoughts' };
	const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
	const more = { session_id: 's-1', trace_id: 't-1', suggested_questions: ['More?'] };
	answers = {
		[CHAT]: () => bodyOf(message, STOP, { usage, model: 'chat-m1', ...more }),
		[CREATE]: () => CREATED,
		[POLL]: ({ task_id }) => ({
			...{ task_id, status: 'completed', model: 'video-m1', enhanced_prompt: 'A long text' },
			video_url: `${server.url}/cdn/a.mp4`,
			thumbnail_url: `${server.url}/cdn/a.jpg`,
		}),
	};
});

/** Runs one of the nodes as an agent's tool, with the model's arguments and default settings. */
async function call(node: string, args: IDataObject, more: Partial<RunOptions> = {}) {
	return await runNode(`${node}Tool`, {
		...{ credential: credential(), items: [args] },
		...more,
	});
}

const bodies = () => server.requests.map(({ body }) => body as IDataObject);

test('Create Video takes prompt, aspect ratio and duration from the model', async () => {
	const args = { prompt: 'A lake', aspect_ratio: '9:16', duration: 7 };
	const model = { __rl: true, mode: 'list', value: 'video-m7' };
	const parameters = { model, waitUntilFinished: false };
	const { outputs } = await call('createVideo', args, { parameters });
	expect(bodies()).toStrictEqual([{ ...args, model: 'video-m7', duration: 8, watermark: false }]);
	expect(outputs[0]![0]!.json).toStrictEqual({
		task_id: 'task-1',
		status: 'queued',
		model: 'video-m1',
		adjustments: [{ field: 'duration', from: 7, to: 8, reason: expect.any(String) as string }],
	});
});

test('what the model of the agent leaves out is left to the video model', async () => {
	const parameters = { waitUntilFinished: false };
	await call('createVideo', { prompt: 'A lake' }, { parameters });
	expect(bodies()[0]).toMatchObject({ prompt: 'A lake', aspect_ratio: '16:9' });
	expect(bodies()[0]).not.toHaveProperty('duration');
});

test('Wait for Video returns the URL to the model, and neither file nor history', async () => {
	const { outputs } = await call(
		'waitForVideo',
		{ task_id: 'task-1' },
		{ parameters: { options: { downloadThumbnail: true } } },
	);
	expect(outputs[0]).toStrictEqual([
		{
			json: {
				task_id: 'task-1',
				status: 'completed',
				video_url: `${server.url}/cdn/a.mp4`,
				thumbnail_url: `${server.url}/cdn/a.jpg`,
			},
			pairedItem: { item: 0 },
		},
	]);
	expect(server.requests.map(({ path }) => path)).toStrictEqual(['/v1/videos/tasks']);
});

test.each([
	['FALSE', 1],
	[false, 1],
	['False ', 1],
	['0', 1],
	['TRUE', 2],
	[true, 2],
	[undefined, 2],
])('Wait for Video with wait %j polls %i times', async (wait, polls) => {
	const states = ['processing', 'completed'];
	answers[POLL] = ({ task_id }) => ({
		...{ task_id, status: states[server.requests.length - 1], video_url: 'https://x/y' },
	});
	const args = { task_id: 'task-1', ...(wait !== undefined && { wait }) };
	await withFakeTimers(async () => await call('waitForVideo', args));
	expect(server.requests).toHaveLength(polls);
});

test('for a failed video the model gets the reason', async () => {
	answers[POLL] = ({ task_id }) => ({
		...{ task_id, status: 'failed', model: 'video-m1', error_message: 'Too dark' },
	});
	const { outputs } = await call('waitForVideo', { task_id: 'task-1' });
	expect(outputs[0]![0]!.json).toStrictEqual({
		task_id: 'task-1',
		status: 'failed',
		reason: 'failed',
		error_message: 'Too dark',
	});
});

test.each([
	['chatCompletion', { prompt: 'Hi' }, {}, { output: 'Hello' }],
	['superAssistant', { message: 'Hi' }, { appCode: 'a' }, { output: 'Hello' }],
])('%s gives the model the answer only', async (node, args, parameters, expected) => {
	const { outputs } = await call(node, args, { parameters: { ...parameters, streaming: 'off' } });
	expect(bodies()).toMatchObject([{ messages: [{ role: 'user', content: 'Hi' }] }]);
	expect(outputs[0]![0]!.json).toStrictEqual(expected);
});

test.each([
	['createVideo', { prompt: ' ' }, /^Prompt is empty\. /],
	['createVideo', { prompt: 'A lake', duration: 7 }, /\. Use 4, 5, 8, 10 or 15\.$/],
	['createVideo', { prompt: 'A lake', aspect_ratio: '4:3' }, /\. Use 16:9, 1:1 or 9:16\.$/],
	['waitForVideo', { task_id: 't', wait: 'no' }, /Finished is no\. Enter true or false\.$/],
	['waitForVideo', { task_id: '' }, /^Task ID is empty\. Create Video outputs it as task_id/],
	['chatCompletion', { prompt: '' }, /^Prompt is empty\. Enter a text/],
])('%s tells the model in one message what is wrong and what to do', async (node, args, text) => {
	const { error } = await call(node, args);
	expect(error!.message).toMatch(text);
	// n8n shows the description in a streaming chat.
	expect(error!.description).toBe(error!.message);
	expect(server.requests).toHaveLength(0);
});

test('the model is told when the outcome of a creation is unknown', async () => {
	answers = {};
	const { error } = await call('createVideo', { prompt: 'A lake' });
	expect(error!.message).toMatch(/the task may have been created\..*First check whether/s);
	expect(server.requests).toHaveLength(1);
});

test.each(['chatCompletion', 'superAssistant'])(
	'%s returns no file that its model would read as text, and pay for',
	async (node) => {
		const url = 'data:image/png;base64,';
		const audio = 'data:audio/wav,AAAA';
		const content = `![x](${url}AAAA) and a sound`;
		answers[CHAT] = () => bodyOf({ content, audio, images: [{ b64_json: 'AAAA' }] });
		const ask = async (output: string) => {
			const parameters = { appCode: 'a', output };
			const { outputs } = await call(node, { prompt: 'Hi', message: 'Hi' }, { parameters });
			return outputs[0]![0]!.json;
		};
		const sound = { kind: 'audio', url: 'data:audio/wav,' };
		const media = [{ kind: 'image', url }, sound];
		const output = `![x](${url}) and a sound`;
		expect(await ask('simple')).toStrictEqual({ output, media });
		const message = { content: output, images: [{ b64_json: '' }] };
		expect(await ask('raw')).toMatchObject({ choices: [{ message }] });
	},
);

describe("n8n's own Agents, which run a node without a workflow and an execution,", () => {
	const NODES: [string, IDataObject, IDataObject, object][] = [
		['chatCompletion', { prompt: 'Hi' }, {}, { output: 'Hello' }],
		['superAssistant', { message: 'Hi' }, { appCode: 'a' }, { output: 'Hello' }],
		['createVideo', { prompt: 'A lake' }, {}, { status: 'completed' }],
		['createVideo', { prompt: 'A lake' }, { waitUntilFinished: false }, { status: 'queued' }],
		['waitForVideo', { task_id: 'task-1' }, {}, { status: 'completed' }],
	];
	/** Runs a node, with its prompt and other settings; of the MCP trigger with the workflow alone. */
	const run = async (
		node: string,
		items: readonly IDataObject[],
		parameters: IDataObject,
		...[more, ofTrigger]: [object?, Parameters<typeof runWithoutWorkflow>[2]?]
	) => {
		const options = { credential: credential(), items, parameters, ...more };
		return await runWithoutWorkflow(node, options, ofTrigger);
	};

	test.each(NODES)(
		'%s answers %j with the settings %j',
		async (node, args, parameters, expected) => {
			for (let time = 1; time <= 2; time += 1) {
				const [item] = await run(node, [args], parameters);
				expect(item!.json).toMatchObject(expected);
			}
		},
	);

	const counting = (maximumVideos: number) => ({
		...{ waitUntilFinished: false, prompt: '={{ $json.prompt }}' },
		options: { maximumVideos },
	});

	test('Create Video goes on with Maximum Videos, as n8n gives it no table', async () => {
		const executeWorkflow = () => Promise.reject(new Error('EntityNotFoundError'));
		const tables = { ...dataTables(), executeWorkflow };
		const [item] = await run('createVideo', [{ prompt: 'A lake' }], counting(5), { tables });
		expect(item!.json).toMatchObject({ task_id: 'task-1' });
	});

	test("each call by n8n's MCP trigger is an execution of its own, for Maximum Videos", async () => {
		let created = 0;
		answers[CREATE] = () => ({ task_id: `task-${++created}`, status: 'queued' });
		const tables = dataTables();
		const create = async (...prompts: readonly string[]) => {
			const items = prompts.map((prompt) => ({ prompt }));
			return await run('createVideo', items, counting(2), { tables }, { id: 'served' });
		};
		for (const prompt of ['a', 'b', 'c']) {
			const [item] = await create(prompt);
			expect(item!.json).toMatchObject({ task_id: `task-${created}` });
		}
		expect(tables.rows.map(({ status }) => status)).toStrictEqual(['open', 'open', 'open']);
		await expect(create('d', 'e', 'f')).rejects.toThrow('Maximum Videos is 2');
	});

	test.each([
		['chatCompletion', 'image', { prompt: 'Hi' }, 'Images'],
		['superAssistant', 'image', { appCode: 'a', message: 'Hi' }, 'Images'],
		['createVideo', 'file', { prompt: 'A lake' }, 'References'],
	])('%s says of a file for its tool that there is none', async (node, list, values, label) => {
		const files = { [list]: [{ source: 'binary', binaryProperty: 'data' }] };
		const parameters = { ...values, [label.toLowerCase()]: files };
		const called = run(node, [{}], parameters, {}, { id: 'served' });
		await expect(called).rejects.toThrow(
			`${label}: entry 1 has the name data, but the item has no such binary field. It has no binary data.`,
		);
	});

	test.each(NODES.slice(0, 4))(
		'%s sends once what is paid: %j',
		async (node, args, parameters) => {
			answers = {};
			const called = run(node, [args], parameters);
			await expect(called).rejects.toThrow('The service is temporarily unavailable');
			expect(server.requests).toHaveLength(1);
		},
	);
});

test('nodes that need connections of their own are not offered as tools', () => {
	const offered = Object.values(NODE_TYPES).filter(
		({ description }) => description.usableAsTool === true,
	);
	expect(offered.map(({ description }) => description.name).sort()).toStrictEqual([
		'chatCompletion',
		'createVideo',
		'superAssistant',
		'waitForVideo',
	]);
});

test.each(Object.entries(NODE_TYPES))(
	'%s: every field stands in the form once, as a node and as a tool, which shows what its model fills in',
	(_name, { description }) => {
		for (const name of [description.name, `${description.name}Tool`]) {
			const type = { ...description, name };
			const { properties } = type;
			const values = NodeHelpers.getNodeParameters(properties, {}, true, false, null, type)!;
			const namesOf = (isMeant: (property: INodeProperties) => boolean) =>
				properties.filter(isMeant).map((property) => property.name);
			const shown = namesOf((property) =>
				NodeHelpers.displayParameter(values, property, null, type),
			);
			expect(shown).toStrictEqual([...new Set(shown)]);
			const filled = namesOf((property) => String(property.default).includes('$fromAI'));
			if (name !== description.name && description.usableAsTool === true)
				expect(shown).toStrictEqual(expect.arrayContaining(filled));
		}
	},
);

test('no argument that it does not declare chooses the session of Super Assistant, also beside an Agent with Tools and in a Retry', async () => {
	const parameters = { appCode: 'a', message: 'Hi', session: 'id', sessionId: '={{ $json.id }}' };
	const tool = packageNode('Support', 'superAssistantTool', {
		parameters,
		onError: 'stopWorkflow',
	});
	const asked = { tool: 'Support', input: { id: 'customer-42' } };
	const nodes = [
		{ ...stubNode('Ai', (items) => items), parameters: asked },
		{ ...packageNode('Agent', 'functionCallingAgent', {}), disabled: true },
		tool,
		stubNode('Start', (items) => items),
	];
	const first = await runWorkflow(nodes, { Start: [['Ai']] }, 'Start', {
		...{ credential: credential(), tools: { Support: 'Ai, Agent' } },
	});
	const retried = await first.resume({ id: '2', token: 't', isRetry: true });
	const text = 'has an argument that this tool does not declare';
	const problem = expect.stringContaining(text) as string;
	expect([first.error?.message, retried.error?.message]).toStrictEqual([problem, problem]);
	expect(server.requests).toHaveLength(0);
});

import { randomUUID } from 'node:crypto';

import { Workflow, type IDataObject, type INodeType } from 'n8n-workflow';

import { fails, replyWith, STOP } from '../support/chatReplies';
import { NODE_TYPES, packageNode, runNode, type RunOptions } from '../support/engine';
import { json, scripted, type Script } from '../support/scriptedServer';

// What n8n shows of a node beside its output: the line below it, headings of its form, and its span in traces.

const model = (value: string) => ({ __rl: true, mode: 'id', value });
const image = { kind: 'image', url: 'https://example.com/a.png' };
const CHOSEN = '={{ $json.model }}';
const ELSEWHERE = "={{ $('My topics').item.json.model }}";
const WAITS = { waitUntilFinished: true };
const DRY = { options: { dryRun: true } };
const DEMO = { appCode: 'demo-assistant' };

const typeOf = (name: string) => NODE_TYPES[`n8n-nodes-agent-video.${name}`]!;

/** Evaluates an expression of a node's description for a node with these settings. */
function evaluate(
	type: INodeType,
	expression: string,
	parameters: IDataObject,
	variables: IDataObject = {},
) {
	const node = packageNode('Node', type.description.name, { parameters });
	const workflow = new Workflow({
		active: false,
		nodes: [node],
		connections: {},
		nodeTypes: {
			getByName: () => type,
			getByNameAndVersion: () => type,
			getKnownTypes: () => ({}),
		},
	});
	return workflow.expression.getSimpleParameterValue(
		workflow.getNode('Node')!,
		expression,
		'internal',
		variables,
	);
}

/** What the canvas shows below a node with these settings; as a tool n8n gives it a type of its own. */
test.each<[string, IDataObject, string]>([
	['createVideo', {}, 'Start a video with video-m1 from text'],
	['createVideo', { references: { file: [image] } }, 'Start a video with video-m1 from files'],
	['createVideo', DRY, 'Check a video with video-m1 from text'],
	['createVideo', { model: model('') }, 'Start a video with no model from text'],
	['createVideo', { model: model(CHOSEN) }, 'Start a video with $json.model from text'],
	['createVideo', { model: model('video-m2=my-video') }, 'Start a video with my-video from text'],
	['createVideo', WAITS, 'Make a video with video-m1 from text'],
	['createVideo', { ...WAITS, ...DRY }, 'Check a video with video-m1 from text'],
	['createVideoTool', WAITS, 'Make a video with video-m1 from text'],
	['waitForVideo', {}, 'wait and download'],
	['waitForVideo', { waitMode: 'suspend', download: false }, 'suspend'],
	['waitForVideo', { waitMode: 'once' }, 'ask once and download'],
	['waitForVideo', { tasks: 'ledger' }, 'collect and download'],
	['waitForVideoTool', {}, 'wait or ask once'],
	['waitForVideoTool', WAITS, 'wait'],
	['waitForVideoTool', { waitUntilFinished: false }, 'ask once'],
	['chatCompletion', {}, 'reply from default model'],
	['chatCompletion', { model: model('chat-m1') }, 'reply from chat-m1'],
	['chatCompletion', { model: model(CHOSEN) }, 'reply from $json.model'],
	['chatCompletion', { model: model(ELSEWHERE) }, 'reply from model'],
	['chatCompletion', { answeredBy: 'app' }, 'reply from the app'],
	[
		'chatCompletion',
		{ answeredBy: 'app', appCode: 'demo-app', responseFormat: 'json' },
		'JSON from demo-app',
	],
	[
		'chatCompletion',
		{ answeredBy: 'app', appCode: '={{ $json.app }}', model: model('chat-m1') },
		'reply from $json.app',
	],
	['chatCompletion', { appCode: 'stale', model: model('chat-m1') }, 'reply from chat-m1'],
	['agentVideoChatModel', { model: model('chat-m2') }, 'chat-m2'],
	['functionCallingAgent', { tools: {} }, 'default model'],
	[
		'functionCallingAgent',
		{ answeredBy: 'app', appCode: 'demo-app', tools: { tool: [{}] } },
		'1 tool, demo-app',
	],
	[
		'functionCallingAgent',
		{ model: model('chat-m1'), tools: { tool: [{}, {}] } },
		'2 tools, chat-m1',
	],
	['functionCallingAgent', { toolSource: 'json' }, 'tools, default model'],
	['superAssistant', {}, 'code in API key, chat session'],
	['superAssistant', { session: 'new' }, 'code in API key, new session'],
	['superAssistant', { ...DEMO, session: 'key' }, 'demo-assistant, session per key'],
	['superAssistant', { ...DEMO, session: 'id' }, 'demo-assistant, session by ID'],
])('the subtitle of %s says what the node does: row %#', (name, parameters, subtitle) => {
	const { description, ...type } = typeOf(name.replace(/Tool$/, ''));
	const shown = { ...type, description: { ...description, name } };
	expect(evaluate(shown, description.subtitle!, parameters)).toBe(subtitle);
});

const listed = (...names: string[]) => ({ parameter: names.map((name) => ({ name })) });

/** The heading of an entry of the list Tools; where it is empty, n8n shows `Tool 1`. */
test.each<[IDataObject, string]>([
	[{ name: 'get_weather', parameters: listed('city', 'unit') }, 'get_weather(city, unit)'],
	[{ name: 'now', define: 'fields', parameters: {} }, 'now()'],
	[
		{ name: 'find', define: 'schema', schema: '{"properties": {"name": {}, "tag": {}}}' },
		'find(name, tag)',
	],
	[{ name: 'find', define: 'example', example: '{"name": "Kite", "tag": 1}' }, 'find(name, tag)'],
	[{ name: 'find', define: 'schema', schema: '={{ $json.schema }}' }, 'find(…)'],
	[{ name: 'find', define: 'schema', schema: '{' }, 'find(…)'],
	[{ name: '', parameters: listed('city') }, ''],
])('the heading of a tool shows its parameters: row %#', (tool, heading) => {
	const type = typeOf('functionCallingAgent');
	const tools = type.description.properties.find(({ name }) => name === 'tools')!;
	const { itemTitle } = tools.typeOptions!.fixedCollection!;
	expect(evaluate(type, itemTitle!, {}, { $collection: { item: { value: tool } } })).toBe(
		heading,
	);
});

describe('the span of a node', () => {
	const server = scripted();
	const run = async (name: string, options: Partial<RunOptions>) =>
		await runNode(name, { credential: { baseUrl: server.url, apiKey: 'k' }, ...options });

	/** The attributes that n8n puts on the span of the node. */
	async function spanOf(name: string, parameters: object, items: number) {
		const result = await run(name, {
			parameters: { ...parameters },
			items: Array.from({ length: items }, () => ({ task_id: randomUUID() })),
		});
		const runs = result.run.data.resultData.runData['Tested'] ?? [];
		return runs.map(({ metadata }) => metadata?.tracing);
	}

	/** Answers with these models in order; none is an answer that is asked for again. */
	const answerBy =
		(...models: readonly (string | undefined)[]): Script =>
		(...request) => {
			const [, , index] = request;
			const model = models[index];
			const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
			const answer =
				model === undefined
					? fails(429, 'no', { 'retry-after': '0' })
					: replyWith({ content: 'Hi' }, STOP, { model, usage });
			answer(...request);
		};

	test('of a chat names its models and sums its tokens and retries', async () => {
		server.script = answerBy(undefined, 'm-1', 'm-2', 'm-1');
		const parameters = { prompt: 'Hi', streaming: 'off', options: { concurrency: 1 } };
		expect(await spanOf('chatCompletion', parameters, 3)).toEqual([
			{
				'gen_ai.usage.input_tokens': 21,
				'gen_ai.usage.output_tokens': 6,
				'gen_ai.response.model': 'm-1, m-2',
				'http.request.resend_count': 1,
			},
		]);
	});

	test('of a chain has the retries of its chat model, and nothing else', async () => {
		server.script = answerBy(undefined, 'm-1');
		const result = await run('agentVideoChatModel', {});
		const { runData, metadata: labels } = result.run.data.resultData;
		expect(runData['Chain']!.map(({ metadata }) => metadata?.tracing)).toEqual([
			{ 'http.request.resend_count': 1 },
		]);
		expect(labels).toBeUndefined();
	});

	test('of a creation of videos names its tasks and sums seconds and cost', async () => {
		server.script = (response, _request, index) => {
			json(response, 200, { task_id: `t-${index}`, status: 'queued', model: 'video-m1' });
		};
		const parameters = { prompt: 'A lake', options: { pricePerSecond: 0.5 } };
		expect(await spanOf('createVideo', parameters, 2)).toEqual([
			{
				'gen_ai.response.model': 'video-m1',
				'agent_video.task_ids': 't-0, t-1',
				'agent_video.video_seconds': 10,
				'agent_video.estimated_cost': 5,
			},
		]);
	});

	test('of a wait counts its tasks', async () => {
		server.script = (response, { body }) => {
			json(response, 200, { ...(body as object), status: 'failed', error_message: 'no' });
		};
		const parameters = { taskId: '={{ $json.task_id }}', options: { onFailed: 'output' } };
		expect(await spanOf('waitForVideo', parameters, 2)).toEqual([
			expect.objectContaining({ 'agent_video.tasks': 2 }),
		]);
	});
});

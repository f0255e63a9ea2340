// @seconds 20
import type { INode } from 'n8n-workflow';

import { failureOf, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { ChatMessage, ToolCall } from '../../nodes/client/chat/types';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { node, withSubNodes, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const PACKAGE = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

const TOKENS = { promptTokens: 11, completionTokens: 7, totalTokens: 18 };

/** What n8n's log says of the tokens of each call. */
const tokensOf = ({ data }: Execution) =>
	data.resultData.runData['Model']!.map(
		(run) => run.data!['ai_languageModel']![0]![0]!.json['tokenUsage'],
	);

interface ChatRequest {
	readonly messages: ChatMessage[];
	readonly tools?: { readonly function: { readonly name: string } }[];
	readonly stream: boolean;
	readonly [field: string]: unknown;
}

/** An image of one pixel. */
const PICTURE =
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let session: Session;
let scripted: ScriptedServer;
/** The model's reply to the messages so far: a text or tool calls. */
let model: (messages: readonly ChatMessage[]) => string | ToolCall[];
let requests: ChatRequest[];

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	scripted = await startScriptedServer((response, { body }) => {
		const request = body as ChatRequest;
		requests.push(request);
		const reply = model(request.messages);
		const isText = typeof reply === 'string';
		const finish_reason = isText ? 'stop' : 'tool_calls';
		// As some models do.
		if (!request.stream) {
			json(response, 400, { error: { message: 'This model only supports stream mode' } });
			return;
		}
		const deltas: object[] = isText
			? reply.split(/(?<= )/).map((content) => ({ content }))
			: [
					{ reasoning_content: 'I need a tool.' },
					{ tool_calls: reply.map((call, index) => ({ index, ...call })) },
				];
		const chunks = [
			...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
			{ choices: [{ index: 0, delta: {}, finish_reason, usage: USAGE }] },
		];
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
		response.end('data: [DONE]\n\n');
	});
	for (const [name, baseUrl] of [
		['Scripted', scripted.url],
		['Emulator', session.emulator.url],
	] as const) {
		await session.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	}
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await scripted.stop();
	await session.stop();
}, RUN_LIMIT_MS);

beforeEach(() => {
	requests = [];
	session.emulator.journal.clear();
});

const chatModel = (parameters: object = {}) =>
	node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { parameters, credential: 'Scripted' });

/** An AI Agent with the package's chat model, and Create Video and Chat Completion as its tools. */
const agent = (path: string, responseMode: string) =>
	withSubNodes(
		workflow(path, [
			node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
				parameters: { httpMethod: 'POST', path, responseMode },
				webhookId: path,
			}),
			node('Agent', `${LANGCHAIN}.agent`, 3.1, {
				parameters: {
					promptType: 'define',
					text: '={{ $json.body.question }}',
					options: {
						systemMessage: 'You make videos.',
						enableStreaming: true,
						forceToolCallOnFirstIteration: true,
					},
				},
			}),
		]),
		'Agent',
		[
			[
				chatModel({
					answeredBy: 'app',
					appCode: 'demo-app',
					model: { __rl: true, mode: 'id', value: 'chat-m1' },
					options: {
						temperature: 0.2,
						thinking: 'enabled',
						reasoningEffort: { __rl: true, mode: 'list', value: 'high' },
						extraBody: '{"seed": 3}',
					},
				}),
				'ai_languageModel',
			],
			[
				// Without any settings.
				node('Make video', `${PACKAGE}.createVideoTool`, 1, { credential: 'Emulator' }),
				'ai_tool',
			],
			[
				node('Ask expert', `${PACKAGE}.chatCompletionTool`, 1, {
					parameters: { answeredBy: 'app', appCode: 'demo-app' },
					credential: 'Emulator',
				}),
				'ai_tool',
			],
		],
	);

const call = (id: string, name: string, args: object): ToolCall => ({
	id,
	type: 'function',
	// With line breaks: the text must be sent back unchanged.
	function: { name, arguments: JSON.stringify(args, null, 1) },
});

const CALLS = [
	call('c1', 'Make_video', { prompt: 'A lighthouse at dawn', aspect_ratio: '9:16' }),
	call('c2', 'Ask_expert', { prompt: 'What is 6 times 7?' }),
];

const answers = (messages: readonly ChatMessage[]) =>
	messages.some(({ role }) => role === 'tool') ? 'Your video is on its way.' : CALLS;

describe('AI Agent with the chat model and two nodes of the package as tools', () => {
	const check = () => {
		expect(requests).toHaveLength(2);
		const [first, second] = requests as [ChatRequest, ChatRequest];
		expect(first).toMatchObject({
			app_code: 'demo-app',
			model: 'chat-m1',
			temperature: 0.2,
			thinking: { type: 'enabled' },
			reasoning_effort: 'high',
			seed: 3,
			tool_choice: 'required',
			messages: [
				{ role: 'system', content: 'You make videos.' },
				{ role: 'user', content: 'A lighthouse, please' },
			],
		});
		expect(first.tools!.map(({ function: { name } }) => name).sort()).toStrictEqual([
			'Ask_expert',
			'Make_video',
		]);
		expect(second['tool_choice']).toBeUndefined();
		expect(second.tools).toStrictEqual(first.tools);
		// Both calls with their reasoning unchanged, then one result for each.
		expect(second.messages[2]).toStrictEqual({
			role: 'assistant',
			content: null,
			reasoning_content: 'I need a tool.',
			tool_calls: CALLS,
		});
		const results = second.messages.slice(3);
		expect(results.map(({ role, tool_call_id: id }) => [role, id])).toStrictEqual([
			['tool', 'c1'],
			['tool', 'c2'],
		]);
		expect(results[0]!.content).toMatch(/task_id/);
		expect(results[1]!.content).toMatch(/42/);
		const { journal } = session.emulator;
		expect(journal.of('/v1/videos/generations').map(({ body }) => body)).toMatchObject([
			{ prompt: 'A lighthouse at dawn', aspect_ratio: '9:16' },
		]);
		expect(journal.of('/v1/chat/completions')).toHaveLength(1);
	};

	/** The answer of an agent that is published under this path. */
	async function answerOf(path: string): Promise<string> {
		const { client, n8n } = session;
		await client.activate(await client.importWorkflow(agent(path, 'lastNode')));
		const question = 'A lighthouse, please';
		const url = `${n8n.url}/webhook/${path}`;
		return (await postWebhook<{ output: string }>(url, { question })).data.output;
	}

	it(
		'calls tools and answers',
		async () => {
			model = answers;
			expect(await answerOf('agent')).toBe('Your video is on its way.');
			check();
		},
		RUN_LIMIT_MS,
	);

	it(
		'tells the model of calls that the agent cannot run, alone and beside others',
		async () => {
			const unknown = call('c0', 'no_such_tool', {});
			model = (messages) => {
				const results = messages.filter(({ role }) => role === 'tool');
				if (results.length === 0) return [unknown];
				return results.length === 1 ? [unknown, CALLS[1]!] : 'Done';
			};
			expect(await answerOf('agent-unknown')).toBe('Done');
			expect(requests).toHaveLength(3);
			const sent = requests[2]!.messages.filter(({ role }) => role === 'tool');
			expect(sent.map(({ tool_call_id: id }) => id)).toStrictEqual(['c0', 'c2']);
			expect(sent[0]!.content).toMatch(/Unknown tool \\"no_such_tool\\"/);
		},
		RUN_LIMIT_MS,
	);

	it(
		'streams the answer',
		async () => {
			model = answers;
			const path = 'agent-stream';
			const ref = await session.client.importWorkflow(agent(path, 'streaming'));
			await session.client.activate(ref);
			const lines = await streamWebhook(`${session.n8n.url}/webhook/${path}`, {
				question: 'A lighthouse, please',
			});
			expect(chatText(lines)).toContain('Your video is on its way.');
			expect(lines.filter(({ type }) => type === 'item').length).toBeGreaterThan(3);
			check();
			const execution = await session.client.lastExecution(ref);
			expect(tokensOf(execution)).toStrictEqual([TOKENS, TOKENS]);
			expect(JSON.stringify(execution)).not.toContain('demo-key');
		},
		RUN_LIMIT_MS,
	);
});

/** An item with a picture for an agent or a chain, which asks with these parameters. */
const withPicture = (name: string, asking: INode, model: INode) =>
	withSubNodes(
		workflow(name, [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Picture', 'n8n-nodes-base.code', 2, {
				parameters: {
					jsCode: `const binary = { photo: await this.helpers.prepareBinaryData(Buffer.from('${PICTURE}', 'base64'), 'cat.png', 'image/png') };
return [{ json: {}, binary }];`,
				},
			}),
			asking,
		]),
		asking.name,
		[[model, 'ai_languageModel']],
	);
const asking = (text: string, message?: object) =>
	message === undefined
		? node('Asks', `${LANGCHAIN}.agent`, 3.1, { parameters: { promptType: 'define', text } })
		: node('Asks', `${LANGCHAIN}.chainLlm`, 1.9, {
				parameters: {
					promptType: 'define',
					text,
					messages: {
						messageValues: [{ type: 'HumanMessagePromptTemplate', ...message }],
					},
				},
			});
const ALL_FILES = { source: 'binary', binaryProperty: '={{ Object.keys($binary) }}' };
const BINARY = { messageType: 'imageBinary', binaryImageDataKey: 'photo' };

it(
	'sends the image URLs of a Basic LLM Chain',
	async () => {
		model = () => 'A cat.';
		const { client } = session;
		const message = { messageType: 'imageUrl', imageUrl: 'https://cdn.example/cat.png' };
		const flow = withPicture('Chain with a URL', asking('What is it?', message), chatModel());
		const execution = await client.waitForExecution(
			await client.run(await client.importWorkflow(flow), 'Start'),
		);
		expect(failureOf(execution)).toBe('');
		expect(requests.map(({ messages }) => messages)).toMatchObject([
			[
				{
					role: 'user',
					content: [
						{ type: 'text', text: 'What is it?' },
						{ type: 'image_url', image_url: { url: 'https://cdn.example/cat.png' } },
					],
				},
			],
		]);
	},
	RUN_LIMIT_MS,
);

it.each([
	['AI Agent', asking('What is it?')],
	['Basic LLM Chain', asking('What is it?', BINARY)],
])(
	'rejects a picture without a URL of %s before it pays, and sends it by URL from Images',
	async (name, node) => {
		model = () => 'A cat.';
		const { client } = session;
		const run = async (parameters: object) => {
			const flow = withPicture(`${name} with a picture`, node, chatModel(parameters));
			const ref = await client.importWorkflow(flow);
			return await client.waitForExecution(await client.run(ref, 'Start'));
		};
		expect(failureOf(await run({}))).toMatch(/Image 1 \(image\/png\) has no URL/);
		expect(requests).toHaveLength(0);

		expect(failureOf(await run({ images: { image: [ALL_FILES] } }))).toBe('');
		const sent = JSON.stringify(requests[0]!.messages);
		expect(requests).toHaveLength(1);
		expect(sent).not.toContain('base64');
		expect(sent.match(/binary-data\/signed/g)).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'lets AI Agent run each call of a model that gives all calls the same id',
	async () => {
		model = (messages) => {
			const results = messages.filter(({ role }) => role === 'tool').length;
			if (results === 3) return 'Done';
			return [call('c1', 'Ask_expert', { prompt: `What is ${results} times 7?` })];
		};
		const { client, n8n } = session;
		await client.activate(await client.importWorkflow(agent('same-ids', 'lastNode')));
		const answer = await postWebhook<{ output: string }>(`${n8n.url}/webhook/same-ids`, {
			question: 'Ask three times',
		});
		expect(answer.data.output).toBe('Done');
		expect(requests).toHaveLength(4);
		expect(session.emulator.journal.of('/v1/chat/completions')).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

/**
 * What a streaming chat shows of a failure with *On Error: Continue*, which n8n itself does not tell: each node that
 * streams, before, in and after its call.
 */
import type { IDataObject } from 'n8n-workflow';

import { addTriggers, chatTrigger } from '../support/chatTrigger';
import { modelCallerNode, packageNode, runWorkflow, stubNode } from '../support/engine';
import { events, serverForEach } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

let content: string;
/** How the stream ends; not at all without a reason. */
let ending: string | undefined;

const server = serverForEach((response) => {
	const end = { choices: [{ index: 0, delta: {}, finish_reason: ending }] };
	events(response, [
		{ choices: [{ index: 0, delta: { content } }] },
		...(ending === undefined ? [] : [end, '[DONE]']),
	]);
});

beforeAll(addTriggers);
beforeEach(() => {
	ending = 'stop';
});

const TOOLS = { tool: [{ name: 'weather', description: 'Tells the weather' }] };
const NODES = ['chatCompletion', 'superAssistant', 'functionCallingAgent'];
const notice = (text: string) => `\n\n> ${text}. Tell the person who set this up.\n\n`;
const INVALID = notice('The reply is not valid JSON');

test.each<[string, IDataObject, reply: string, shown: string]>([
	['chatCompletion', { prompt: '' }, '', notice('Prompt is empty')],
	['superAssistant', { message: '' }, '', notice('Message is empty')],
	['functionCallingAgent', { prompt: '' }, '', notice('Prompt is empty')],
	['functionCallingAgent', { tools: TOOLS }, '', notice('Tool weather has no branch')],
	[
		'functionCallingAgent',
		{},
		'',
		notice('The model replied with neither an answer nor a tool call'),
	],
	...NODES.map((type): [string, IDataObject, string, string] => [
		type,
		{ responseFormat: 'json' },
		'A lake',
		`A lake${INVALID}`,
	]),
])('%s, %j, of the reply "%s": %j', async (type, parameters, reply, shown) => {
	content = reply;
	const { chunks, run } = await runWorkflow(
		[
			packageNode('Node', type, {
				parameters: { appCode: 'app', prompt: 'Hi', message: 'Hi', ...parameters },
				onError: 'continueRegularOutput',
			}),
			stubNode('Next', (items) => items),
		],
		{ Node: [['Next']] },
		'Node',
		{ credential: { baseUrl: server.url, apiKey: 'k' }, streaming: true },
	);
	expect(run.data.resultData.error).toBeUndefined();
	expect(chunks.map(({ content: text = '' }) => text).join('')).toBe(shown);
	const types = chunks.map(({ type: each }) => each);
	expect([types[0], types.at(-1)]).toStrictEqual(['begin', 'end']);
	expect(types.filter((each) => each !== 'item')).toHaveLength(2);
});

test.each(
	[...NODES, 'agentVideoChatModel'].flatMap((type) => [
		[type, 'length', 'It began', 'It began\n\n[The reply was cut off here]'] as const,
		// n8n appends its error to what the chat shows.
		[type, undefined, 'It began', 'It began […]\n\n'] as const,
		[type, undefined, 'It began\n\n', 'It began\n\n'] as const,
		[type, undefined, '', ''] as const,
	]),
)('%s shows how a reply ends with %s after %j: %j', async (type, reason, reply, shown) => {
	content = reply;
	ending = reason;
	const isModel = type === 'agentVideoChatModel';
	const parameters = { appCode: 'app', prompt: 'Hi', message: 'Hi', options: { retries: 0 } };
	const { chunks, run } = await runWorkflow(
		[
			chatTrigger('Chat'),
			packageNode(isModel ? 'Model' : 'Node', type, { parameters }),
			...(isModel ? [modelCallerNode('Node', { stream: true })] : []),
			stubNode('Next', (items) => items),
		],
		{ Chat: [['Node']], Node: [['Next']] },
		'Chat',
		{
			items: [{ chatInput: 'Hi', sessionId: 'v' }],
			credential: { baseUrl: server.url, apiKey: 'k' },
			streaming: true,
			...(isModel && { model: { name: 'Model', of: 'Node' } }),
		},
	);
	expect(run.data.resultData.error === undefined).toBe(reason !== undefined);
	const texts = chunks.filter(({ type: each }) => each === 'item').map((chunk) => chunk.content);
	expect(texts.join('')).toBe(shown);
});

test.each<[string, IDataObject, words: string, remedy: string]>([
	['chatCompletion', { prompt: '' }, 'Prompt is empty', 'Enter a text'],
	['superAssistant', { message: '' }, 'Message is empty', 'Enter a text'],
	['functionCallingAgent', { tools: TOOLS }, 'Tool weather has no branch', 'Connect its output'],
])(
	'%s, %j: the owner reads the remedy, and the chat does not',
	async (type, parameters, words, remedy) => {
		const { chunks, error } = await runWorkflow(
			[
				packageNode('Node', type, {
					parameters: { appCode: 'app', prompt: 'Hi', message: 'Hi', ...parameters },
				}),
			],
			{},
			'Node',
			{ credential: { baseUrl: server.url, apiKey: 'k' }, streaming: true },
		);
		const told = `${words}. Tell the person who set this up.`;
		expect(chunks.find((chunk) => chunk.type === 'error')?.content).toBe(told);
		expect(JSON.stringify(chunks)).not.toContain(remedy);
		expect(error!.message).toContain(`${words}. ${remedy}`);
		expect(error!.description).toBe(told);
	},
);

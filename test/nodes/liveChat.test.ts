/** What a chat that streams shows of a reply, of how it ends, and of a failure, which n8n itself does not tell with *On Error: Continue*. */
import type { IDataObject } from 'n8n-workflow';

import { delta } from '../support/chatPieces';
import { bodyOf, replyWith } from '../support/chatReplies';
import { addTriggers, chatTrigger } from '../support/chatTrigger';
import {
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { RECORDED } from '../support/recordedReplies';
import { events, json, scripted, type Script } from '../support/scriptedServer';

const CDN = 'https://cdn.example';

const server = scripted();
beforeAll(addTriggers);

/** A reply with this message, and the reason why it ends; without one the stream breaks. */
const replies = (message: object, finish_reason: string | null = 'stop'): Script =>
	finish_reason !== null
		? replyWith(message, { finish_reason })
		: (response) => {
				events(response, [delta(message)]);
			};

const NODES = ['chatCompletion', 'superAssistant', 'functionCallingAgent'];
const HI = { appCode: 'app', prompt: 'Hi', message: 'Hi' };
const credential = () => ({ baseUrl: server.url, apiKey: 'k' });

async function chat(type: string, parameters: IDataObject = {}, more: Partial<RunOptions> = {}) {
	return await runNode(type, {
		credential: credential(),
		parameters: { ...HI, ...parameters },
		streaming: true,
		...more,
	});
}

const textOf = ({ chunks }: RunResult) =>
	chunks.flatMap(({ type, content = '' }) => (type === 'item' ? content : [])).join('');

const TOOLS = { tool: [{ name: 'weather', description: 'Tells the weather' }] };
const notice = (text: string, remedy = 'Tell the person who set this up') =>
	`\n\n> ${text}. ${remedy}.\n\n`;
const NOTHING = notice('The model replied with neither an answer nor a tool call');
const NO_JSON = `A lake${notice('The reply is not valid JSON')}`;
const REFUSED = notice('The model refused to answer: I cannot', 'Rephrase your message');

/** Before, in and after the call. */
test.each<[string, IDataObject, reply: string | object, shown: string]>([
	['chatCompletion', { prompt: '' }, '', notice('Prompt is empty')],
	['superAssistant', { message: '' }, '', notice('Message is empty')],
	['functionCallingAgent', { prompt: '' }, '', notice('Prompt is empty')],
	['functionCallingAgent', { tools: TOOLS }, '', notice('Tool weather has no branch')],
	['functionCallingAgent', {}, '', NOTHING],
	...NODES.flatMap((type): [string, IDataObject, string | object, string][] => [
		[type, { responseFormat: 'json' }, 'A lake', NO_JSON],
		[type, {}, { refusal: 'I cannot' }, REFUSED],
	]),
])(
	'%s, %j, of the reply %j with On Error: Continue: %j',
	async (type, parameters, reply, shown) => {
		server.script = replies(typeof reply === 'string' ? { content: reply } : reply);
		const result = await chat(type, parameters, { onError: 'continueRegularOutput' });
		expect(result.error).toBeUndefined();
		expect(textOf(result)).toBe(shown);
		const types = result.chunks.map((each) => each.type);
		expect([types[0], types.at(-1)]).toStrictEqual(['begin', 'end']);
		expect(types.filter((each) => each !== 'item')).toHaveLength(2);
	},
);

test.each([
	['each fails', 3, 3, notice('The service is temporarily unavailable', 'Try again in a minute')],
	['the last one succeeds', 2, 3, 'A lake'],
])(
	'of the tries by n8n, of which %s, a chat shows the last one',
	async (_which, down, tries, shown) => {
		const answer = replies({ content: 'A lake' });
		server.script = (response, request, index) => {
			if (index >= down) answer(response, request, index);
			else json(response, 503, { error: { message: 'Down' } });
		};
		const more = { onError: 'continueRegularOutput', retryOnFail: true } as const;
		const result = await chat('chatCompletion', { options: { retries: 0 } }, more);
		expect(server.requests).toHaveLength(tries);
		expect(textOf(result)).toBe(shown);
	},
);

test.each<[string, IDataObject, words: string, remedy: string]>([
	['chatCompletion', { prompt: '' }, 'Prompt is empty', 'Enter a text'],
	['superAssistant', { message: '' }, 'Message is empty', 'Enter a text'],
	['functionCallingAgent', { tools: TOOLS }, 'Tool weather has no branch', 'Connect its output'],
	['chatCompletionTool', { prompt: '' }, 'Prompt is empty', 'Enter a text'],
])(
	'%s, %j: the owner reads the remedy, and the chat does not',
	async (type, parameters, words, remedy) => {
		const { chunks, error } = await chat(type, parameters);
		const told = `${words}. Tell the person who set this up.`;
		expect(chunks.find((each) => each.type === 'error')?.content).toBe(told);
		expect(JSON.stringify(chunks)).not.toContain(remedy);
		expect(error!.message).toContain(`${words}. ${remedy}`);
		expect(error!.description).toBe(told);
		const inEditor = await chat(type, parameters, { inEditor: true });
		expect(inEditor.error!.description).toContain(remedy);
	},
);

test.each(
	[...NODES, 'agentVideoChatModel'].flatMap((type) => [
		[type, 'length', 'It began', 'It began\n\n[The reply was cut off here]'] as const,
		// n8n appends its error to what the chat shows.
		[type, null, 'It began', 'It began […]\n\n'] as const,
		[type, null, 'It began\n\n', 'It began\n\n'] as const,
		[type, null, '', ''] as const,
	]),
)('%s shows how a reply ends with %s after %j: %j', async (type, reason, content, shown) => {
	server.script = replies({ content }, reason);
	const isModel = type === 'agentVideoChatModel';
	const parameters = { ...HI, options: { retries: 0 } };
	const result = await runWorkflow(
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
			credential: credential(),
			streaming: true,
			...(isModel && { model: { name: 'Model', of: 'Node' } }),
		},
	);
	expect(result.error === undefined).toBe(reason !== null);
	expect(textOf(result)).toBe(shown);
});

const picture = (url: string) => ({ type: 'image_url', image_url: { url } });
const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
const RUN = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c1', content: 'Rain' }] };

describe.each(NODES)('%s', (node) => {
	test.each<[string, object, string]>([
		['links', { content: ['<think>Hm</think>', picture(`${CDN}/77`)] }, `${CDN}/77`],
		['work', RUN, 'Done without an answer: look'],
		[
			'links, and no image of another host',
			{ content: [picture(`![a](${CDN}/7)`)] },
			`[a](${CDN}/7)`,
		],
		[
			'file without a link',
			{ images: ['data:image/png;base64,AAAA'] },
			'The reply is a file without a link',
		],
		['text, and no links', { content: ['A lake', picture(`${CDN}/77`)] }, 'A lake'],
	])('shows of a reply its %s', async (_name, message, shown) => {
		server.script = replies(message);
		const result = await chat(node, { output: 'detailed' });
		expect(result.status).toBe('success');
		expect(textOf(result).replace(`${server.url}/`, '').trim()).toBe(shown);
	});

	test('shows the answer, and its reasoning, when Streaming says so', async () => {
		server.script = replies({ reasoning_content: 'Hm.', content: 'Hello' });
		const shown = async (streaming: string) => textOf(await chat(node, { streaming }));
		expect(await shown('off')).toBe('');
		expect(await shown('auto')).toBe('Hello');
		expect(await shown('reasoning')).toBe('Hm.\n\nHello');
	});
});

test.each(
	RECORDED.filter(({ file }) => file.startsWith('thought-in-tags-think')).flatMap((each) =>
		(['auto', 'reasoning'] as const).map((streaming) => ({ ...each, streaming })),
	),
)('of $file a thought is shown only if it was asked for: $streaming', async (recorded) => {
	const { type, text, streaming } = recorded;
	server.script = (response) => response.writeHead(200, { 'content-type': type }).end(text);
	const shown = textOf(await chat('chatCompletion', { streaming }));
	expect(shown.trim().replace(/\s+/g, ' ')).toBe(
		streaming === 'auto' ? 'Sunny' : 'I think so Sunny',
	);
});

test('of a body with null for its reasoning none is shown', async () => {
	server.script = (response) => {
		json(response, 200, bodyOf({ content: 'A lake', reasoning_content: null }));
	};
	const result = await chat('chatCompletion', { streaming: 'reasoning' });
	expect(result.outputs[0]![0]!.json).not.toHaveProperty('reasoning_content');
	expect(textOf(result)).toBe('A lake');
});

describe.each(['chatCompletion', 'functionCallingAgent'])('%s', (name) => {
	const HALF = { content: 'Half' };
	const retried = async () => {
		const options = { retryOutcomeUnknown: true };
		return textOf(await withFakeTimers(async () => await chat(name, { options })));
	};

	test('does not retry after text was shown', async () => {
		server.script = replies(HALF, null);
		expect(await retried()).toBe('Half […]\n\n');
		expect(server.requests).toHaveLength(1);
	});

	test('retries before any text was shown', async () => {
		server.script = (response, request, index) => {
			if (index === 0) response.destroy();
			else replies(HALF)(response, request, index);
		};
		expect(await retried()).toBe('Half');
		expect(server.requests).toHaveLength(2);
	});
});

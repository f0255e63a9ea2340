/** The memory of Chat Completion, Agent with Tools and Super Assistant: turns and sessions in n8n's data tables. */
import type { IDataObject, INode } from 'n8n-workflow';

import type { ChatMessage, ToolCall } from '../../nodes/client/chat/types';
import { MEMORY_TABLE } from '../../nodes/shared/chat/memory';
import { fails, replyWith } from '../support/chatReplies';
import { addTriggers, chatTrigger } from '../support/chatTrigger';
import { dataTables, held, type DataTables } from '../support/dataTables';
import { maps, runDrawing, type Drawing } from '../support/drawnAgent';
import {
	canceler,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { gate } from '../support/gate';
import { serverForEach } from '../support/scriptedServer';

const user = (content: string) => ({ role: 'user', content });
const says = (content: string) => ({ role: 'assistant', content });
const call = (id: string, args: object = {}): ToolCall => ({
	id,
	type: 'function',
	function: { name: 'weather', arguments: JSON.stringify(args) },
});
const roundOf = (asked: ToolCall, content: string) => [
	{ role: 'assistant', content: null, tool_calls: [asked] },
	{ role: 'tool', tool_call_id: asked.id, content },
];
/** What a workflow has of a tool call alone. */
const TOOL_RESULT = { input: 'json', messagesJson: roundOf(call('c1'), '20') };

/** The scripted reply to the messages: a text, tool calls, a message that is cut off, or undefined for status 503. */
type Model = (messages: readonly ChatMessage[]) => string | ToolCall[] | IDataObject | undefined;

let tables: DataTables;
let model: Model;

beforeAll(addTriggers);

const server = serverForEach((...request) => {
	const [, { body }, index] = request;
	const { messages, session_id = `s-${index}` } = body as {
		readonly messages: ChatMessage[];
		readonly session_id?: string;
	};
	const said = model(messages);
	const message =
		typeof said === 'string'
			? { content: said }
			: { content: null, ...(Array.isArray(said) ? { tool_calls: said } : said) };
	const ending = 'tool_calls' in message ? 'tool_calls' : 'length';
	const finish_reason = typeof said === 'string' ? 'stop' : ending;
	const answer =
		said === undefined
			? fails(503, 'down')
			: replyWith(message, { finish_reason }, { session_id });
	answer(...request);
});

const lastText = (messages: readonly ChatMessage[]) => {
	const { content } = messages.at(-1)!;
	return typeof content === 'string' ? content : JSON.stringify(content);
};

beforeEach(() => {
	tables = dataTables();
	model = (messages) => `Re: ${lastText(messages)}`;
});

/** The service is down when it is asked this for the first time. */
function failsOnce(text: string): void {
	let failures = 1;
	model = (messages) =>
		lastText(messages) === text && failures-- > 0 ? undefined : `Re: ${lastText(messages)}`;
}

const [PNG, BYTES] = ['data:image/png;base64,', 'A'.repeat(2e5)];
/** What services put into a message beside the answer: not every one takes it back. */
const MORE: IDataObject = {
	reasoning: 'Hm',
	reasoning_content: 'Hm',
	reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's' }],
	audio: { id: 'a', data: 'AAAA', transcript: 'Yes' },
	annotations: [],
	refusal: '',
	images: [{ type: 'image_url', image_url: { url: `${PNG}${BYTES}` } }],
	videos: [],
};
const FILE = { images: ['https://cdn.example/1.png'] };
const MARK = '\n\n[The reply was cut off here]';

const sent = () =>
	server.requests.map(({ body }) => (body as { messages: ChatMessage[] }).messages);
const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });
const NO_RETRIES = { options: { retries: 0 } };
const sessions = () => server.requests.map(({ body }) => (body as IDataObject)['session_id']);

async function chat(text: string, more: Partial<RunOptions> = {}, sessionId = 'chat-1') {
	return await runNode('chatCompletion', {
		credential: credential(),
		items: [{ chatInput: text, sessionId }],
		tables,
		...more,
		parameters: { memory: 'chat', streaming: 'off', ...more.parameters },
	});
}
/** The remembered messages of each turn. */
const turns = () => tables.rows.map(({ turn }) => JSON.parse(String(turn)) as ChatMessage[]);
const outputsOf = ({ outputs }: Awaited<ReturnType<typeof chat>>) =>
	outputs[0]!.map(({ json: { output } }) => output);

describe('Chat Completion', () => {
	test('sends no memory and writes no table by default', async () => {
		await chat('one', { parameters: { memory: 'none' } });
		await chat('two', { parameters: { memory: 'none' } });
		expect(sent()[1]).toStrictEqual([user('two')]);
		expect(tables.calls).toBe(0);
	});

	test.each([
		['streamed', { streaming: 'auto' }],
		['in one piece', { streaming: 'off' }],
	])('sends the earlier messages and replies of the chat, %s', async (_name, parameters) => {
		for (const text of ['one', 'two', 'three']) await chat(text, { parameters });
		expect(sent()[2]).toStrictEqual([
			user('one'),
			says('Re: one'),
			user('two'),
			says('Re: two'),
			user('three'),
		]);
		expect(turns()).toStrictEqual(
			['one', 'two', 'three'].map((text) => [user(text), says(`Re: ${text}`)]),
		);
		expect(tables.rows[0]).toMatchObject({
			session_key: 'chat test chat-1',
			node_id: 'Tested',
		});
	});

	test('keeps chats, accounts and nodes apart', async () => {
		await chat('one');
		await chat('two', {}, 'chat-2');
		await chat('three', { credential: { ...credential(), apiKey: 'other' } });
		const other = packageNode('Other', 'chatCompletion', {
			parameters: { memory: 'key', memoryKey: 'chat-1', prompt: 'four' },
		});
		await runWorkflow([other], {}, 'Other', { credential: credential(), tables });
		expect(sent().map(({ length }) => length)).toStrictEqual([1, 1, 1, 1]);
		expect(tables.rows).toHaveLength(4);
	});

	test('by key: the value of the expression is the key; a chat of this name is another conversation', async () => {
		const parameters = { memory: 'key', memoryKey: '={{ $json.customer }}' };
		await chat('one', { parameters, items: [{ chatInput: 'one', customer: 42 }] });
		await chat('two', { parameters, items: [{ chatInput: 'two', customer: 42 }] });
		await chat('three', {}, '42');
		expect(sent().map(({ length }) => length)).toStrictEqual([1, 3, 1]);
	});

	test('of a list of messages the last question is remembered', async () => {
		const parameters = (text: string) => ({
			input: 'json',
			messagesJson: [
				{ role: 'system', content: 'Be brief' },
				user('x'),
				says('y'),
				user(text),
			],
		});
		await chat('', { parameters: parameters('one') });
		await chat('', { parameters: parameters('two') });
		expect(sent()[1]!.slice(0, 3)).toStrictEqual([
			{ role: 'system', content: 'Be brief' },
			user('one'),
			says('Re: one'),
		]);
		expect(sent()[1]).toHaveLength(6);
	});

	test('a turn with tool calls is remembered as a whole when it is answered', async () => {
		model = (messages) => (messages.at(-1)!.role === 'tool' ? 'Sunny' : [call('c1')]);
		const round = roundOf(call('c1'), '20');
		const ask = async (...messages: object[]) =>
			await chat('', { parameters: { input: 'json', messagesJson: messages } });
		await ask(user('Weather?'));
		expect(tables.rows).toHaveLength(0);
		await ask(user('Weather?'), ...round);
		await ask(user('Sure?'));
		expect(sent()[2]).toStrictEqual([user('Weather?'), ...round, says('Sunny'), user('Sure?')]);
	});

	test('items of one chat run one after another, and the second remembers the first', async () => {
		const items = ['one', 'two', 'three'].map((chatInput) => ({
			chatInput,
			sessionId: 'same',
		}));
		await chat('', { items });
		expect(sent().map((messages) => messages.length)).toStrictEqual([1, 3, 5]);
	});

	test('messages of one chat at the same moment wait for each other in one process', async () => {
		await Promise.all(['a', 'b', 'c', 'd'].map(async (text) => await chat(text)));
		expect(sent().map(({ length }) => length)).toStrictEqual([1, 3, 5, 7]);
		expect(turns()).toHaveLength(4);
	});

	test('a message that was stopped as it waited for the one before it is not sent', async () => {
		const [begun, saving] = [gate(), gate()];
		const slow = held(tables, (operations) =>
			operations.includes('insert') ? saving.passed : undefined,
		);
		const first = chat('one', { tables: slow });
		const { onStart, cancel } = canceler();
		const second = chat('two', {
			parameters: { streaming: 'auto' },
			streaming: true,
			onChunk: begun.open,
			onStart,
		});
		await begun.passed;
		await new Promise(setImmediate);
		cancel();
		saving.open();
		await first;
		expect((await second).status).toBe('canceled');
		await chat('three');
		expect(sent().map((messages) => messages.at(-1)!.content)).toStrictEqual(['one', 'three']);
	});

	test('a turn that another process writes in the meantime is remembered, too', async () => {
		await chat('one');
		const turn = JSON.stringify([user('theirs'), says('Re: theirs')]);
		const theirs = { ...tables.rows[0]!, turn };
		model = (messages) => {
			if (lastText(messages) === 'two') tables.insert(MEMORY_TABLE, theirs);
			return `Re: ${lastText(messages)}`;
		};
		await chat('two');
		await chat('three');
		const asked = sent()[2]!.filter(({ role }) => role === 'user');
		expect(asked).toStrictEqual(['one', 'theirs', 'two', 'three'].map(user));
	});

	test('a turn is there once although the connection to the database was lost as it was saved', async () => {
		let losses = 1;
		tables.failsLate = (operation) =>
			operation === 'insert' && losses-- > 0
				? 'Connection terminated unexpectedly'
				: undefined;
		await chat('one');
		expect(losses).toBe(0);
		expect(turns()).toStrictEqual([[user('one'), says('Re: one')]]);
	});

	test('turns of chats of the workflow go after 90 days, and no other row', async () => {
		await chat('one');
		const aged = ([session_key, days]: readonly [string, number]) => ({
			...tables.rows[0]!,
			session_key,
			saved_at: new Date(Date.now() - days * 86_400_000).toISOString(),
		});
		const kept = [
			['chat test here', 89.9],
			['key customer', 900],
			['chat other 0', 91],
		] as const;
		tables.insert(MEMORY_TABLE, ...kept.map(aged), aged(['chat test gone', 90.1]));
		await chat('Hi', {}, 'visitor');
		expect(tables.rows.map((row) => row['session_key'])).toStrictEqual([
			'chat test chat-1',
			...kept.map(([key]) => key),
			'chat test visitor',
		]);
	});

	test('keeps no more than the limits', async () => {
		const parameters = { options: { memoryMessages: 4 } };
		const texts = ['1', '2', '3', '4', '5', '6', '7'];
		for (const text of texts) await chat(text, { parameters });
		const known = sent()[6]!.map(({ content }) => content);
		expect(known).toStrictEqual(['5', 'Re: 5', '6', 'Re: 6', '7']);
		// As many turns as messages, and the new one.
		expect(turns().map(([asked]) => asked!.content)).toStrictEqual(texts.slice(-5));
	});

	test('a turn that is longer than the limits is not remembered, and a hint says so', async () => {
		await chat('one');
		const result = await chat('x'.repeat(100_000));
		expect(result.hints).toStrictEqual([
			expect.stringMatching(/^The question and its reply exceed the limits/),
		]);
		await chat('three');
		expect(sent()[2]).toStrictEqual([user('one'), says('Re: one'), user('three')]);
	});

	test('public images are remembered', async () => {
		const images = { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] };
		await chat('Look', { parameters: { images } });
		await chat('two');
		expect(JSON.stringify(sent()[1]![0])).toContain('http://127.0.0.1/a.png');
	});

	test.each<[string, IDataObject, IDataObject, IDataObject]>([
		['its text', { streaming: 'auto' }, { ...MORE, content: 'Yes' }, says(`Yes${MARK}`)],
		['its text, in one piece', {}, { ...MORE, content: 'Yes' }, says(`Yes${MARK}`)],
		['no data of a file', {}, { content: `![x](${PNG}${BYTES})` }, says(`![x](${PNG})${MARK}`)],
		['no thought', {}, { content: '<think>Hm</think>\nYes' }, says(`Yes${MARK}`)],
		['its file', {}, FILE, { ...says(`[reply without text]${MARK}`), ...FILE }],
	])('of a reply that is cut off is remembered %s', async (_name, parameters, reply, kept) => {
		model = () => reply;
		await chat('one', { parameters });
		expect(turns()).toStrictEqual([[user('one'), kept]]);
	});

	test('what the workflow adds to the request for JSON is not remembered', async () => {
		model = () => '{"a":1}';
		const parameters = { responseFormat: 'json' };
		await chat('one', { parameters });
		await chat('two', { parameters });
		expect(sent()[1]).toStrictEqual([
			user('one'),
			says('{"a":1}'),
			{ role: 'user', content: expect.stringMatching(/^two\n/) as string },
		]);
	});

	test('a memory that cannot be read is an error before anything is paid', async () => {
		tables.disabled = true;
		const { error } = await chat('Hi');
		expect(error!.message).toMatch(/^Memory cannot be used: .*It needs n8n 2/);
		expect(server.requests).toHaveLength(0);
	});

	test.each([
		['stopWorkflow', 'two', ['one', 'two', 'three']],
		// What was asked again is the last turn.
		['continueRegularOutput', 'one', ['two', 'three', 'one']],
	] as const)(
		'with Retry On Fail what is remembered is not asked for again, and no turn is there twice: %s',
		async (onError, word, texts) => {
			failsOnce(word);
			const result = await chat('', {
				items: ['one', 'two', 'three'].map((text) => ({ chatInput: text, sessionId: 'x' })),
				retryOnFail: true,
				onError,
				parameters: NO_RETRIES,
			});
			expect(outputsOf(result)).toStrictEqual(['Re: one', 'Re: two', 'Re: three']);
			expect(turns()).toStrictEqual(texts.map((text) => [user(text), says(`Re: ${text}`)]));
			expect(server.requests).toHaveLength(4);
		},
	);

	test.each([
		['of one conversation', ['x', 'x', 'x', 'x']],
		['of several conversations', ['x', 'y', 'x', 'z']],
	])('in a Retry all items %s are asked again after a change', async (_whose, keys) => {
		const words = ['one', 'two', 'three', 'four'];
		const items = words.map((chatInput, at) => ({ chatInput, sessionId: keys[at]! }));
		const failing = ['three', 'three', 'four'];
		model = (messages) => {
			const text = String(messages.at(-1)!.content);
			if (text.startsWith(`${failing[0]} `)) return void failing.shift();
			return `Re: ${text}`;
		};
		const parametersOf = (word: string) => ({
			memory: 'key',
			memoryKey: '={{ $json.sessionId }}',
			prompt: `={{ $json.chatInput }} ${word} at {{ $now.toMillis() }}`,
			streaming: 'off',
			options: { retries: 0, concurrency: 1 },
		});
		const execution = { id: '11', token: 't' };
		const old = { items, execution, parameters: parametersOf('old') };
		const changed = (node: INode): INode => ({ ...node, parameters: parametersOf('new') });
		const retry = { ...execution, id: '12', isRetry: true };
		const withoutTime = (text: unknown) => String(text).replace(/ at \d+$/, '');
		const asked = () => sent().map((messages) => withoutTime(messages.at(-1)!.content));

		const first = await chat('', old);
		const second = await first.resume(retry);
		expect(asked()).toStrictEqual(['one old', 'two old', 'three old', 'three old']);
		tables.disabled = true;
		const none = await second.resume(retry, changed);
		expect(none.error!.message).toMatch(/^Memory cannot be used: /);
		tables.disabled = false;
		const third = await none.resume(retry, changed);
		expect(asked().slice(4)).toStrictEqual(['one new', 'two new', 'three new', 'four new']);
		const fourth = await third.resume(retry, changed);
		expect(asked().slice(8)).toStrictEqual(['four new']);
		const outputs = fourth.outputs[0]!.map(({ json: { output } }) => withoutTime(output));
		expect(outputs).toStrictEqual(words.map((word) => `Re: ${word} new`));
		const remembered = turns().map(([question]) => withoutTime(question!.content));
		expect(remembered).toStrictEqual(words.map((word) => `${word} new`));
		const before = sent()[6]!
			.slice(0, -1)
			.map(({ content }) => withoutTime(content));
		const known = words.slice(0, 2).filter((_word, at) => keys[at] === 'x');
		expect(before).toStrictEqual(known.flatMap((word) => [`${word} new`, `Re: ${word} new`]));
	});

	test.each([
		...['not JSON', '{}', '[1]', '[{"foo":1}]', '[{"role":"user","content":5}]'],
		'[{"role":"user","content":"a"},{"role":"tool","tool_call_id":"a","content":"b"}]',
		'[{"role":"assistant","content":null,"tool_calls":"x"}]',
		'[{"role":"assistant","content":null,"tool_calls":[{"id":"a"}]}]',
	])('messages that a person has changed to %s are an error', async (turn) => {
		await chat('one');
		tables.edit(() => true, { turn });
		const { error } = await chat('two');
		expect(error!.message).toBe('Memory cannot be read');
		expect(error!.description).toMatch(/^A turn in agent_video_memory is not /);
		expect(server.requests).toHaveLength(1);
	});

	test('a turn that a person has cleared is none', async () => {
		await chat('one');
		tables.edit(() => true, { turn: '' });
		await chat('two');
		await chat('three');
		expect(sent()[2]).toStrictEqual([user('two'), says('Re: two'), user('three')]);
	});

	test('a reply that cannot be saved is not lost: a hint says so', async () => {
		model = () => {
			tables.disabled = true;
			return 'paid for';
		};
		const result = await chat('one');
		expect(result.status).toBe('success');
		expect(JSON.stringify(result.outputs[0]![0]!.json)).toContain('paid for');
		expect(result.hints).toStrictEqual([
			expect.stringMatching(/^The next message will not know this reply\. .*It needs n8n 2/),
		]);
	});
});

describe('anywhere behind a Chat Trigger', () => {
	/** Runs a node behind a Chat Trigger and a node that drops the fields of its item and their links. */
	async function inChat(tested: INode, text: string, sessionId: unknown = 'chat-1', more = {}) {
		const edit = stubNode('Edit', (items) =>
			items.map(({ json }) => ({ json: { q: json['chatInput'], ...more } })),
		);
		const wires = { Chat: [['Edit']], Edit: [['Tested']] };
		return await runWorkflow([chatTrigger('Chat'), edit, tested], wires, 'Chat', {
			items: [{ chatInput: text, sessionId } as IDataObject],
			credential: credential(),
			tables,
		});
	}
	const completion = packageNode('Tested', 'chatCompletion', {
		parameters: { prompt: '={{ $json.q }}', memory: 'chat' },
	});
	const assistant = packageNode('Tested', 'superAssistant', {
		parameters: { appCode: 'demo-assistant', message: '={{ $json.q }}' },
	});

	test('Chat Completion finds its sessionId, and Super Assistant continues its session by default', async () => {
		for (const tested of [completion, assistant])
			for (const visitor of ['chat-1', 'chat-1', 'chat-2'])
				await inChat(tested, 'Hi', visitor);
		expect(sent().map(({ length }) => length)).toStrictEqual([1, 3, 1, 1, 1, 1]);
		expect(sessions().slice(3)).toStrictEqual([undefined, 's-3', undefined]);
	});

	test('a sessionId that a node in between has got from elsewhere is none of the chat', async () => {
		const theirs = { sessionId: 'login-1' };
		for (const visitor of ['chat-1', 'chat-2']) await inChat(completion, 'Hi', visitor, theirs);
		expect(sent().map(({ length }) => length)).toStrictEqual([1, 1]);
		const { run } = await inChat(completion, 'Hi', null, theirs);
		expect(run.data.resultData.error?.message).toContain(
			'but no chat has sent a usable sessionId',
		);
	});
});

const NO_CHAT = /^Memory is This Chat, but no chat has sent a usable sessionId/;
const byKey = { memory: 'key', memoryKey: 'k' };

test.each<[string, IDataObject, RegExp, node?: string, item?: IDataObject]>([
	['no chat', { memory: 'chat' }, NO_CHAT],
	['no chat', { memory: 'chat' }, NO_CHAT, 'functionCallingAgent'],
	[
		'a chat that sends no ID',
		{ memory: 'chat' },
		/^Memory is This Chat, but no chat has sent a usable sessionId Start the workflow with a Chat Trigger that gets a sessionId, or set Memory to By Key$/,
		'chatCompletion',
		{ sessionId: null },
	],
	['an empty key', { memory: 'key', memoryKey: '' }, /^Memory Key is empty/],
	[
		'a key that all visitors without a name have',
		{ memory: 'key', memoryKey: '={{ $json.name !== undefined }}' },
		/^Memory Key is false, as for every item without a value/,
	],
	...['chatCompletion', 'functionCallingAgent'].map(
		(node): [string, IDataObject, RegExp, string] => [
			'a tool result without its question',
			{ ...byKey, ...TOOL_RESULT },
			/^Memory needs a message with the role user/,
			node,
		],
	),
])('%s is an error before anything is paid', async (_name, parameters, message, ...where) => {
	const [node = 'chatCompletion', item] = where;
	const items = [{ chatInput: 'Hi', ...item }];
	const { error } = await runNode(node, { credential: credential(), items, tables, parameters });
	expect(`${error!.message} ${error!.description}`).toMatch(message);
	expect(server.requests).toHaveLength(0);
});

describe('Agent with Tools', () => {
	async function ask(
		texts: readonly string[],
		parameters: IDataObject = {},
		settings: Pick<Drawing, 'onError' | 'retryOnFail'> = {},
	) {
		const questions = texts.map((question) => ({ json: { question, sessionId: 'chat-1' } }));
		const weather = maps(({ city }) => ({ weather: `sunny in ${String(city)}` }));
		return await runDrawing(
			{
				...{ ...settings, ways: 'weather > Agent' },
				nodes: { Questions: () => questions, weather },
				parameters: { memory: 'chat', ...parameters },
				environment: { tables },
			},
			server.url,
		);
	}
	const calls = (city: string) => call(`call ${city}`, { city });
	const isAsked = (messages: readonly ChatMessage[]) => messages.at(-1)!.role === 'user';
	const round = (city: string) =>
		roundOf(calls(city), JSON.stringify({ weather: `sunny in ${city}` }));

	beforeEach(() => {
		model = (messages) => (isAsked(messages) ? [calls(lastText(messages))] : 'Sunny.');
	});

	test('remembers tool calls and their results', async () => {
		for (const city of ['Rome', 'Oslo', 'Bern']) await ask([city]);
		const turn = (city: string) => [user(city), ...round(city), says('Sunny.')];
		expect(sent()[4]).toStrictEqual([...turn('Rome'), ...turn('Oslo'), user('Bern')]);
	});

	test('of an answer its text is remembered, of a reply with calls all', async () => {
		const called = { ...MORE, images: [], content: null, tool_calls: [calls('Rome')] };
		model = (messages) => (isAsked(messages) ? called : { ...MORE, content: 'Sunny.' });
		await ask(['Rome']);
		const [, said, answer] = turns()[0]!.filter(({ role }) => role !== 'tool');
		expect(said).toMatchObject({
			reasoning: 'Hm',
			reasoning_details: MORE['reasoning_details'],
		});
		expect(answer).toStrictEqual(says(`Sunny.${MARK}`));
	});

	test('a stopped conversation is remembered with its calls closed', async () => {
		await ask(['Rome'], { options: { maxRounds: 1 } });
		await ask(['Oslo']);
		expect(sent()[1]!.map(({ role }) => role)).toStrictEqual([
			'user',
			'assistant',
			'tool',
			'user',
		]);
		expect(String(sent()[1]![2]!.content)).toContain('max_rounds');
	});

	test('a failed conversation is not remembered', async () => {
		model = (messages) => (isAsked(messages) ? [calls('Rome')] : undefined);
		await ask(['Rome'], NO_RETRIES);
		expect(tables.rows).toHaveLength(0);
	});

	test('conversations of one chat in one run do not see each other, and both are remembered', async () => {
		const { answers } = await ask(['Rome', 'Oslo']);
		expect(answers).toHaveLength(2);
		await ask(['Bern']);
		const asked = sent()
			.at(-1)!
			.filter(({ role }) => role === 'user');
		const questions = asked.map(({ content }) => content);
		expect(questions.slice(0, 2).sort()).toStrictEqual(['Oslo', 'Rome']);
		expect(questions[2]).toBe('Bern');
	});

	test.each([
		['stopWorkflow', 'two'],
		['continueRegularOutput', 'one'],
	] as const)('with Retry On Fail no turn is there twice: %s', async (onError, word) => {
		failsOnce(word);
		await ask(['one', 'two', 'three'], NO_RETRIES, { retryOnFail: true, onError });
		const texts = ['one', 'two', 'three'];
		expect(turns()).toHaveLength(3);
		expect(turns()).toEqual(
			expect.arrayContaining(texts.map((text) => [user(text), says(`Re: ${text}`)])),
		);
		expect(server.requests).toHaveLength(4);
	});

	test('of one chat the turn that ends first is the first', async () => {
		model = (messages) => (lastText(messages) === 'Rome' ? [calls('Rome')] : 'Sunny.');
		await ask(['Rome', 'Hello']);
		expect(turns()).toEqual([
			[user('Hello'), says('Sunny.')],
			[user('Rome'), ...round('Rome'), says('Sunny.')],
		]);
	});
});

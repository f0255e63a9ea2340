import {
	applyReply,
	applyResult,
	applyStarted,
	closeOpenCalls,
	openCalls,
	startConversation,
	type Conversation,
} from '../../nodes/client/chat/conversation';
import { findMismatch } from '../../nodes/client/chat/jsonSchema';
import { inferSchema } from '../../nodes/shared/chat/schemaForm';
import type { ChatCompletion, ToolDeclaration, Usage } from '../../nodes/client/chat/types';

const LIMITS = { maxRounds: 10, maxCalls: 50 };
const TOOLS: ToolDeclaration[] = [
	{
		type: 'function',
		function: {
			name: 'weather',
			parameters: {
				type: 'object',
				properties: { city: { type: 'string' } },
				required: ['city'],
			},
		},
	},
	{ type: 'function', function: { name: 'time' } },
];
const USER = { role: 'user', content: 'Hi' } as const;

const asks = (...calls: [id: string, name: string, args: string][]): ChatCompletion => ({
	choices: [
		{
			index: 0,
			finish_reason: 'tool_calls',
			message: {
				role: 'assistant',
				content: null,
				reasoning_content: 'hm',
				tool_calls: calls.map(([id, name, args]) => ({
					id,
					type: 'function',
					function: { name, arguments: args },
				})),
			},
		},
	],
	usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
});
const says = (content: string): ChatCompletion => ({
	choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
});

const reply = (conversation: Conversation, completion: ChatCompletion, limits = LIMITS) =>
	applyReply(conversation, completion, TOOLS, limits);
const result = (conversation: Conversation, id: string, text: string, nowMs = 0) =>
	applyResult(conversation, id, { result: text, failed: false }, nowMs);

test('a conversation is JSON-serializable', () => {
	const conversation = reply(
		startConversation([USER]),
		asks(['a', 'weather', '{"city":"Rome"}']),
	);
	expect(JSON.parse(JSON.stringify(conversation))).toStrictEqual(conversation);
});

test('results can arrive in any order, their messages keep the order of the calls', () => {
	const calling = reply(startConversation([USER]), asks(['a', 'time', ''], ['b', 'time', '{}']));
	expect(openCalls(calling).map(({ id }) => id)).toStrictEqual(['a', 'b']);

	const half = result(calling, 'b', '2');
	expect(half.phase).toStrictEqual({ kind: 'calling' });
	expect(half.messages).toHaveLength(2);

	const whole = result(half, 'a', '1');
	expect(whole.phase).toStrictEqual({ kind: 'asking' });
	expect(whole.messages.slice(2)).toStrictEqual([
		{ role: 'tool', tool_call_id: 'a', content: '1' },
		{ role: 'tool', tool_call_id: 'b', content: '2' },
	]);
});

test('results of completed and unknown calls are ignored', () => {
	const calling = reply(startConversation([USER]), asks(['a', 'time', ''], ['b', 'time', '{}']));
	const once = result(calling, 'a', '1');
	expect(result(once, 'a', 'other')).toBe(once);
	expect(result(once, 'zzz', 'other')).toBe(once);
});

test('an id that is reused in a later round is a new call', () => {
	const first = result(reply(startConversation([USER]), asks(['a', 'time', ''])), 'a', '1');
	const second = reply(first, asks(['a', 'time', '{}']));
	expect(openCalls(second)).toMatchObject([{ id: 'a', round: 2 }]);
	expect(result(second, 'a', '2').calls.map(({ result: text }) => text)).toStrictEqual([
		'1',
		'2',
	]);
});

test.each([
	['is measured from its start', 3_500, 2_500],
	['is not negative after the clock was set back', 400, 0],
])('the duration of a call %s', (_name, nowMs, durationMs) => {
	const calling = reply(startConversation([USER]), asks(['a', 'time', '']));
	const done = result(applyStarted(calling, 'a', 1_000), 'a', '1', nowMs);
	expect(done.calls[0]).toMatchObject({ startedAtMs: 1_000, durationMs });
});

test('closing gives every pending call a result, in the order of the calls, once', () => {
	const three = asks(['a', 'time', ''], ['b', 'time', ''], ['c', 'time', '']);
	const calling = reply(startConversation([USER]), three);
	const half = result(applyStarted(calling, 'a', 0), 'b', '2');
	const closed = closeOpenCalls(half, 'the service has failed');
	expect(closed.messages.slice(2)).toStrictEqual([
		{
			role: 'tool',
			tool_call_id: 'a',
			content: '{"error":"No result: the service has failed"}',
		},
		{ role: 'tool', tool_call_id: 'b', content: '2' },
		{
			role: 'tool',
			tool_call_id: 'c',
			content: '{"error":"Not executed: the service has failed"}',
		},
	]);
	expect(closed.calls.map(({ failed }) => failed)).toStrictEqual([true, false, true]);
	expect(openCalls(closed)).toStrictEqual([]);
	expect(closeOpenCalls(closed, 'again')).toBe(closed);
	const fresh = startConversation([USER]);
	expect(closeOpenCalls(fresh, 'again')).toBe(fresh);
});

test('token usage is summed over all rounds; replies without usage are skipped', () => {
	const first = result(reply(startConversation([USER]), asks(['a', 'time', ''])), 'a', '1');
	const second = result(reply(first, asks(['b', 'time', ''])), 'b', '1');
	const answered = reply(second, says('Done.'));
	expect(answered.usage).toStrictEqual({
		prompt_tokens: 4,
		completion_tokens: 2,
		total_tokens: 6,
	});
	expect(answered.phase.kind).toBe('answered');
});

test('a reply with the finish reason tool_calls but no calls is an answer', () => {
	expect(reply(startConversation([USER]), asks()).phase.kind).toBe('answered');
});

describe('the same call again', () => {
	/** How the conversation goes on after each result of the same call. */
	function poll(results: readonly string[]) {
		let conversation = startConversation([USER]);
		for (const [round, said] of results.entries()) {
			conversation = reply(conversation, asks([`c${round}`, 'time', '{"task":7}']));
			if (conversation.phase.kind === 'stopped') return conversation.phase;
			conversation = result(conversation, `c${round}`, said);
		}
		return reply(conversation, asks(['last', 'time', '{"task":7}'])).phase;
	}

	test.each([
		['each result is another', ['queued', '10 %', '20 %', '30 %', '40 %', 'done']],
		['some results come again', ['queued', 'queued', 'running', 'running', 'paused']],
		['a result comes again later', ['running', 'paused', 'running', 'paused']],
	])('is no repetition where %s', (_name, results) => {
		expect(poll(results).kind).toBe('calling');
	});

	test.each([
		['the same', ['queued', 'queued', 'queued']],
		['the same among others', ['queued', 'running', 'queued', 'running', 'queued']],
	])('is one where three results are %s', (_name, results) => {
		expect(poll(results)).toStrictEqual({ kind: 'stopped', reason: 'repeated_tool_call' });
	});
});

test('invalid calls get an error result at once, valid calls are pending', () => {
	const mixed = reply(
		startConversation([USER]),
		asks(
			['a', 'wether', '{}'],
			['b', 'weather', '{"city":"Rome"}'],
			['c', 'weather', '{"city":1}'],
		),
	);
	expect(openCalls(mixed).map(({ id }) => id)).toStrictEqual(['b']);
	const done = result(mixed, 'b', '"mild"');
	expect(done.messages.slice(2).map(({ content }) => content)).toStrictEqual([
		JSON.stringify({ error: 'Unknown tool "wether". Available tools: weather, time' }),
		'"mild"',
		expect.stringContaining('do not match the schema of the tool at #/city') as string,
	]);
});

test.each([
	[{}, { type: 'object', properties: {}, required: [] }],
	[[], { type: 'array' }],
	[[1.5], { type: 'array', items: { type: 'number' } }],
	[
		{ a: null, b: true },
		{
			type: 'object',
			properties: { a: {}, b: { type: 'boolean' } },
			required: ['a', 'b'],
			additionalProperties: false,
		},
	],
	[[1, 2], { type: 'array', items: { type: 'number' } }],
	[[10, 9.99, 10], { type: 'array', items: { type: 'number' } }],
	[['a', 1], { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }],
	[[1, null], { type: 'array', items: { anyOf: [{ type: 'number' }, {}] } }],
	[
		[{ a: 1 }, { a: 9.99 }],
		{
			type: 'array',
			items: {
				type: 'object',
				properties: { a: { type: 'number' } },
				required: ['a'],
				additionalProperties: false,
			},
		},
	],
])('infers the schema of %j, which it matches', (example, schema) => {
	expect(inferSchema(example)).toStrictEqual(schema);
	expect(findMismatch(inferSchema(example), example)).toBeUndefined();
});

test('a usage without a count adds nothing to it', () => {
	const usage = { prompt_tokens: 5, total_tokens: 'many' } as unknown as Usage;
	const first = reply(startConversation([USER]), asks(['a', 'time', '{}']));
	const answered = reply(result(first, 'a', '1'), { ...says('Hi'), usage });
	expect(answered.usage).toStrictEqual({
		prompt_tokens: 7,
		completion_tokens: 1,
		total_tokens: 8,
	});
});

test('calls of a reply beyond the limit of a round are answered to the model, and those within it run', () => {
	const limits = { ...LIMITS, maxCallsPerRound: 2 };
	const bad = asks(
		['c0', 'wether', '{}'],
		...['Rome', 'Oslo', 'Athens'].map((city, index): [string, string, string] => [
			`c${index + 1}`,
			'weather',
			JSON.stringify({ city }),
		]),
	);
	const calling = reply(startConversation([USER]), bad, limits);
	expect(openCalls(calling).map(({ id }) => id)).toStrictEqual(['c1', 'c2']);
	const asking = result(result(calling, 'c1', '4'), 'c2', '4');
	expect(asking.phase).toStrictEqual({ kind: 'asking' });
	expect(asking.messages.at(-1)).toMatchObject({
		role: 'tool',
		tool_call_id: 'c3',
		content: expect.stringContaining('at most 2 tool calls') as string,
	});
	expect(asking.calls.at(-1)).toMatchObject({ id: 'c3', failed: true });
});

import {
	applyReply,
	applyResult,
	applyStarted,
	closeOpenCalls,
	openCalls,
	startConversation,
	type Conversation,
} from '../../nodes/client/chat/conversation';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import type { ChatCompletion, ToolDeclaration, Usage } from '../../nodes/client/chat/types';

const LIMITS = { maxRounds: 10, maxCalls: 50 };
const WEATHER = {
	type: 'object',
	properties: { city: { type: 'string' } },
	required: ['city'],
};
const TOOLS: ToolDeclaration[] = [
	{ type: 'function', function: { name: 'weather', parameters: WEATHER } },
	{ type: 'function', function: { name: 'time' } },
];
const START = startConversation([{ role: 'user', content: 'Hi' }]);

const asks = (...calls: [id: string, name: string, args: string][]): ChatCompletion => ({
	choices: [
		{
			index: 0,
			finish_reason: 'tool_calls',
			message: {
				...{ role: 'assistant', content: null, reasoning_content: 'hm' },
				tool_calls: calls.map(([id, name, args]) => toolCall(id, name, args)),
			},
		},
	],
	usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
});
/** Calls of a tool without arguments. */
const asksTime = (...ids: string[]) =>
	asks(...ids.map((id): [string, string, string] => [id, 'time', '']));
const says = (content: string): ChatCompletion => ({
	choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
});

const reply = (conversation: Conversation, completion: ChatCompletion, limits = LIMITS) =>
	applyReply(conversation, completion, TOOLS, limits);
const result = (conversation: Conversation, id: string, text: string, nowMs = 0) =>
	applyResult(conversation, id, { result: text, failed: false }, nowMs);
/** The tool messages behind the question and the reply. */
const results = ({ messages }: Conversation) =>
	messages.slice(2).map((message) => {
		expect(message.role).toBe('tool');
		return [(message as { tool_call_id: string }).tool_call_id, message.content];
	});

test('a conversation is JSON-serializable', () => {
	const conversation = reply(START, asks(['a', 'weather', '{"city":"Rome"}']));
	expect(JSON.parse(JSON.stringify(conversation))).toStrictEqual(conversation);
});

test('results can arrive in any order, their messages keep the order of the calls', () => {
	const calling = reply(START, asksTime('a', 'b'));
	expect(openCalls(calling).map(({ id }) => id)).toStrictEqual(['a', 'b']);

	const half = result(calling, 'b', '2');
	expect(half.phase).toStrictEqual({ kind: 'calling' });
	expect(half.messages).toHaveLength(2);

	const whole = result(half, 'a', '1');
	expect(whole.phase).toStrictEqual({ kind: 'asking' });
	expect(results(whole)).toStrictEqual([
		['a', '1'],
		['b', '2'],
	]);
});

test('results of completed and unknown calls are ignored', () => {
	const once = result(reply(START, asksTime('a', 'b')), 'a', '1');
	expect(result(once, 'a', 'other')).toBe(once);
	expect(result(once, 'zzz', 'other')).toBe(once);
});

test('an id that is reused in a later round is a new call', () => {
	const second = reply(result(reply(START, asksTime('a')), 'a', '1'), asksTime('a'));
	expect(openCalls(second)).toMatchObject([{ id: 'a', round: 2 }]);
	const said = result(second, 'a', '2').calls.map(({ result: text }) => text);
	expect(said).toStrictEqual(['1', '2']);
});

test.each([
	['is measured from its start', 3_500, 2_500],
	['is not negative after the clock was set back', 400, 0],
])('the duration of a call %s', (_name, nowMs, durationMs) => {
	const begun = applyStarted(reply(START, asksTime('a')), 'a', 1_000);
	const [call] = result(begun, 'a', '1', nowMs).calls;
	expect(call).toMatchObject({ startedAtMs: 1_000, durationMs });
});

test('closing gives every pending call a result, in the order of the calls, once', () => {
	const begun = applyStarted(reply(START, asksTime('a', 'b', 'c')), 'a', 0);
	const closed = closeOpenCalls(result(begun, 'b', '2'), 'the service has failed');
	expect(results(closed)).toStrictEqual([
		['a', '{"error":"No result: the service has failed"}'],
		['b', '2'],
		['c', '{"error":"Not executed: the service has failed"}'],
	]);
	expect(closed.calls.map(({ failed }) => failed)).toStrictEqual([true, false, true]);
	expect(openCalls(closed)).toStrictEqual([]);
	for (const each of [closed, START]) expect(closeOpenCalls(each, 'again')).toBe(each);
});

test('token usage is summed over all rounds; what a reply does not count adds nothing', () => {
	const first = result(reply(START, asksTime('a')), 'a', '1');
	const second = result(reply(first, asksTime('b')), 'b', '1');
	const total = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
	expect(reply(second, says('Done.'))).toMatchObject({
		phase: { kind: 'answered' },
		usage: total,
	});
	const usage = { prompt_tokens: 5, total_tokens: 'many' } as unknown as Usage;
	expect(reply(second, { ...says('Hi'), usage }).usage).toStrictEqual({
		...{ prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
	});
});

test('a reply with the finish reason tool_calls but no calls is an answer', () => {
	expect(reply(START, asks()).phase.kind).toBe('answered');
});

const REPEATED = { kind: 'stopped', reason: 'repeated_tool_call' };
test.each([
	['each result is another', 'queued 10% 20% 30% 40% done', { kind: 'calling' }],
	['some results come again', 'queued queued running running paused', { kind: 'calling' }],
	['a result comes again later', 'running paused running paused', { kind: 'calling' }],
	['three results are the same', 'queued queued queued', REPEATED],
	['the same among others', 'queued running queued running queued', REPEATED],
])('the same call again, where %s', (_name, texts, phase) => {
	let conversation = START;
	for (const [round, said] of texts.split(' ').entries()) {
		conversation = reply(conversation, asks([`c${round}`, 'time', '{"task":7}']));
		conversation = result(conversation, `c${round}`, said);
	}
	const last = reply(conversation, asks(['last', 'time', '{"task":7}']));
	expect(last.phase).toStrictEqual(phase);
});

test('invalid calls get an error result at once, valid calls are pending', () => {
	const mixed = reply(
		START,
		asks(
			['a', 'wether', '{}'],
			['b', 'weather', '{"city":"Rome"}'],
			['c', 'weather', '{"city":1}'],
		),
	);
	expect(openCalls(mixed).map(({ id }) => id)).toStrictEqual(['b']);
	expect(results(result(mixed, 'b', '"mild"'))).toStrictEqual([
		['a', JSON.stringify({ error: 'Unknown tool "wether". Available tools: weather, time' })],
		['b', '"mild"'],
		['c', expect.stringContaining('do not match the schema of the tool at #/city') as string],
	]);
});

test('calls of a reply beyond the limit of a round are answered to the model, and those within it run', () => {
	const bad = asks(
		['c0', 'wether', '{}'],
		...['Rome', 'Oslo', 'Athens'].map((city, index): [string, string, string] => [
			`c${index + 1}`,
			'weather',
			JSON.stringify({ city }),
		]),
	);
	const calling = reply(START, bad, { ...LIMITS, maxCallsPerRound: 2 } as typeof LIMITS);
	expect(openCalls(calling).map(({ id }) => id)).toStrictEqual(['c1', 'c2']);
	const asking = result(result(calling, 'c1', '4'), 'c2', '4');
	expect(asking.phase).toStrictEqual({ kind: 'asking' });
	const tooMany = expect.stringContaining('at most 2 tool calls') as string;
	expect(results(asking).at(-1)).toStrictEqual(['c3', tooMany]);
	expect(asking.calls.at(-1)).toMatchObject({ id: 'c3', failed: true });
});

import { restoreReplies } from '../../nodes/client/chat/messages';
import type { ChatMessage, ToolCall } from '../../nodes/client/chat/types';

const call = (id: string, name: string, args: string): ToolCall => ({
	id,
	type: 'function',
	function: { name, arguments: args },
});
const asks = (...calls: ToolCall[]): ChatMessage => ({
	role: 'assistant',
	content: null,
	tool_calls: calls,
});
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: id });
const QUESTION: ChatMessage = { role: 'user', content: 'Hi' };

const WEATHER = call('1', 'weather', '{ "city": "Rome" }');
const TIME = call('2', 'time', '{ "at": [ { "city": "Rome" } ] }');
const REPLY: ChatMessage = { ...asks(WEATHER, TIME), reasoning_content: 'Two things.' };

test('calls in one message get their reasoning and original arguments back', () => {
	const rebuilt = asks(
		call('1', 'weather', '{"city":"Rome"}'),
		call('2', 'time', '{"at":[{"city":"Rome"}]}'),
	);
	expect(restoreReplies([QUESTION, rebuilt, result('1'), result('2')], [REPLY])).toStrictEqual([
		QUESTION,
		REPLY,
		result('1'),
		result('2'),
	]);
});

test('calls in separate messages are merged into the original reply', () => {
	const messages = [
		QUESTION,
		asks(call('1', 'weather', '{"city":"Rome","id":"1"}')),
		result('1'),
		asks(call('2', 'time', '{"at":[{"city":"Rome"}],"id":"2"}')),
		result('2'),
	];
	expect(restoreReplies(messages, [REPLY])).toStrictEqual([
		QUESTION,
		REPLY,
		result('1'),
		result('2'),
	]);
});

test('an id that is reused in another round is another call', () => {
	const first: ChatMessage = { ...asks(call('1', 'a', '{"n": 1}')), reasoning_content: 'one' };
	const second: ChatMessage = { ...asks(call('1', 'a', '{"n": 2}')), reasoning_content: 'two' };
	const messages = [
		asks(call('1', 'a', '{"n":1}')),
		result('1'),
		asks(call('1', 'a', '{"n":2}')),
		result('1'),
	];
	expect(restoreReplies(messages, [first, second])).toStrictEqual([
		first,
		result('1'),
		second,
		result('1'),
	]);
});

test('the same call in two rounds stays two calls', () => {
	const one = asks(call('1', 'a', '{}'));
	const apart = [one, result('1'), QUESTION, one, result('1')];
	expect(restoreReplies(apart, [one])).toStrictEqual(apart);
	const consecutive = [one, result('1'), one, result('1')];
	expect(restoreReplies(consecutive, [one, { ...one }])).toStrictEqual(consecutive);
});

test.each([
	['another name', call('1', 'wether', '{"city":"Rome"}')],
	['another value', call('1', 'weather', '{"city":"Oslo"}')],
	['no arguments', call('1', 'weather', '')],
	['another id', call('9', 'weather', '{"city":"Rome"}')],
])('a call with %s is not in the replies and stays unchanged', (_name, other) => {
	const messages = [asks(other), result(other.id)];
	expect(restoreReplies(messages, [asks(WEATHER)])).toStrictEqual(messages);
});

test('arrays of different length do not match', () => {
	const messages = [asks(call('2', 'time', '{"at":[]}')), result('2')];
	expect(restoreReplies(messages, [REPLY])).toStrictEqual(messages);
});

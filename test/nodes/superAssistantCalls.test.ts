import type { ChatCompletion } from '../../nodes/client/chat/types';
import { ASSISTANT_CALLS } from '../../nodes/SuperAssistant/sessionTable';
import { planCall } from '../../nodes/SuperAssistant/execute';
import { strictRun } from '../support/strictContext';

const { toRow, toResult: toReply } = ASSISTANT_CALLS;

const describeItem = (parameters: Readonly<Record<string, unknown>>) =>
	planCall(
		strictRun({
			getNodeParameter: (name, _item, fallback) => parameters[name] ?? fallback,
			items: () => [],
			messages: [],
			workflowId: 'w1',
		}),
		0,
	).call;

const CALL = { appCode: ' demo-assistant', message: 'Hi', session: 'key', sessionKey: 'chat-1 ' };

test('the row of a call shows what a person wants to see', () => {
	expect(describeItem(CALL).row).toStrictEqual({
		app_code: 'demo-assistant',
		session_key: 'key chat-1',
		session_id: '',
		message: 'Hi',
	});
	expect(describeItem({ ...CALL, session: 'id', sessionId: 's-1' }).row).toMatchObject({
		session_key: '',
		session_id: 's-1',
	});
});

test('of a long message, which a visitor may send, the row has the beginning', () => {
	const message = `${'a'.repeat(1_000_000)}b`;
	const { row, entered } = describeItem({ ...CALL, message });
	expect(row.message).toBe(`${'a'.repeat(2_000)}…`);
	expect(entered).not.toStrictEqual(describeItem({ ...CALL, message: `${message}c` }).entered);
});

test.each([
	['the assistant', { appCode: 'other' }],
	['the message', { message: 'Hi!' }],
	['the kind of session', { session: 'new' }],
	['the key', { sessionKey: 'chat-2' }],
	['the images', { images: { image: [{ source: 'url', url: 'https://example.com/a.png' }] } }],
])('a call is recognized by %s', (_name, change) => {
	expect(describeItem({ ...CALL, ...change }).entered).not.toStrictEqual(
		describeItem(CALL).entered,
	);
	expect(describeItem({ ...CALL }).entered).toStrictEqual(describeItem(CALL).entered);
});

const REPLY: ChatCompletion = {
	choices: [
		{
			index: 0,
			message: { content: 'Zero \u0000, half \ud83d, "quoted" {{ 1 }}' },
			finish_reason: 'stop',
		},
	],
	session_id: 's-1',
	events: [{ type: 'tool_start', tool: 'search', offset_ms: 42 }],
};

test('a reply comes back from its row as it was', () => {
	const row = toRow(REPLY);
	expect(row['session_id']).toBe('s-1');
	// PostgreSQL takes neither in a text.
	expect(row['reply']).not.toMatch(/[\0\ud800-\udfff]/);
	expect(toReply(row)).toStrictEqual(REPLY);
});

test('a reply without a session leaves the one of the call', () => {
	const { session_id, ...completion } = REPLY;
	expect(toRow(completion)).not.toHaveProperty('session_id');
});

test.each([
	null,
	'',
	'Hi',
	'"Hi"',
	'[]',
	'{}',
	'{"choices":{}}',
	'{"choices":[]}',
	'{"choices":[],"events":[]}',
	'{"choices":[null]}',
	'{"choices":[{}]}',
	'{"choices":[{"message":{"content":5}}]}',
	'{"choices":[{"message":{"content":"Hi"}}],"events":[null]}',
	'{"choices":[{"message":{"content":"Hi"}}],"events":{}}',
])('%j is no reply', (reply) => {
	expect(toReply({ reply })).toBeUndefined();
});

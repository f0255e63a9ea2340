import {
	applyReply,
	applyResult,
	applyStarted,
	startConversation,
	type Conversation,
} from '../../nodes/client/chat/conversation';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import { replyOf } from '../support/chatPieces';

const START = startConversation([{ role: 'user', content: 'Hi' }]);

/** The model asks for the calls with these IDs, each the same one. */
const reply = (conversation: Conversation, ...ids: string[]) =>
	applyReply(
		conversation,
		replyOf(
			null,
			{ tool_calls: ids.map((id) => toolCall(id, 'time', '{"task":7}')) },
			'tool_calls',
		),
		[{ type: 'function', function: { name: 'time' } }],
		{ maxRounds: 10, maxCalls: 50 },
	);
const result = (conversation: Conversation, id: string, text: string, nowMs = 0) =>
	applyResult(conversation, id, { result: text, failed: false }, nowMs);

test('a result belongs to the call of its ID that is open, and to none that has one', () => {
	const first = result(reply(START, 'a', 'b'), 'a', '1');
	expect(result(first, 'a', 'late')).toBe(first);
	// Some models give each round the same IDs.
	const second = reply(result(first, 'b', '2'), 'a');
	const said = result(second, 'a', '3').calls.map(({ result: text }) => text);
	expect(said).toStrictEqual(['1', '2', '3']);
});

test.each([
	['is measured from its start', 3_500, 2_500],
	['is not negative after the clock was set back', 400, 0],
])('the duration of a call %s', (_name, nowMs, durationMs) => {
	const begun = applyStarted(reply(START, 'a'), 'a', 1_000);
	const [call] = result(begun, 'a', '1', nowMs).calls;
	expect(call).toMatchObject({ startedAtMs: 1_000, durationMs });
});

test('a reply with the finish reason tool_calls but no calls is an answer', () => {
	expect(reply(START).phase.kind).toBe('answered');
});

const REPEATED = { kind: 'stopped', reason: 'repeated_tool_call' };
test.each([
	['each result is another', 'queued 10% 20% 30% 40% done', { kind: 'calling' }],
	['some results come again', 'queued queued running running paused', { kind: 'calling' }],
	['a result comes again later', 'running paused running paused', { kind: 'calling' }],
	['three results are the same', 'queued queued queued', REPEATED],
	['the same among others', 'queued running queued running queued', REPEATED],
	['one reply asks for all', '4,4,4,4', { kind: 'calling' }],
	['some replies ask for two', 'on,on off on,on', { kind: 'calling' }],
	['each reply asks for two', 'on,on on,off off,on', REPEATED],
])('the same call again, where %s', (_name, texts, phase) => {
	let conversation = START;
	for (const said of texts.split(' ').map((each) => each.split(','))) {
		conversation = reply(conversation, ...Object.keys(said));
		for (const [id, text] of Object.entries(said))
			conversation = result(conversation, id, text);
	}
	expect(reply(conversation, 'a', 'b', 'c', 'd').phase).toStrictEqual(phase);
});

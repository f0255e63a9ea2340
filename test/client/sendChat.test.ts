import { sendChat } from '../../nodes/client/chat/sendChat';
import { showReply } from '../../nodes/shared/chat/chatStream';
import { axiosHttp } from '../support/axiosHttp';
import { events, startScriptedServer } from '../support/scriptedServer';
import { fakeClock } from '../support/fakeClock';

const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
const END = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

/** Sends a chat to a server whose first stream ends after this delta, and whose second stream is complete. */
async function sendTwice(first: object, sendText?: (text: string) => unknown, reasoning = false) {
	const server = await startScriptedServer((response, _request, index) => {
		events(response, index === 0 ? [delta(first)] : [delta({ content: 'Hello' }), END]);
	});
	try {
		const chat = sendChat(fakeClock(), axiosHttp(server.url, 'key'), {
			stream: true,
			idleTimeoutMs: 5_000,
			limitMs: 60_000,
			retry: { retries: 1, retryOutcomeUnknown: true },
			onDelta: showReply(sendText, { reasoning }),
		});
		const outcome = await chat({ messages: [{ role: 'user', content: 'Hi' }] }).then(
			({ choices }) => choices[0]!.message.content,
			(error: unknown) => (error as Error).message,
		);
		return { outcome, requests: server.requests.length };
	} finally {
		await server.stop();
	}
}

const BROKEN = 'The stream ended before the reply was complete';

test.each([
	['an empty delta', { content: '' }, true],
	['reasoning that is not shown', { reasoning_content: 'Hm' }, true],
	['text', { content: 'He' }, false],
])('a stream that breaks after %s', async (_name, first, retried) => {
	const shown: string[] = [];
	const { outcome, requests } = await sendTwice(first, (text) => shown.push(text));
	expect(requests).toBe(retried ? 2 : 1);
	expect(outcome).toBe(retried ? 'Hello' : BROKEN);
	expect(shown).toStrictEqual([retried ? 'Hello' : 'He']);
});

test('reasoning that is shown is text as well', async () => {
	const shown: string[] = [];
	const { requests } = await sendTwice(
		{ reasoning_content: 'Hm' },
		(text) => shown.push(text),
		true,
	);
	expect(requests).toBe(1);
	expect(shown).toStrictEqual(['Hm']);
});

test('a reply that nobody watches is retried after any text', async () => {
	const { outcome, requests } = await sendTwice({ content: 'He' });
	expect(requests).toBe(2);
	expect(outcome).toBe('Hello');
});

/** The replies of test/fixtures/replies, streamed and not, with what is expected beside each. */
import { completeChat } from '../../nodes/client/chat/completeChat';
import { usageOf } from '../../nodes/client/chat/result';
import { splitCalls } from '../../nodes/client/chat/toolCalls';
import { formOf } from '../../nodes/client/chat/verdict';
import { RECORDED, type Recorded } from '../support/recordedReplies';

async function read({ text, type }: Recorded, bytes: number) {
	const all = Buffer.from(text);
	let live = '';
	const reply = await completeChat(
		() =>
			Promise.resolve({
				status: 200,
				headers: { 'content-type': type },
				body: (async function* () {
					for (let at = 0; at < all.length; at += bytes)
						yield all.subarray(at, at + bytes);
				})(),
			}),
		{ messages: [{ role: 'user', content: 'Hi' }] },
		{ stream: true, idleTimeoutMs: 1_000, onDelta: ({ content }) => (live += content) },
	);
	return { reply, live };
}

describe.each(RECORDED)('$file', (recorded) => {
	const { content, reasoning, calls = [], form, shown, live, ...more } = recorded.expected;

	test.each([7, 100_000])('is read in pieces of %i bytes', async (bytes) => {
		const { reply, live: seen } = await read(recorded, bytes);
		const { message, finish_reason: finish } = reply.choices[0]!;
		expect(message.content ?? '').toBe(content ?? '');
		expect(message.reasoning_content).toBe(reasoning);
		expect(formOf(reply, 'agent')).toBe(form);
		if (form === 'calls')
			expect(
				splitCalls(message).asked.map(({ function: { name, arguments: args } }) => ({
					name,
					arguments: JSON.parse(args) as unknown,
				})),
			).toStrictEqual(calls);
		// The choice of an earlier event may have been shown.
		if (!recorded.file.startsWith('choice')) expect(seen).toBe(live ?? shown ?? content ?? '');
		if ('finish' in more) expect(finish).toBe(more.finish);
		if ('usage' in more) expect(usageOf(reply) ?? null).toStrictEqual(more.usage);
	});
});

import type { Ending } from './expectations';
import type { Operation, Outcome, Way } from './operations';
import { KEY, type Seen } from './runCell';

/** Compares an observation with the expectation, after the invariants that hold for every cell. */
export function checkEnding(given: Ending, operation: Operation, seen: Seen, way: Way): void {
	const { inChat = given } = given;
	const ending = way === 'streaming' ? inChat : given;
	const { outcome } = seen;
	expect(seen.leaks).toStrictEqual([]);
	expect(seen.keys.filter((key) => key !== `Bearer ${KEY}`)).toStrictEqual([]);
	expect(seen.atOther.filter(({ headers }) => 'authorization' in headers)).toStrictEqual([]);
	if (operation.isPaid) expect(seen.done).toStrictEqual([...new Set(seen.done)]);

	if (ending.ends === 'well') checkResult(outcome, [...operation.gives, ...ending.keeps]);
	else if (ending.reason !== undefined) checkReason(ending, outcome);
	else if (way === 'errorOutput') checkErrorItem(ending, outcome);
	else checkError(withWords(ending, operation, way, outcome), outcome);

	if (way === 'streaming') expect(streamedText(outcome)).toContain(expectedText(ending));
	// Retry On Fail runs the node again, so the number of requests and the time differ.
	if (way === 'retryOnFail' && ending.ends === 'badly') return;
	const [atLeastMs, atMostMs] = ending.takesMs;
	expect(seen.requests).toBe(ending.requests);
	expect(seen.atOther).toHaveLength(0);
	expect(seen.passedMs).toBeGreaterThanOrEqual(atLeastMs);
	expect(seen.passedMs).toBeLessThanOrEqual(atMostMs);
}

function checkResult({ status, items }: Outcome, texts: readonly string[]): void {
	expect(status).toBe('success');
	expect(items).toHaveLength(1);
	const [{ json }] = items as [Outcome['items'][number]];
	// n8n treats an item with `error` as failed.
	expect(json).not.toHaveProperty('error');
	expectAll(json, texts);
}

/**
 * The ending of a chat model, whose message also has the words of the service: n8n's agents and chains output nothing else
 * of an error. Not in a chat, whose visitor sees it.
 */
function withWords(ending: Ending, { node }: Operation, way: Way, { error }: Outcome): Ending {
	const [, words] = /^The service said: "(.*?)"\. /.exec(error?.description ?? '') ?? [];
	const isSaid = node === 'agentVideoChatModel' && way !== 'streaming' && words !== undefined;
	return isSaid ? { ...ending, message: `${ending.message}: ${words}` } : ending;
}

function checkReason({ reason, message, keeps }: Ending, outcome: Outcome): void {
	checkResult(outcome, keeps);
	expect(outcome.items[0]!.json).toMatchObject({ reason, error_message: message });
}

function checkErrorItem({ message, status, keeps }: Ending, { status: run, items }: Outcome): void {
	expect(run).toBe('success');
	expect(items).toHaveLength(1);
	const { json } = items[0]!;
	expect(json).toMatchObject({
		error: message,
		message: expect.stringMatching(/^[A-Z]/) as string,
		details: status === undefined ? {} : { status },
	});
	expectAll(json, keeps);
}

function checkError({ message, status, keeps }: Ending, { status: run, error }: Outcome): void {
	const said = error?.message ?? '';
	// What to do follows where n8n shows nothing else: in a toast, and to the owner of a chat that streams.
	const shown = said.startsWith(`${message}. `) ? message : said;
	expect({ run, message: shown, status: error?.httpCode }).toStrictEqual({
		run: 'error',
		message,
		status: status === undefined ? null : String(status),
	});
	expect(error!.description).toMatch(/^[A-Z]/);
	const { context } = error as unknown as { readonly context: object };
	expectAll({ description: error!.description, context }, keeps);
}

function expectAll(held: object, texts: readonly string[]): void {
	const text = JSON.stringify(held);
	texts.forEach((each) => {
		expect(text).toContain(each);
	});
}

/** The text that was streamed to the chat. */
function streamedText({ chunks }: Outcome): string {
	return chunks.map(({ type, content = '' }) => (type === 'item' ? content : '')).join('');
}

function expectedText({ ends, keeps }: Ending): string {
	return ends === 'well' || keeps.includes('Half') ? 'Half' : '';
}

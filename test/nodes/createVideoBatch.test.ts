import type { ServerResponse } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { dataTables, type DataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { json, serverForEach } from '../support/scriptedServer';

type Answer = (response: ServerResponse) => void;

let tables: DataTables;
/** What the service does with the creation of a prompt; it creates a task for every other. */
let answers: Record<string, Answer>;

const server = serverForEach((response, { body }) => {
	const prompt = promptOf(body);
	const answer = answers[prompt];
	if (answer) answer(response);
	else json(response, 200, { task_id: `task-${prompt}`, model: 'video-m1' });
});

beforeEach(() => {
	tables = dataTables();
	answers = {};
});

const promptOf = (body: unknown) => (body as { prompt: string }).prompt;
const status =
	(code: number): Answer =>
	(response) => {
		json(response, code, { error: { message: 'no', type: 'x' } });
	};
const breakOff: Answer = (response) => {
	response.destroy();
};
const PROMPTS = Array.from({ length: 20 }, (_, index) => `p${index}`);
const others = (...lost: readonly string[]) => PROMPTS.filter((each) => !lost.includes(each));

async function run(concurrency: number, more: Partial<RunOptions> = {}) {
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		tables,
		execution: { id: '11', token: 'token-1' },
		items: PROMPTS.map((prompt) => ({ prompt })),
		parameters: parametersOf(concurrency),
		...more,
	});
}
const parametersOf = (concurrency: number): IDataObject => ({
	prompt: '={{ $json.prompt }}',
	options: { retries: 0, concurrency },
});
const retry = { id: '12', token: 'token-1', isRetry: true };
const sent = () => server.requests.map(({ body }) => promptOf(body));
const byName = (names: readonly string[]) => names.toSorted();

describe.each([1, 5])('with Concurrency %d', (concurrency) => {
	test.each([
		[400, FAILURE.badParameter],
		[409, FAILURE.moderated],
		[422, 'The service rejected the request'],
	])(
		'status %d is about one item: the others go on, and a Retry has only this one',
		async (code, reason) => {
			answers = { p6: status(code) };
			const first = await run(concurrency);
			expect(first.status).toBe('error');
			expect(first.error!.message).toBe(
				`1 of 20 videos failed: item 6 (${reason}). 19 have gone on: task-p0, task-p1, task-p2 and 16 more. Retry creates only what is missing, and pays only for that`,
			);
			expect(byName(sent())).toStrictEqual(byName(PROMPTS));
			const second = await first.resume(retry);
			expect(second.status).toBe('error');
			expect(sent().slice(20)).toStrictEqual(['p6']);
		},
	);

	test.each([401, 402, 403, 406, 429, 503])(
		'status %d stops what was not sent yet, and a Retry sends it',
		async (code) => {
			answers = { p6: status(code) };
			const first = await run(concurrency);
			const before = sent();
			const unsent = 20 - before.length;
			expect(unsent).toBeGreaterThanOrEqual(20 - 7 - concurrency);
			expect(first.error!.message).toMatch(/^1 of 20 videos failed: item 6 \(/);
			expect(first.error!.message).toContain(
				`). ${unsent} were not sent. ${19 - unsent} have gone on`,
			);
			answers = {};
			const second = await first.resume(retry);
			const again = code === 503 ? [] : ['p6'];
			expect(second.status).toBe(code === 503 ? 'error' : 'success');
			expect(byName(sent())).toStrictEqual(byName([...PROMPTS, ...again]));
		},
	);

	test('a lost connection stops what was not sent yet, and a Retry sends that, and nothing twice', async () => {
		answers = { p6: breakOff };
		const first = await run(concurrency);
		expect(first.error!.message).toMatch(
			/^1 of 20 videos failed: item 6 \(The connection .*\)\. \d+ were not sent\. \d+ have gone on/,
		);
		expect(first.error!.message).toContain(
			'Retry creates only what is missing, and pays only for that',
		);
		const second = await first.resume(retry);
		expect(byName(sent())).toStrictEqual(byName(PROMPTS));
		expect(second.error!.message).toMatch(/^1 of \d+ videos failed: item 6 \(/);
	});

	test('with On Error: Continue an item that is rejected has the error, and the others go on', async () => {
		answers = { p6: status(409), p7: breakOff, p8: status(401) };
		const { outputs } = await run(concurrency, { onError: 'continueErrorOutput' });
		expect(outputs[0]!.map(({ json: { task_id } }) => task_id)).toStrictEqual(
			others('p6', 'p7', 'p8').map((prompt) => `task-${prompt}`),
		);
		expect(outputs[1]!.map(({ json: { error } }) => error)).toMatchObject([
			FAILURE.moderated,
			expect.stringContaining(FAILURE.lost),
			FAILURE.badKey,
		]);
	});

	test('after 406 nothing more is asked, with On Error: Continue neither', async () => {
		answers = { p6: status(406) };
		const { outputs } = await run(concurrency, { onError: 'continueErrorOutput' });
		const unsent = 20 - sent().length;
		expect(unsent).toBeGreaterThanOrEqual(20 - 7 - concurrency);
		const errors = outputs[1]!.map(({ json: fields }) => fields);
		expect(errors).toHaveLength(unsent + 1);
		expect(errors[0]).toMatchObject({ error: FAILURE.noCredit });
		for (const each of errors.slice(1))
			expect(each).toMatchObject({
				error: `Not sent: ${FAILURE.noCredit}`,
				message: expect.stringContaining('Top up the account') as string,
			});
	});
});

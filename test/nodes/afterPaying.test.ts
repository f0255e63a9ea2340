import type { ServerResponse } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { dataTables } from '../support/dataTables';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach } from '../support/scriptedServer';

/** What a Retry costs, which a person reads before anything else that could be done. */
const ONLY_MISSING = 'Retry creates only what is missing, and pays only for that';
const NOT_AGAIN =
	'Retry does not send again what may exist, and costs nothing: look for it at the service first';
const PAYS_AGAIN = 'Retry sends again what may exist, and pays for it a second time';
const POLLS_REST = 'Retry polls only what is left, free of charge';
const POLLS = 'Retry polls again, free of charge';
const STAYS = 'Retry does not change what failed at the service, and costs nothing';

type Answer = (response: ServerResponse) => void;
const answer =
	(status: number, body: unknown = { error: { message: 'no', type: 'x' } }): Answer =>
	(response) => {
		json(response, status, body);
	};
const breakOff: Answer = (response) => {
	response.destroy();
};
const FAILED = answer(200, { status: 'failed', error_message: 'bad pixels' });
const GENERATING = answer(200, { status: 'processing' });

interface Row {
	readonly parameters?: IDataObject;
	readonly options?: IDataObject;
	/** What the service answers, by path and prompt or task, in place of a task, a completed video and its file. */
	readonly answers: Readonly<Record<string, Answer>>;
	/** What the error has to say of a Retry. */
	readonly retry: readonly string[];
	readonly prompts?: readonly string[];
}
const creation = (bad: Answer, ...retry: readonly string[]): Row => ({
	answers: { 'generations b': bad },
	retry,
});
const waiting = (answers: Row['answers'], ...retry: readonly string[]): Row => ({
	parameters: { waitUntilFinished: true },
	answers,
	retry,
});
const one = (row: Row): Row => ({ ...row, prompts: ['b'] });

const ROWS: readonly (readonly [what: string, row: Row])[] = [
	...[400, 401, 402, 403, 406, 409, 422, 429].map(
		(status) => [`a creation with ${status}`, creation(answer(status), ONLY_MISSING)] as const,
	),
	...[500, 502, 503].map(
		(status) => [`a creation with ${status}`, creation(answer(status), NOT_AGAIN)] as const,
	),
	['a creation whose connection breaks', creation(breakOff, NOT_AGAIN)],
	['the only creation, whose connection breaks', one(creation(breakOff, NOT_AGAIN))],
	[
		'the same, where it may be sent again',
		one({
			...creation(breakOff, PAYS_AGAIN),
			options: { retries: 0, retryOutcomeUnknown: true },
		}),
	],
	['a creation without an answer that can be read', creation(answer(200, {}), NOT_AGAIN)],
	[
		'a creation with the task of another one',
		creation(answer(200, { task_id: 'task-a' }), NOT_AGAIN),
	],
	['a video that fails', waiting({ 'tasks task-b': FAILED }, STAYS)],
	['the only video, which fails', one(waiting({ 'tasks task-b': FAILED }, STAYS))],
	['a video that is not finished in time', waiting({ 'tasks task-b': GENERATING }, POLLS_REST)],
	['the only video, which is late', one(waiting({ 'tasks task-b': GENERATING }, POLLS))],
	['a file that is gone', waiting({ 'cdn task-b': answer(410) }, POLLS_REST)],
	['the only file, which is gone', one(waiting({ 'cdn task-b': answer(410) }, POLLS))],
	['a poll that is rejected', waiting({ 'tasks task-b': answer(401) }, POLLS)],
	['a service that rejects a task', waiting({ 'tasks task-b': answer(404) }, POLLS_REST)],
	[
		'a creation without credit beside a video that fails',
		{
			...waiting(
				{ 'generations b': answer(406), 'tasks task-a': FAILED },
				STAYS,
				ONLY_MISSING,
			),
			prompts: ['a', 'b'],
		},
	],
];

let answers: Row['answers'];

const server = serverForEach((response, { path, body }) => {
	const { prompt, task_id } = (body ?? {}) as { prompt?: string; task_id?: string };
	const [, place = '', last = ''] = /([a-z]+)(?:\/(task-.*))?$/.exec(path) ?? [];
	const name = prompt ?? task_id ?? last;
	const given = answers[`${place} ${name}`];
	if (given) given(response);
	else if (place === 'generations') json(response, 200, { task_id: `task-${name}` });
	else if (place === 'tasks')
		json(response, 200, { status: 'completed', video_url: `${server.url}/cdn/${name}` });
	else {
		response.writeHead(200, { 'content-type': 'video/mp4' });
		response.end(sampleFile('video/mp4'));
	}
});

const environment = ({ prompts = ['a', 'b', 'c'] }: Row) => ({
	credential: { baseUrl: server.url, apiKey: 'k-secret' },
	tables: dataTables(),
	execution: { id: '11', token: 'token-1' },
	items: prompts.map((prompt) => ({ prompt })),
});
const parametersOf = ({ parameters, options }: Row): IDataObject => ({
	prompt: '={{ $json.prompt }}',
	...parameters,
	options: { retries: 0, maximumWait: 1, ...options },
});

/** What the person reads: n8n's toast, and then the rest. */
function checkText(error: Awaited<ReturnType<typeof runNode>>['error'], { retry }: Row): void {
	const { message, description = '' } = error!;
	for (const sentence of retry) expect(message).toContain(sentence);
	const others = retry.reduce((text, sentence) => text.replace(sentence, ''), message);
	expect(others).not.toMatch(/\bRetry\b|\b(run|execute|create|top up)\b.*again/i);
	// Retrying is not promised a second time, in other words, and paying for everything is the last remedy.
	expect(description).not.toMatch(/Retry;|Retry in a minute|run the workflow again/);
}

test.each(ROWS)('Create Video, %s', async (_what, row) => {
	answers = row.answers;
	const result = await withFakeTimers(
		async () =>
			await runNode('createVideo', { ...environment(row), parameters: parametersOf(row) }),
	);
	expect(result.status).toBe('error');
	checkText(result.error, row);
});

const ofWait = ROWS.filter(([, { parameters, answers: given }]) => {
	return parameters?.['waitUntilFinished'] === true && !('generations b' in given);
});

test.each(ofWait)('Wait for Video, %s', async (_what, row) => {
	answers = row.answers;
	const { items, ...more } = environment(row);
	const result = await withFakeTimers(
		async () =>
			await runNode('waitForVideo', {
				...more,
				items: items.map(({ prompt }) => ({ task_id: `task-${prompt}` })),
				parameters: { options: { maximumWait: 1, onFailed: 'fail' } },
			}),
	);
	expect(result.status).toBe('error');
	checkText(result.error, row);
});

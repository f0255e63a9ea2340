import type { INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { packageNode, runNode, runWorkflow, stubNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';
import { FAILURE } from '../support/failureTexts';

// What is known of the other tasks when an error ends polling.

type Answer = readonly [status: number, body: object];

const VIDEO = 'https://cdn.example/a.mp4';
const COMPLETE: Answer = [200, { status: 'completed', video_url: VIDEO }];
const PROCESSING: Answer = [200, { status: 'processing' }];
const MODERATED: Answer = [200, { status: 'failed', error_message: 'moderation' }];
const BAD_KEY: Answer = [401, { error: { message: 'bad key', type: 'invalid_request_error' } }];

/** The answers of each task, the last one forever. */
let answers: Readonly<Record<string, readonly Answer[]>>;
let asked: string[];
let onAsked: (taskId: string) => void;

const server = serverForEach((response, { body }) => {
	const { task_id } = body as { task_id: string };
	const nth = asked.filter((each) => each === task_id).length;
	asked.push(task_id);
	const list = answers[task_id]!;
	const [status, fields] = list[Math.min(nth, list.length - 1)]!;
	json(response, status, status === 200 ? { task_id, ...fields } : fields);
	onAsked(task_id);
});

beforeEach(() => {
	asked = [];
	onAsked = () => undefined;
});
afterEach(() => {
	jest.restoreAllMocks();
});

const ids = (...taskIds: readonly string[]) => taskIds.map((task_id) => ({ task_id }));
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });

async function wait({ parameters, ...more }: Partial<RunOptions> = {}) {
	return await withFakeTimers(
		async () =>
			await runNode('waitForVideo', {
				credential: credential(),
				items: ids(...Object.keys(answers)),
				...more,
				parameters: { download: false, ...parameters },
			}),
	);
}

describe('a lost video: message, advice and list say the same', () => {
	const parameters = { options: { maximumWait: 1, onFailed: 'fail' } };
	const LATE = 'Not finished after 60 seconds; the task may still complete';
	const GONE = 'The service does not know this task';
	const POLLS = 'Retry polls only what is left, free of charge';
	const STAYS = 'Retry does not change what failed at the service, and costs nothing';
	const NOT_FOUND: Answer = [404, { error: { message: 'no task', type: 'not_found_error' } }];

	test.each<
		[string, readonly Answer[], why: string, retry: string, advice: string, list: string]
	>([
		[
			...(['late', [PROCESSING], LATE, POLLS] as const),
			'Wait for Video gets a late video by its task ID, free of charge',
			`Tasks not finished in time: b: ${LATE}`,
		],
		[
			...(['unknown to the service', [NOT_FOUND], `${GONE}: no task`, POLLS] as const),
			'Check that Base URL and API key are those that the task was created with',
			`Tasks that the service rejects: b: ${GONE}: no task`,
		],
		[
			...(['moderated', [MODERATED], 'moderation', STAYS] as const),
			'Create what failed again from its item only, which is charged',
			'Tasks failed: b: moderation',
		],
	])('%s', async (_name, lost, why, retry, advice, list) => {
		answers = { a: [COMPLETE], b: lost };
		const { error } = await wait({ parameters });
		expect(error!.message).toBe(`1 of 2 videos failed: b (${why}). 1 has gone on: a. ${retry}`);
		const { description } = error!;
		expect(description).toMatch(/^To go on without them, set On Failed Videos to Send to /);
		expect(description).toContain(`free of charge. ${advice}. Executing the whole workflow`);
		expect(description).toMatch(/Idempotency Key\. Tasks completed: a \(http/);
		expect(description!.endsWith(`). ${list}.`)).toBe(true);
	});

	test('of several kinds: each list by itself, and a Retry that helps some', async () => {
		answers = { a: [COMPLETE], b: [MODERATED], c: [PROCESSING], d: [MODERATED] };
		const { error } = await wait({ parameters });
		expect(error!.message).toBe(
			`3 of 4 videos failed: b, d (moderation), c (${LATE}). 1 has gone on: a. ${STAYS}. ${POLLS}`,
		);
		expect(error!.description).toContain(
			`Tasks not finished in time: c: ${LATE}. Tasks failed: b, d: moderation.`,
		);
	});

	test('never created by an earlier node: a Retry of this node creates nothing', async () => {
		answers = { a: [COMPLETE] };
		const items = [...ids('a'), { error: 'Insufficient credit' }];
		const { error } = await wait({ items, parameters });
		expect(error!.message).toBe(
			'1 of 2 videos failed: item 1 (Insufficient credit). 1 has gone on: a. Retry does not change what was not created, and costs nothing',
		);
	});
});

describe('the key is rejected while one video is generating', () => {
	beforeEach(() => {
		answers = {
			a: [COMPLETE],
			b: [PROCESSING, BAD_KEY],
			c: [MODERATED],
		};
	});
	const NAMED = `Tasks completed: a (${VIDEO}). Tasks still generating: b. Tasks failed: c: moderation`;

	test('the error that fails the node names each task by its outcome, with the videos', async () => {
		const { error, outputs } = await wait();
		expect(error!.message).toContain(`${FAILURE.badKey}. `);
		expect(error!.description).toContain(NAMED);
		expect(outputs.flat()).toHaveLength(0);
	});

	test('On Error: Continue delivers what is finished, and fails the rest', async () => {
		const { outputs } = await wait({ onError: 'continueErrorOutput' });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a']);
		expect(idsOf(outputs[FAILED])).toStrictEqual(['c']);
		expect(outputs[ERROR]).toMatchObject([
			{
				json: { error: FAILURE.badKey, details: { task_id: 'b' } },
				pairedItem: { item: 1 },
			},
		]);
	});

	test('in Ask Once, too', async () => {
		answers = { a: [COMPLETE], b: [BAD_KEY], c: [MODERATED] };
		const once = { parameters: { waitMode: 'once' } };
		expect((await wait(once)).error!.description).toContain(NAMED);
		const { outputs } = await wait({ ...once, onError: 'continueErrorOutput' });
		expect(outputs.map(idsOf)).toStrictEqual([['a'], ['c'], [], [undefined]]);
	});

	test('the task ledger has what is known; the failed node has delivered nothing', async () => {
		const tables = dataTables();
		const rows = ['a', 'b', 'c'].map((task_id) => ({
			task_id,
			status: 'queued',
			sent_at: '2026-01-01T00:00:00.000Z',
			call: task_id,
		}));
		tables.insert(TASK_TABLE, ...rows);
		await wait({ tables });
		expect(tables.rows).toMatchObject([
			{ task_id: 'b', status: 'queued', finished_at: null },
			{
				task_id: 'a',
				status: 'open',
				video_url: VIDEO,
				finished_at: null,
				delivered_at: null,
			},
			{ task_id: 'c', status: 'failed', finished_at: expect.any(String) as string },
		]);
	});

	test.each(['continueErrorOutput', undefined] as const)(
		'in a later step of a suspended wait (On Error: %s)',
		async (onError) => {
			const node = packageNode('Wait', 'waitForVideo', {
				parameters: { download: false, waitMode: 'suspend' },
				...(onError && { onError }),
			});
			const nodes = [node, stubNode('Lost', (items) => items)];
			const items = ids('a', 'b', 'c');
			const wires = { Wait: [[], ['Lost']] };
			const first = await runWorkflow(nodes, wires, 'Wait', {
				credential: credential(),
				items,
			});
			expect(first.status).toBe('waiting');
			jest.spyOn(Date, 'now').mockReturnValue(first.run.waitTill!.getTime());
			const { outputs, error } = await first.resume();
			if (onError === undefined) expect(error!.description).toContain(NAMED);
			else expect(outputs.map(idsOf)).toStrictEqual([['a'], ['c'], [undefined]]);
		},
	);
});

test('a canceled execution delivers nothing, whatever On Error says', async () => {
	answers = { a: [COMPLETE], b: [PROCESSING] };
	let cancel: () => void = () => undefined;
	let polls = 0;
	onAsked = () => {
		if (++polls === 2)
			setTimeout(() => {
				cancel();
			}, 1_000);
	};
	const { status, outputs } = await wait({
		onError: 'continueErrorOutput',
		onStart: (stop) => (cancel = stop),
	});
	expect(status).toBe('canceled');
	// n8n passes the input on.
	expect(outputs.flat().map(({ json: fields }) => fields)).toStrictEqual(ids('a', 'b'));
});

test('the hint counts tasks, not items: two items have one task, one has none', async () => {
	answers = { a: [MODERATED], b: [COMPLETE] };
	const { run } = await wait({
		items: ids('a', 'a', 'b', ''),
		onError: 'continueErrorOutput',
	});
	const hint = run.data.resultData.runData['Tested']!.at(-1)!.hints!.at(-1);
	expect(hint!.message).toBe('1 finished, 1 failed, after 0 s, and items without a task ID');
});

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { packageNode, runNode, runWorkflow, stubNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, FAILED, GENERATING } from '../support/waitOutputs';

// What is kept of the texts that the service sends for a task.

const MEGABYTE = 1_000_000;
/** Characters that may be kept for one task. */
const BOUND = 60_000;

let answer: (nth: number) => object;

const server = serverForEach((response, { body }, nth) => {
	// The request for a file has no body.
	const { task_id } = (body ?? {}) as { task_id?: string };
	json(response, 200, { task_id, ...answer(nth) });
});

const long = (first: unknown = '') => `${String(first)}${'x'.repeat(MEGABYTE)}`;
const nested = (levels: number): object =>
	levels === 0 ? {} : { text: 'x'.repeat(100), deeper: nested(levels - 1) };
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const charactersOf = (value: unknown) => JSON.stringify(value).length;

async function wait({ parameters, ...more }: Partial<RunOptions> = {}) {
	return await withFakeTimers(
		async () =>
			await runNode('waitForVideo', {
				credential: { baseUrl: server.url, apiKey: 'k' },
				items: [{ task_id: 'a' }],
				...more,
				parameters: { download: false, ...parameters },
			}),
	);
}

/** Fields of a report, each of which is too much. */
const EXCESSIVE: readonly (readonly [string, () => object])[] = [
	['error_message', () => ({ error_message: long() })],
	['video_url', () => ({ video_url: `https://cdn.example/${long()}` })],
	['reason and error', () => ({ reason: long(), error: { message: long() } })],
	['other texts', () => Object.fromEntries([...Array(10).keys()].map((n) => [`f${n}`, long(n)]))],
	['many fields', () => Object.fromEntries([...Array(50_000).keys()].map((n) => [`f${n}`, n]))],
	['a long list', () => ({ list: Array(100_000).fill('x') })],
	['lists of lists', () => ({ list: Array(200).fill(Array(200).fill(Array(3).fill(1))) })],
	['many levels', () => ({ other: nested(90) })],
	['a long name', () => ({ [long()]: 1 })],
];

test.each(EXCESSIVE)('%s: a failed and a completed task keep a part', async (name, fields) => {
	for (const status of ['failed', 'completed']) {
		answer = () => ({ video_url: 'https://cdn.example/a.mp4', ...fields(), status });
		const tables = dataTables();
		tables.insert(TASK_TABLE, { task_id: 'a', status: 'queued', call: 'a' });
		const { outputs, run } = await wait({ tables });
		// Without its end a URL leads nowhere.
		const isWhole = name !== 'video_url';
		const [item] = outputs[status === 'completed' && isWhole ? COMPLETED : FAILED]!;
		expect(item!.json).toMatchObject({ task_id: 'a', status });
		expect(charactersOf(item)).toBeLessThan(BOUND);
		expect(charactersOf(run.data)).toBeLessThan(4 * BOUND);
		expect(charactersOf(tables.rows)).toBeLessThan(BOUND);
		// What cannot be delivered stays open.
		const completed = isWhole ? 'done' : 'open';
		expect(tables.rows[0]).toMatchObject({
			status: status === 'failed' ? 'failed' : completed,
		});
	}
});

test('a status of a megabyte, another one at each poll: the beginning of each is kept, none in messages', async () => {
	answer = (nth) => ({ status: long(nth) });
	const { outputs, chunks } = await wait({ streaming: true });
	const said = chunks.map(({ content }) => content ?? '').join(' ');
	const [{ json: fields } = { json: {} as IDataObject }] = outputs[FAILED]!;
	expect(fields).toMatchObject({ reason: 'timeout' });
	expect(charactersOf(fields)).toBeLessThan(BOUND);
	expect(fields['history']).toMatch(/, 1x{99}… [\d.]+ s,/);
	expect(said).toMatch(/1 generating/);
	expect(said).not.toMatch(/xx/);
});

test('the state of a suspended wait, and the answer of Ask Once, keep a part', async () => {
	answer = () => ({ status: long(), error_message: long() });
	const node = packageNode('Wait', 'waitForVideo', {
		parameters: { download: false, waitMode: 'suspend' },
	});
	const { run } = await runWorkflow([node, stubNode('Done', (items) => items)], {}, 'Wait', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ task_id: 'a' }],
	});
	expect(run.status).toBe('waiting');
	expect(charactersOf(run.data)).toBeLessThan(BOUND);
	const once = await wait({ parameters: { waitMode: 'once' } });
	expect(charactersOf(once.outputs[GENERATING])).toBeLessThan(BOUND);
});

test('a failed video of many says a part of its reason in the error', async () => {
	answer = () => ({ status: 'failed', error_message: long() });
	const items = [...Array(30).keys()].map((n) => ({ task_id: `t${n}` }));
	const { error } = await wait({ items, parameters: { options: { onFailed: 'fail' } } });
	expect(error!.message).toMatch(/^30 of 30 videos failed: t0, t1, t2 and 27 more \(x+/);
	expect(error!.message.length).toBeLessThan(1_000);
	expect(error!.description!.length).toBeLessThan(BOUND);
	for (const { task_id } of items) expect(error!.description).toContain(task_id);
	expect(error!.description).toMatch(/t29: x+/);
});

test('a URL that is too long is an error of its own; one with spaces around it is downloaded', async () => {
	answer = () => ({ status: 'completed', video_url: `${server.url}/${long()}` });
	const { outputs } = await wait({ parameters: { download: true } });
	expect(outputs[FAILED]).toMatchObject([
		{
			json: {
				reason: 'download',
				error_message: expect.stringMatching(
					/^The service returned a URL that is too long/,
				) as string,
			},
		},
	]);
	// Asked once more: the service may name another URL.
	const asked = ['/v1/videos/tasks', '/v1/videos/tasks'];
	expect(server.requests.map(({ path }) => path)).toStrictEqual(asked);
	answer = () => ({ status: 'completed', video_url: ` ${server.url}/a.mp4 ` });
	await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ task_id: 'a' }],
	});
	expect(server.requests.map(({ path }) => path)).toContain('/a.mp4');
});

describe('Create Video', () => {
	const create = async (more: Partial<RunOptions> = {}) =>
		await runNode('createVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { prompt: 'A lake' },
			...more,
		});

	test.each(EXCESSIVE)('%s: the output and the ledger keep a part', async (_name, fields) => {
		answer = () => ({ ...fields(), task_id: 'a', status: long(), model: long() });
		const tables = dataTables();
		const { outputs, run } = await create({ tables });
		expect(idsOf(outputs[0])).toStrictEqual(['a']);
		expect(charactersOf(run.data)).toBeLessThan(4 * BOUND);
		expect(charactersOf(tables.rows)).toBeLessThan(BOUND);
	});

	test('a task ID of a megabyte is none', async () => {
		answer = () => ({ task_id: long(), status: 'queued' });
		const { error } = await create();
		expect(error!.message).toMatch(/^Unexpected response/);
		expect(charactersOf(error!.description)).toBeLessThan(2_000);
	});
});

/** Task IDs that are names of fields that every object has. */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'length'];

test.each([NAMES, [...NAMES, ...Array.from({ length: 30 }, (_, nth) => `t${nth}`)]])(
	'task IDs may be names that every object has: created, in the ledger, collected, delivered (%#)',
	async (...taskIds) => {
		const tables = dataTables();
		answer = (nth) => ({ task_id: taskIds[nth], status: 'queued' });
		const items = taskIds.map((id) => ({ id }));
		const created = await runNode('createVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: {
				prompt: '={{ $json.id }}',
				options: { concurrency: 1, idempotencyKey: '={{ $json.id }}' },
			},
			items,
			tables,
		});
		expect(idsOf(created.outputs[0])).toStrictEqual(taskIds);

		answer = () => ({ status: 'completed', video_url: 'https://cdn.example/x.mp4' });
		const parameters = { tasks: 'ledger', options: { minimumAge: 0 } };
		const { error, outputs } = await wait({ tables, parameters });
		expect(error).toBeUndefined();
		expect(idsOf(outputs[COMPLETED]).sort()).toStrictEqual([...taskIds].sort());
		expect(outputs[COMPLETED]!.map(({ json: fields }) => fields['ledger'])).not.toContain(
			undefined,
		);
		expect(tables.rows.every((row) => row['finished_at'] !== null)).toBe(true);
	},
);

import type { IDataObject } from 'n8n-workflow';

import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { dataTables, type DataTables } from '../support/dataTables';
import { runNode, type RunResult } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { events, json, serverForEach } from '../support/scriptedServer';
import { COMPLETED } from '../support/waitOutputs';

/** Two credentials of one project. */
const OURS = 'k-ours';
const THEIRS = 'k-theirs';

let tables: DataTables;
/** Whether the service says that a task does not exist. */
let refused: boolean;

const server = serverForEach((response, { path, body }, index) => {
	const { task_id } = body as { task_id?: string };
	if (path === '/v1/videos/generations')
		json(response, 200, { task_id: `task-${index}`, status: 'queued', model: 'video-m1' });
	else if (path === '/v1/videos/tasks' && refused)
		json(response, 400, { error: { message: 'no such task' } });
	else if (path === '/v1/videos/tasks')
		json(response, 200, { task_id, status: 'completed', video_url: 'https://a.example/v' });
	else {
		const choice = { index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' };
		events(response, [{ session_id: `s-${index}`, choices: [choice] }, '[DONE]']);
	}
});

beforeEach(() => {
	tables = dataTables();
	refused = false;
});

async function run(name: string, parameters: IDataObject, apiKey: string, baseUrl = server.url) {
	return await runNode(name, { credential: { baseUrl, apiKey }, tables, parameters });
}
const say = async (apiKey: string, baseUrl?: string) =>
	await run(
		'superAssistant',
		{ appCode: 'demo-assistant', message: 'Hi', session: 'key', sessionKey: 'chat-1' },
		apiKey,
		baseUrl,
	);
const create = async (apiKey: string, options: IDataObject = { idempotencyKey: 'order 1' }) =>
	await run(
		'createVideo',
		{ model: { __rl: true, mode: 'id', value: 'video-m1' }, prompt: 'A kite', options },
		apiKey,
	);
const collect = async (apiKey: string, baseUrl?: string) =>
	await run(
		'waitForVideo',
		{ tasks: 'ledger', download: false, options: { minimumAge: 0 } },
		apiKey,
		baseUrl,
	);
const wait = async (apiKey: string, taskIds: readonly string[]) =>
	await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey },
		tables,
		items: taskIds.map((task_id) => ({ task_id })),
		parameters: { download: false },
	});
const hintsOf = ({ run: { data } }: Pick<RunResult, 'run'>) =>
	data.resultData.runData['Tested']![0]!.hints?.map(({ message }) => message);
const field = (name: string) =>
	server.requests.map(({ body }) => (body as Record<string, unknown>)[name]);
const rowsOf = (column: string) => tables.rows.filter((row) => column in row);

test('a session key of another account has another session', async () => {
	await say(OURS);
	await say(THEIRS);
	await say(OURS);
	await say(THEIRS);
	expect(field('session_id')).toStrictEqual([undefined, undefined, 's-0', 's-1']);
});

test('a session key at another host has another session', async () => {
	await say(OURS);
	await say(OURS, server.url.replace('127.0.0.1', 'localhost'));
	expect(field('session_id')).toStrictEqual([undefined, undefined]);
});

test.each(['/', '/v1', ' '])(
	'the spelling of the Base URL is no other account: %j',
	async (end) => {
		await say(OURS);
		await say(`${OURS}${end.trim() === '' ? ' ' : ''}`, `${server.url}${end}`);
		expect(field('session_id')).toStrictEqual([undefined, 's-0']);
	},
);

test('an Idempotency Key that another account has used is an error before anything is sent', async () => {
	await create(OURS);
	const { error } = await create(THEIRS);
	expect(error!.message).toMatch(
		/^Idempotency Key was used with another API key or Base URL: row \d+ of the data table agent_video_tasks$/,
	);
	expect(error!.description).toContain('Nothing was sent');
	expect(error!.description).toContain('column account');
	expect(server.requests).toHaveLength(1);
	const again = await create(OURS);
	expect(again.outputs[0]![0]!.json).toMatchObject({ task_id: 'task-0', reused: true });
});

test('a row whose account was cleared is that of every account, as after a change of the API key', async () => {
	await create(OURS);
	tables.edit(() => true, { account: '' });
	const { outputs } = await create(THEIRS);
	expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-0', reused: true });
});

test('a task that a person has made one of every key stays open if the service does not know it', async () => {
	tables.insert(TASK_TABLE, {
		task_id: 'task-old',
		account: '',
		call: '0 x y',
		workflow_id: 'test',
		sent_at: '2020-01-01T00:00:00.000Z',
	});
	refused = true;
	await withFakeTimers(async () => await collect(OURS));
	expect(rowsOf('task_id')).toMatchObject([{ status: 'open', finished_at: null }]);
});

test('each row has the host, and a hash in place of the key', async () => {
	await say(OURS);
	await create(OURS);
	const accounts = rowsOf('account').map((row) => String(row['account']));
	// A session and a task.
	expect(accounts).toHaveLength(2);
	expect(new Set(accounts).size).toBe(1);
	expect(accounts[0]).toMatch(
		new RegExp(`^${new URL(server.url).host} [\\w-]{43}$`.replaceAll('.', '\\.')),
	);
	expect(JSON.stringify(tables.rows)).not.toContain(OURS);
});

test('a table of an older version is reported with the column to add', async () => {
	const { account, ...columns } = SESSION_TABLE.columns as Record<string, 'string' | 'date'>;
	expect(account).toBe('string');
	tables.insert({ name: SESSION_TABLE.name, columns }, { session_key: 'chat-1' });
	const { error } = await say(OURS);
	expect(error!.message).toContain('It needs also account (string): add them.');
	expect(server.requests).toHaveLength(0);
});

test('a wait with another account leaves the row of a task as it is', async () => {
	await create(OURS, {});
	const [before] = rowsOf('task_id');
	refused = true;
	await withFakeTimers(async () => await wait(THEIRS, ['task-0']));
	expect(rowsOf('task_id')).toStrictEqual([before]);
	await withFakeTimers(async () => await wait(OURS, ['task-0']));
	expect(rowsOf('task_id')).toMatchObject([{ status: 'open' }]);
});

test('a wait for many tasks replaces the rows of its own account alone', async () => {
	const ids = Array.from({ length: 25 }, (_, index) => `t-${index}`);
	for (const apiKey of [OURS, THEIRS]) {
		const account = accountOf(readCredential({ baseUrl: server.url, apiKey }));
		tables.insert(TASK_TABLE, ...ids.map((task_id) => ({ task_id, account, call: task_id })));
	}
	tables.insert(TASK_TABLE, { task_id: 't-0', account: '', call: 'other' });
	await wait(OURS, ids);
	const finished = rowsOf('task_id').filter((row) => row['finished_at'] !== null);
	const theirs = accountOf(readCredential({ baseUrl: server.url, apiKey: THEIRS }));
	expect(finished).toHaveLength(26);
	expect(finished.map((row) => row['account'])).not.toContain(theirs);
});

test.each([
	['another API key', THEIRS, '127.0.0.1'],
	['another host', OURS, 'localhost'],
])(
	'tasks of %s are named, and collected once their account is cleared',
	async (_name, key, host) => {
		await create(OURS, {});
		const baseUrl = server.url.replace('127.0.0.1', host);
		const none = await collect(key, baseUrl);
		expect(none.outputs.flat()).toStrictEqual([]);
		expect(hintsOf(none)).toStrictEqual([
			expect.stringMatching(
				/^Open tasks of another API key or Base URL: task-0\. .*clear account in their rows/,
			),
			'No open tasks of the workflow',
		]);
		const [row] = rowsOf('task_id');
		tables.drop(TASK_TABLE.name);
		tables.insert(TASK_TABLE, { ...row, account: '' });
		const some = await collect(key, baseUrl);
		expect(some.outputs[COMPLETED]!.map((item) => item.json['task_id'])).toStrictEqual([
			'task-0',
		]);
	},
);

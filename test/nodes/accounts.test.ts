import type { IDataObject } from 'n8n-workflow';

import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { bodyOf } from '../support/chatReplies';
import { idsOf, reject, videoService } from '../support/createdVideos';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json } from '../support/scriptedServer';
import { COMPLETED } from '../support/waitOutputs';

/** Two API keys of one project. */
const OURS = 'k-ours';
const THEIRS = 'k-theirs';

const service = videoService();
const { server } = service;
let sessions: number;

beforeEach(() => {
	sessions = 0;
	service.answers = {
		'/v1/chat/completions': (response) => {
			const reply = bodyOf({ content: 'Hello' });
			json(response, 200, { session_id: `s-${sessions++}`, ...reply });
		},
	};
});

const credentialOf = (apiKey: string, baseUrl = server.url) => ({
	credential: { baseUrl, apiKey },
});
const say = async (...whose: Parameters<typeof credentialOf>) =>
	await runNode('superAssistant', {
		...service.environment(),
		...credentialOf(...whose),
		parameters: { appCode: 'demo', message: 'Hi', session: 'key', sessionKey: 'chat-1' },
	});
const create = async (apiKey: string, options: IDataObject = { idempotencyKey: 'order 1' }) =>
	await service.create(['A kite'], options, credentialOf(apiKey));
const COLLECTS = { tasks: 'ledger', download: false, options: { minimumAge: 0 } };
const collect = async (...whose: Parameters<typeof credentialOf>) =>
	await service.wait([{}], COLLECTS, credentialOf(...whose));
const wait = async (apiKey: string, taskIds: readonly string[]) => {
	const items = taskIds.map((task_id) => ({ task_id }));
	return await service.wait(items, { download: false }, credentialOf(apiKey));
};
const sessionIds = () =>
	server.requests.map(({ body }) => (body as { session_id?: string }).session_id);
const taskRows = () => service.tables.rows.filter((row) => 'task_id' in row);

describe('a session key has another session', () => {
	test('of another account', async () => {
		for (const apiKey of [OURS, THEIRS, OURS, THEIRS]) await say(apiKey);
		expect(sessionIds()).toStrictEqual([undefined, undefined, 's-0', 's-1']);
	});

	test('at another host', async () => {
		await say(OURS);
		await say(OURS, server.url.replace('127.0.0.1', 'localhost'));
		expect(sessionIds()).toStrictEqual([undefined, undefined]);
	});

	test.each(['/', '/v1', ' '])('but not by the spelling of the Base URL: %j', async (end) => {
		await say(OURS);
		await say(`${OURS}${end.trim() === '' ? ' ' : ''}`, `${server.url}${end}`);
		expect(sessionIds()).toStrictEqual([undefined, 's-0']);
	});
});

test('an Idempotency Key that another account has used is an error, until its account is cleared', async () => {
	await create(OURS);
	const { error } = await create(THEIRS);
	expect(error!.message).toBe('Idempotency Key was used with another API key or Base URL');
	expect(error!.description).toMatch(
		/^Nothing was sent.* column account of row \d+ of the data table agent_video_tasks$/,
	);
	const again = await create(OURS);
	// As after a change of the API key.
	service.tables.edit(() => true, { account: '' });
	const cleared = await create(THEIRS);
	for (const { outputs } of [again, cleared])
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-A kite', reused: true });
	expect(server.requests).toHaveLength(1);
});

test('a task that a person has made one of every key stays open if the service does not know it', async () => {
	service.restore([
		{
			task_id: 'old',
			account: '',
			call: '0 x y',
			workflow_id: 'test',
			sent_at: '2020-01-01T00:00:00.000Z',
		},
	]);
	service.answers = { old: reject(400) };
	await withFakeTimers(async () => await collect(OURS));
	expect(taskRows()).toMatchObject([{ status: 'open', finished_at: null }]);
});

test('each row has the host, and a hash in place of the key', async () => {
	await say(OURS);
	await create(OURS);
	const [ofSession, ofTask, ...more] = service.tables.rows.map((row) => String(row['account']));
	expect(more).toStrictEqual([]);
	expect(ofSession).toBe(ofTask);
	expect(ofSession).toMatch(
		new RegExp(`^${new URL(server.url).host} [\\w-]{43}$`.replaceAll('.', '\\.')),
	);
	expect(JSON.stringify(service.tables.rows)).not.toContain(OURS);
});

test('a wait with another account leaves the row of a task as it is', async () => {
	await create(OURS, {});
	const before = taskRows();
	service.answers = { 'task-A kite': reject(400) };
	await withFakeTimers(async () => await wait(THEIRS, ['task-A kite']));
	expect(taskRows()).toStrictEqual(before);
	await withFakeTimers(async () => await wait(OURS, ['task-A kite']));
	expect(taskRows()).toMatchObject([{ status: 'open' }]);
});

test('a wait for many tasks replaces the rows of its own account alone', async () => {
	const ids = Array.from({ length: 12 }, (_, index) => `t-${index}`);
	const [ours, theirs] = [OURS, THEIRS].map((apiKey) =>
		accountOf(readCredential(credentialOf(apiKey).credential)),
	) as [string, string];
	service.restore([
		...[ours, theirs].flatMap((account) =>
			ids.map((task_id) => ({ task_id, account, call: task_id })),
		),
		{ task_id: 't-0', account: '', call: 'other' },
	]);
	await wait(OURS, ids);
	const finished = taskRows().filter((row) => row['finished_at'] !== null);
	expect(finished).toHaveLength(ids.length + 1);
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
		expect(none.hints).toStrictEqual([
			expect.stringMatching(
				/^Open tasks of another API key or Base URL: task-A kite\. .*clear account in their rows/,
			),
			'No open tasks of this API key in the workflow',
		]);
		service.tables.edit(() => true, { account: '' });
		const some = await collect(key, baseUrl);
		expect(idsOf(some.outputs[COMPLETED])).toStrictEqual(['task-A kite']);
	},
);

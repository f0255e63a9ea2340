// @seconds 15
import { outputItems } from '../../lab/n8n/execution';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { LEDGER } from './support/ledger';
import { createAtOnce, keyedWorkflow } from './support/keyedVideos';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 4 });
	await session.client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

const rowsOf = async (key: string) =>
	((await session.client.dataTableRows(LEDGER)) ?? []).filter(
		(row) => row['idempotency_key'] === key,
	);

it.each([2, 10])(
	'%i executions at the same moment create one video, and all get its task',
	async (count) => {
		const key = `order of ${count}`;
		const path = `keyed-${count}`;
		const ref = await session.client.importWorkflow(keyedWorkflow(path));
		await session.client.activate(ref);
		const items = await createAtOnce(session, ref, `${session.n8n.url}/webhook/${path}`, {
			key,
			count,
		});

		const [task, ...others] = session.emulator.tasks.all.filter(({ video }) =>
			video.prompt.includes(key),
		);
		expect(others).toStrictEqual([]);
		expect(items.map(({ task_id: id }) => id)).toStrictEqual(Array(count).fill(task!.id));
		expect(items.filter(({ reused }) => reused === true)).toHaveLength(count - 1);
		expect(await rowsOf(key)).toMatchObject([{ task_id: task!.id, status: 'open' }]);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'a schedule that repeats its items creates the videos of new keys only',
	async () => {
		const { client, emulator } = session;
		emulator.journal.clear();
		const ref = await client.importWorkflow(keyedWorkflow('keyed-again'));
		const round = async () => {
			const id = await client.run(ref, 'Every Hour');
			const execution = await client.waitForExecution(id);
			return outputItems(execution, 'Create Video').map(({ json }) => json);
		};
		const first = await round();
		const second = await round();
		expect(second.map(({ task_id: id }) => id)).toStrictEqual(
			first.map(({ task_id: id }) => id),
		);
		expect(first.map(({ reused }) => reused)).toStrictEqual([undefined, undefined]);
		expect(second.map(({ reused }) => reused)).toStrictEqual([true, true]);
		expect(emulator.journal.of('/v1/videos/generations')).toHaveLength(2);
	},
	RUN_LIMIT_MS,
);

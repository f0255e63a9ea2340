import type { ServerResponse } from 'node:http';

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

let tables: DataTables;
/** What the service does with the first creations, by prompt; it creates a task for every other. */
let answers: Record<string, ((response: ServerResponse) => void)[]>;
let created: number;

const server = serverForEach((response, { body }) => {
	const answer = answers[promptOf(body)]?.shift();
	if (answer) answer(response);
	else json(response, 200, { task_id: `task-${(created += 1)}`, model: 'video-m1' });
});

beforeEach(() => {
	tables = dataTables();
	answers = {};
	created = 0;
});

const promptOf = (body: unknown) => (body as { prompt: string }).prompt;
const reject = (response: ServerResponse) => {
	json(response, 400, { error: { message: 'no', type: 'x' } });
};
const breakOff = (response: ServerResponse) => {
	response.destroy();
};

const parametersOf = (options: IDataObject): IDataObject => ({
	model: { __rl: true, mode: 'id', value: 'video-m1' },
	prompt: '={{ $json.prompt }}',
	waitUntilFinished: false,
	options: { retries: 0, concurrency: 1, ...options },
});

async function run(
	prompts: readonly string[],
	options: IDataObject = {},
	{ type = 'createVideo', ...more }: Partial<RunOptions> & { readonly type?: string } = {},
): Promise<RunResult> {
	return await runNode(type, {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		tables,
		execution: { id: '11', token: 'token-1' },
		items: prompts.map((prompt) => ({ prompt })),
		parameters: parametersOf(options),
		...more,
	});
}
const retry = (id = '12') => ({ execution: { id, token: 'token-1', isRetry: true } });
const sent = () => server.requests.map(({ body }) => promptOf(body));
const rowsOf = () =>
	tables.rows.map(({ prompt, status }) => `${String(prompt)} ${String(status)}`).sort();
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);

describe('Retry On Fail in a retry', () => {
	test('does not repeat its own call whose outcome is unknown', async () => {
		answers = { a: [breakOff] };
		const { status, error } = await run(['a'], {}, { ...retry(), retryOnFail: true });
		expect(status).toBe('error');
		expect(error!.message).toContain('The connection to the service was lost');
		expect(sent()).toStrictEqual(['a']);
		expect(rowsOf()).toStrictEqual(['a sent']);
	});

	test('writes each row once', async () => {
		answers = { b: [reject, reject] };
		await run(['a'], {});
		await run(['a', 'c', 'b'], {}, { ...retry(), retryOnFail: true });
		expect(sent()).toStrictEqual(['a', 'c', 'b', 'b', 'b']);
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});
});

describe('Retry If Outcome Is Unknown with Retry On Fail', () => {
	test.each([
		['without a key', {}],
		['with a key', { idempotencyKey: '={{ $json.prompt }}' }],
	])('%s: the row of the call that was sent again goes', async (_name, more) => {
		answers = { a: [breakOff], b: [reject, reject] };
		const options = { retries: 0, retryOutcomeUnknown: true, ...more };
		const first = await run(['a', 'b'], options, { retryOnFail: true });
		expect(first.status).toBe('error');
		expect(sent().filter((prompt) => prompt === 'a')).toHaveLength(2);
		expect(rowsOf()).toStrictEqual(['a open']);
		const second = await run(['a', 'b'], options, retry());
		expect(idsOf(second.outputs[0])).toStrictEqual(['task-1', 'task-2']);
		expect(sent().filter((prompt) => prompt === 'a')).toHaveLength(2);
	});
});

test('a connection that was never made leaves no row', async () => {
	// No connection to this address is possible, on no machine.
	const credential = { baseUrl: 'http://255.255.255.255', apiKey: 'k' };
	const { error } = await run(['a'], {}, { credential });
	expect(error!.message).toContain('Could not connect to the service');
	expect(rowsOf()).toStrictEqual([]);
});

test('the same video of a round that the retry does not repeat is not given to another round', async () => {
	answers = {
		a: [
			(response) => {
				json(response, 200, { task_id: 'task of round 1', model: 'video-m1' });
			},
			reject,
		],
	};
	let rounds = 0;
	const loop = stubNode('Loop', (items) => {
		rounds += 1;
		return rounds === 1 ? [items.map(() => ({ json: { prompt: 'a' } })), []] : [[], items];
	});
	const parameters = parametersOf({});
	const create = packageNode('Create', 'createVideo', { parameters });
	const first = await runWorkflow(
		[create, loop],
		{ Create: [['Loop']], Loop: [['Create'], []] },
		'Create',
		{
			credential: { baseUrl: server.url, apiKey: 'k-secret' },
			tables,
			execution: { id: '11', token: 'token-1' },
			items: [{ prompt: 'a' }],
		},
	);
	expect(first.status).toBe('error');
	const second = await first.resume(retry().execution);
	expect(second.status).toBe('success');
	expect(sent()).toStrictEqual(['a', 'a', 'a']);
	expect(idsOf(second.outputs[0])).toStrictEqual(['task-1']);
});

test('a call whose place told nothing is known where the place tells it', async () => {
	// A sub-workflow whose caller was retried, and that is retried by itself then.
	await run(['a', 'b']);
	const rows = tables.rows.map((row) => ({
		...row,
		call: String(row['call']).replace(/^0/, '-1'),
	}));
	tables = dataTables();
	tables.insert(TASK_TABLE, ...rows);
	const { outputs } = await run(['a', 'b'], {}, retry());
	expect(idsOf(outputs[0])).toStrictEqual(['task-1', 'task-2']);
	expect(sent()).toStrictEqual(['a', 'b']);
});

test('without a ledger a retry knows the calls of each run of the node', async () => {
	answers = { b: [breakOff], d: [breakOff] };
	const parameters = parametersOf({ taskLedger: false });
	const nodes = [
		stubNode('If', () => [
			['a', 'b'].map((prompt) => ({ json: { prompt } })),
			['c', 'd'].map((prompt) => ({ json: { prompt } })),
		]),
		packageNode('Create', 'createVideo', { parameters }),
	];
	const first = await runWorkflow(nodes, { If: [['Create'], ['Create']] }, 'If', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		execution: { id: '11', token: 'token-1' },
	});
	expect(first.status).toBe('error');
	const second = await first.resume(retry().execution);
	expect(second.error!.description).toContain('so the call is not sent again');
	expect(sent().sort()).toStrictEqual(['a', 'b', 'c', 'd']);
});

test('the workflow keeps which ledger it uses, though an execution in the editor has found the table before', async () => {
	await run(['a']);
	const { staticData } = await run(['b']);
	const kept = { agent_video_tasks: expect.stringMatching(/^table-/) as string };
	expect(staticData).toMatchObject({ global: { agentVideoTables: kept } });
});

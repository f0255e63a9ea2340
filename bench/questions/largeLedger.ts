import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { startN8n } from '../../lab/n8n/startN8n';
import { postgresSettings } from '../../lab/n8n/startQueue';
import { Running } from '../../lab/services/Running';
import { startPostgres } from '../../lab/services/startPostgres';
import { node, workflow } from '../../test/e2e/support/buildWorkflow';
import { exactFigure } from '../measure/figure';
import { watchProcess } from '../measure/watchProcess';
import { credentialsFor } from '../n8n/credentials';
import { modelById, ourNode, splitItems, webhook } from '../n8n/nodes';
import { connectInstance, LARGE_PAYLOADS, nodeMs, type N8nInstance } from '../n8n/startInstance';
import type { Bench, Question, Row } from '../question';
import { startEmulatorProcess } from '../server/startEmulatorProcess';
import { MEASURED_NODE, prompts } from './chatContenders';

const ROWS = { full: 100_000, quick: 5_000 };
const VIDEOS = { full: 500, quick: 50 };
/** Rows that n8n inserts at once. */
const PART = 10_000;
const COLLECTED = 50;

const DATABASES = ['SQLite', 'PostgreSQL'] as const;

export const LARGE_LEDGER: Question = {
	id: 'large-ledger',
	title: 'Large task ledger',
	method: `The ledger is empty, or has 100,000 rows of open tasks of this month and of another workflow (quick run: 5,000). One node creates 500 videos (quick
run: 50) without a ledger, then with an Idempotency Key, once more with the same keys, creates others within a Maximum Cost of the month, and
collects ${COLLECTED} open tasks of the project. Time is the execution time of the node; memory is the peak of n8n's resident set minus its size before.`,
	run: async (bench) => {
		const emulator = await startEmulatorProcess([]);
		try {
			const rows: Row[] = [];
			for (const database of DATABASES)
				rows.push(...(await measure(bench, emulator.url, database)));
			return {
				columns: [
					{ key: 'emptyMs', title: 'empty ledger: time (ms)', digits: 0 },
					{ key: 'ms', title: 'large ledger: time (ms)', digits: 0 },
					{ key: 'emptyMb', title: 'empty ledger: memory (MB)', digits: 0 },
					{ key: 'mb', title: 'large ledger: memory (MB)', digits: 0 },
				],
				rows,
				ratios: [],
			};
		} finally {
			await emulator.stop();
		}
	},
};

async function measure(
	bench: Bench,
	serverUrl: string,
	database: (typeof DATABASES)[number],
): Promise<readonly Row[]> {
	const running = new Running();
	try {
		bench.onProgress(`${database}: starting n8n`);
		const n8n = running.keep(
			await startN8n({
				settings: {
					...LARGE_PAYLOADS,
					// Its default is too small for so many rows.
					N8N_DATA_TABLES_MAX_SIZE_BYTES: String(2 ** 30),
					...(database === 'PostgreSQL' &&
						postgresSettings(running.keep(await startPostgres(bench.onProgress)))),
				},
			}),
		);
		const instance = await connectInstance(n8n, serverUrl);
		const count = bench.quick ? VIDEOS.quick : VIDEOS.full;
		const steps = await prepare(instance);
		const run = async (name: string) => {
			bench.onProgress(`${database}: ${name}`);
			return await runSteps(instance, steps, count, name);
		};
		// All code has run then, and the table exists.
		await run('warm-up');
		const empty = await run('empty');
		await seed(n8n.url, serverUrl, bench.quick ? ROWS.quick : ROWS.full);
		const large = await run('large');
		return empty.map(({ step, ms, mb }, index) => ({
			contender: `${step}, ${database}`,
			figures: {
				emptyMs: exactFigure(ms),
				emptyMb: exactFigure(mb),
				ms: exactFigure(large[index]!.ms),
				mb: exactFigure(large[index]!.mb),
			},
		}));
	} finally {
		await running.stop();
	}
}

type Steps = Awaited<ReturnType<typeof prepare>>;

async function prepare(n8n: N8nInstance) {
	const install = async (name: string, type: string, parameters: object) => {
		const nodes = [
			webhook(name, 'lastNode'),
			splitItems(),
			ourNode(MEASURED_NODE, type, parameters),
		];
		return await n8n.install(workflow(name, nodes), name);
	};
	const create = async (name: string, options: object) =>
		await install(name, 'createVideo', {
			prompt: '={{ $json.prompt }}',
			model: modelById('video-m1'),
			options,
		});
	return {
		bare: await create('bare', { taskLedger: false }),
		keyed: await create('keyed', {
			idempotencyKey: '={{ $json.prompt }}',
			pricePerSecond: 0.1,
		}),
		limited: await create('limited', {
			pricePerSecond: 0.1,
			maximumCost: 1_000_000,
			limitPeriod: 'month',
		}),
		collect: await install('collect', 'waitForVideo', {
			tasks: 'ledger',
			ledgerTasks: 'project',
			waitMode: 'once',
			download: false,
			options: { minimumAge: 0, maximumTasks: COLLECTED },
		}),
	};
}

async function runSteps({ pid }: N8nInstance, steps: Steps, count: number, name: string) {
	const { items } = prompts(count);
	const body = {
		items: items.map((item) => ({
			prompt: `${name}: ${(item as { prompt: string }).prompt}`,
		})),
	};
	const measured = [
		[`${count} videos without a ledger`, steps.bare],
		[`${count} videos with keys`, steps.keyed],
		[`the same ${count} keys again`, steps.keyed],
		[`${count} videos within a Maximum Cost of the month`, steps.limited],
		[`collecting ${COLLECTED} tasks`, steps.collect],
	] as const;
	const results = [];
	for (const [step, call] of measured) {
		const { result, usage } = await watchProcess(pid, async () => await call(body));
		results.push({
			step,
			ms: nodeMs(result, MEASURED_NODE),
			mb: usage.peakMb - usage.beforeMb,
		});
	}
	return results;
}

/** Inserts rows of open tasks, each as long as one that the node writes. */
async function seed(n8nUrl: string, serverUrl: string, count: number): Promise<void> {
	const client = await N8nClient.signIn(n8nUrl);
	const account = accountOf(
		readCredential(credentialsFor(serverUrl)[0]!.data as ICredentialDataDecryptedObject),
	);
	const rows = {
		status: 'open',
		model: 'video-m1',
		prompt: 'A lighthouse at dawn, waves breaking slowly. '.repeat(4),
		estimated_cost: 0.5,
		workflow_id: 'another',
		details: '{"request":{}}',
		account,
	};
	const ref = await client.importWorkflow(
		workflow('Seed', [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Rows', 'n8n-nodes-base.code', 2, {
				parameters: {
					jsCode: `return Array.from({ length: ${PART} }, (_, index) => ({ json: { ...${JSON.stringify(rows)}, task_id: 'seed-' + $now.toMillis() + index, idempotency_key: 'seed-' + $now.toMillis() + index, call: '0 ' + 'f'.repeat(150) + index, sent_at: $now.toISO() } }));`,
				},
			}),
			node('Insert', 'n8n-nodes-base.dataTable', 1.1, {
				parameters: {
					operation: 'insert',
					dataTableId: { __rl: true, mode: 'name', value: TASK_TABLE.name },
					columns: { mappingMode: 'autoMapInputData', value: {} },
					options: { optimizeBulk: true },
				},
			}),
		]),
	);
	for (let left = count; left > 0; left -= PART)
		await client.waitForExecution(await client.run(ref, 'Start'));
}

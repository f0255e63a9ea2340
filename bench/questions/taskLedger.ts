import { workflow } from '../../test/e2e/support/buildWorkflow';
import { modelById, ourNode, splitItems, webhook } from '../n8n/nodes';
import { nodeMs, withInstance, type N8nInstance } from '../n8n/startInstance';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { watchProcess } from '../measure/watchProcess';
import type { Bench, Question, Ratio, Result, Row } from '../question';
import { startEmulatorProcess } from '../server/startEmulatorProcess';
import { MEASURED_NODE, prompts } from './chatContenders';

/** A run at 200 ms takes 8 s, nearly all of which is waiting: its time varies little, and all code has run before. */
const LATENCIES = [
	{ delayMs: 0, warmUps: 4, repeats: 9 },
	{ delayMs: 200, warmUps: 0, repeats: 3 },
	// What real services take.
	{ delayMs: 1_000, warmUps: 0, repeats: 3 },
] as const;
const COUNT = { full: 200, quick: 40 };
const LEDGERS = [
	{ contender: 'Create Video with the task ledger (default)', id: 'on', taskLedger: true },
	{ contender: 'Create Video, Task Ledger off', id: 'off', taskLedger: false },
] as const;

export const TASK_LEDGER: Question = {
	id: 'task-ledger',
	title: 'Task ledger',
	method: `One node creates 200 videos (quick run: 40), with and without the task ledger; the emulator replies at once, after 200 ms, or after a second.
The columns are those of [Many chats](#many-chats).`,
	run: async (bench) => {
		// Each latency has prompts of its own, which the delay recognizes.
		const emulator = await startEmulatorProcess(
			LATENCIES.map(({ delayMs: ms }) => ({
				kind: 'delay',
				ms,
				path: '/v1/videos/generations',
				contains: `after ${ms} ms`,
				count: Number.MAX_SAFE_INTEGER,
			})),
		);
		try {
			return await withInstance(emulator.url, (n8n) => measure(n8n, bench));
		} finally {
			await emulator.stop();
		}
	},
};

async function measure(n8n: N8nInstance, bench: Bench): Promise<Result> {
	const count = bench.quick ? COUNT.quick : COUNT.full;
	let rows: readonly Row[] = LEDGERS.map(({ contender }) => ({ contender, figures: {} }));
	for (const { delayMs, warmUps, repeats } of LATENCIES) {
		bench.onProgress(`${count} videos, ${delayMs} ms`);
		const calls = [];
		for (const { id, taskLedger } of LEDGERS) {
			const path = `ledger-${id}-${delayMs}`;
			const create = ourNode(MEASURED_NODE, 'createVideo', {
				prompt: `={{ $json.prompt }} Reply after ${delayMs} ms`,
				model: modelById('video-m1'),
				options: { taskLedger },
			});
			const nodes = [webhook(path, 'lastNode'), splitItems(), create];
			calls.push(await n8n.install(workflow(path, nodes), path));
		}
		const measured = await interleave(
			calls,
			repeats,
			async (call) => {
				const { result, usage } = await watchProcess(n8n.pid, () => call(prompts(count)));
				return { wall: nodeMs(result, MEASURED_NODE), cpu: usage.cpuMs };
			},
			warmUps,
		);
		const figures = await Promise.all(measured.map(toFigures));
		rows = rows.map((row, index) => {
			const { wall, cpu } = figures[index]!;
			const added = { [`wall${delayMs}`]: wall, [`cpu${delayMs}`]: cpu };
			return { ...row, figures: { ...row.figures, ...added } };
		});
	}
	return {
		columns: COLUMNS,
		rows,
		ratios: COLUMNS.map((column) => ratio(column, rows)),
	};
}

function ratio({ key, label }: (typeof COLUMNS)[number], [on, off]: readonly Row[]): Ratio {
	return {
		id: `task-ledger-${key}`,
		label: `${label}, with the task ledger vs. without`,
		value: on!.figures[key]!.median / off!.figures[key]!.median,
		reason: 'every creation is written to a data table before it is sent, and again with its answer',
	};
}

const COLUMNS = [
	{ key: 'wall0', label: 'wall time at 0 ms', title: 'wall time at 0 ms (ms)', digits: 0 },
	{ key: 'cpu0', label: 'CPU at 0 ms', title: 'CPU at 0 ms (ms)', digits: 0 },
	{ key: 'wall200', label: 'wall time at 200 ms', title: 'wall time at 200 ms (ms)', digits: 0 },
	{ key: 'cpu200', label: 'CPU at 200 ms', title: 'CPU at 200 ms (ms)', digits: 0 },
	{ key: 'wall1000', label: 'wall time at 1 s', title: 'wall time at 1 s (ms)', digits: 0 },
	{ key: 'cpu1000', label: 'CPU at 1 s', title: 'CPU at 1 s (ms)', digits: 0 },
];

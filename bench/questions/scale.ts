import { pollTasks } from '../../nodes/client/video/pollTasks';
import { fakeClock } from '../../test/support/fakeClock';
import { nodeMs, spanMs, withInstance, type N8nInstance } from '../n8n/startInstance';
import { exactFigure, toFigure } from '../measure/figure';
import { watchProcess } from '../measure/watchProcess';
import { measuredOf, type Bench, type Question, type Ratio, type Row } from '../question';
import { TaskRuns } from '../server/taskRuns';
import { withBranch } from './agentLoop';
import { CHAT_CONTENDERS, MEASURED_NODE, prompts, type ChatContender } from './chatContenders';
import { finishTimes, REALISTIC, taskIds, waitingFor } from './taskPlan';
import { measureWorkers, WORKERS_METHOD, type WorkersPoint } from './workers';

const ITEMS = { full: [10, 100, 1_000, 10_000], quick: [10, 100, 500] };
const TASKS = { full: [10, 100, 500, 5_000], quick: [10, 100, 500] };
const CALLS = { full: [10, 100, 1_000], quick: [10, 100] };
const WARM_UPS = { full: 8, quick: 3 };
const WARM_UP_ITEMS = 200;
/** Duration of a poll on the virtual clock; without it, all tasks would be due at the same time. */
const POLL_MS = 5;

interface Point {
	readonly series: string;
	readonly count: number;
	readonly ms: number;
	readonly mb?: number;
}

const NODES: readonly ChatContender[] = [CHAT_CONTENDERS.ours, CHAT_CONTENDERS.httpUnlimited];

export const SCALE: Question = {
	id: 'scale',
	title: 'Scale',
	method: `Items: one node processes 10 to 10,000 items (quick run: up to 500). Time is its execution time; memory (full runs only) the
peak of n8n's resident set minus its size before, in a new n8n for each contender. Calls: a conversation with 10 to 1,000
tool calls (quick run: up to 100), one in each round, through one Set node. Tasks: the scheduler of Wait for Video polls 10
to 5,000 tasks (quick run: up to 500) on a virtual clock on which a poll takes ${POLL_MS} ms; the time is its CPU time. *Growth* is the
time per item at the largest size divided by that at the next smaller one: 1 is linear. ${WORKERS_METHOD}`,
	run: async (bench) => {
		const points: Point[] = [];
		for (const contender of measuredOf(NODES, bench)) {
			bench.onProgress(contender.name);
			const measure = (n8n: N8nInstance) => itemPoints(n8n, bench, contender);
			points.push(
				...(bench.quick
					? await measure(await bench.n8n())
					: await withInstance(bench.server.url, measure)),
			);
		}
		if (!bench.guard) {
			bench.onProgress('tool calls');
			for (const count of bench.quick ? CALLS.quick : CALLS.full)
				points.push({ series: CONVERSATION, count, ms: await callsMs(bench, count) });
		}
		bench.onProgress('tasks');
		for (const count of bench.quick ? TASKS.quick : TASKS.full) {
			points.push({ series: SCHEDULER, count, ms: await taskMs(count) });
		}
		const notes: string[] = [];
		const workers = bench.quick
			? []
			: await measureWorkers(bench).catch((error: unknown) => {
					notes.push(`Workers were not measured: ${String(error)}`);
					return [];
				});
		const growths = [...new Set(points.map(({ series }) => series))].map((series) => ({
			series,
			growth: growthOf(points.filter((point) => point.series === series)),
		}));
		return {
			columns: [
				{ key: 'count', title: 'items, calls or tasks', digits: 0 },
				{ key: 'ms', title: 'time (ms)', digits: 1 },
				{ key: 'each', title: 'time of each (ms)', digits: 3 },
				{ key: 'mb', title: 'memory (MB)', digits: 0 },
			],
			rows: [...points.map(toRow), ...workers.map(toWorkersRow)],
			ratios: [
				...growths.map(({ series, growth }) => ({
					id: `scale-growth-${IDS[series]}`,
					label: `growth of the time per item: ${series}`,
					value: growth,
					...(series === CONVERSATION && { reason: CONVERSATION_REASON }),
				})),
				...memoryRatio(points),
				...workersRatios(workers),
			],
			notes,
		};
	},
};

const SCHEDULER = 'scheduler of Wait for Video';
const CONVERSATION = 'Agent with Tools, tool calls';
const CONVERSATION_REASON = 'each round sends the whole conversation again';
const IDS: Readonly<Record<string, string>> = {
	[CHAT_CONTENDERS.ours.name]: 'chat',
	[CHAT_CONTENDERS.httpUnlimited.name]: 'http',
	[CONVERSATION]: 'calls',
	[SCHEDULER]: 'tasks',
};

async function itemPoints(
	n8n: N8nInstance,
	bench: Bench,
	contender: ChatContender,
): Promise<Point[]> {
	const path = `scale-${IDS[contender.name]}`;
	const call = await n8n.install(contender.workflow(bench.server.url, path, 0), path);
	const points: Point[] = [];
	const warmUps = bench.quick ? WARM_UPS.quick : WARM_UPS.full;
	for (let round = 0; round < warmUps; round++) await call(prompts(WARM_UP_ITEMS));
	const { usage: idle } = await watchProcess(n8n.pid, () => Promise.resolve());
	for (const count of bench.quick ? ITEMS.quick : ITEMS.full) {
		const { result, usage } = await watchProcess(n8n.pid, () => call(prompts(count)));
		points.push({
			series: contender.name,
			count,
			ms: nodeMs(result, MEASURED_NODE),
			...(bench.quick ? {} : { mb: usage.peakMb - idle.beforeMb }),
		});
	}
	return points;
}

/** Time of a conversation with so many tool calls, in milliseconds. */
async function callsMs({ n8n: shared, server }: Bench, count: number): Promise<number> {
	const n8n = await shared();
	const path = `scale-calls-${count}`;
	const shape = { rounds: count, calls: 1 };
	const call = await n8n.install(withBranch('oneAtATime')(server.url, path, shape), path);
	await call({ question: 'How much?' });
	return spanMs(await call({ question: 'How much?' }), 'Webhook');
}

/** CPU time of the scheduler for the whole wait, in milliseconds; median of three. */
async function taskMs(count: number): Promise<number> {
	const finishMs = await finishTimes({ count, ...REALISTIC });
	const times: number[] = [];
	for (let round = 0; round < 3; round++) {
		const clock = fakeClock();
		const runs = new TaskRuns();
		const startCpu = process.cpuUsage();
		await pollTasks(
			clock,
			waitingFor(taskIds('scale', finishMs), clock.now()),
			async (task_id) => {
				await clock.sleep(POLL_MS);
				return { task_id, status: runs.poll(task_id, clock.now()) };
			},
			{ timeoutMs: 600_000, concurrency: 10 },
		);
		const { user, system } = process.cpuUsage(startCpu);
		times.push((user + system) / 1000);
	}
	return (await toFigure(times)).median;
}

function growthOf(points: readonly Point[]): number {
	const [before, last] = points.slice(-2) as [Point, Point];
	return last.ms / last.count / (before.ms / before.count);
}

function toRow({ series, count, ms, mb }: Point): Row {
	return {
		contender: series,
		figures: {
			count: exactFigure(count),
			ms: exactFigure(ms),
			each: exactFigure(ms / count),
			...(mb === undefined ? {} : { mb: exactFigure(mb) }),
		},
	};
}

function toWorkersRow({ workers, delayMs, ms }: WorkersPoint): Row {
	return {
		contender: `Chat Completion, ${workers} ${workers === 1 ? 'worker' : 'workers'}, ${delayMs} ms`,
		figures: { ms },
	};
}

/** Memory with the most items, divided by that of HTTP Request. */
function memoryRatio(points: readonly Point[]): Ratio[] {
	const [own, other] = NODES.map(({ name }) => points.findLast(({ series }) => series === name));
	if (own?.mb === undefined || other?.mb === undefined) return [];
	const label = `memory for ${own.count} items vs. ${other.series}`;
	return [{ id: 'scale-memory', label, value: own.mb / other.mb }];
}

/** Duration with several workers divided by that with one, at the same latency. */
function workersRatios(points: readonly WorkersPoint[]): Ratio[] {
	return points.flatMap(({ workers, delayMs, ms }) => {
		const one = points.find((each) => each.workers === 1 && each.delayMs === delayMs);
		if (workers === 1 || one === undefined) return [];
		const label = `time with ${workers} workers vs. 1, ${delayMs} ms`;
		return [
			{ id: `scale-workers-${workers}-${delayMs}`, label, value: ms.median / one.ms.median },
		];
	});
}

import { DEFAULT_SCHEDULE } from '../../nodes/client/video/poll/task';
import { pollTasks } from '../../nodes/client/video/poll/pollTasks';
import { fakeClock } from '../../test/support/fakeClock';
import { inLab, nodeMs, type Lab } from '../lab/startLab';
import { exactly, toFigure } from '../measure/figure';
import { watchProcess } from '../measure/watchProcess';
import type { Bench, Question, Ratio, Row } from '../question';
import { pointPlot } from '../report/plots';
import { TaskRuns } from '../server/taskRuns';
import { CHAT_CONTENDERS, MEASURED, prompts, type ChatContender } from './chatContenders';
import { finishTimes, REALISTIC, taskIds, waitingFor } from './waitPlan';
import { measureWorkers, WORKERS_METHOD, type WorkersPoint } from './workers';

const ITEMS = { full: [10, 100, 1_000, 10_000], quick: [10, 100, 500] };
const TASKS = { full: [10, 100, 500, 2_000], quick: [10, 100, 500] };
const WARM_UPS = { full: 8, quick: 3 };
const WARM_UP_ITEMS = 200;
/** Time that a query takes on the virtual clock: it keeps the tasks from all being due at the same moment. */
const QUERY_MS = 5;

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
	method: `Items: 10 to 10,000 (500 in a quick run) through one node in a real n8n, in full runs a fresh one for each contender; time is
the node's, memory (full runs only) the peak of n8n's resident set beyond what it was before all runs. Tasks: 10 to 2,000 (500) through the scheduler of
Wait for Video with a virtual clock on which a query takes ${QUERY_MS} ms, so what is measured is its own work over the whole wait. *Growth* is
time per item at the largest size divided by that at the size before: 1 is linear, and it should stay near or below 1. ${WORKERS_METHOD}
Workers are measured in full runs only.`,
	run: async (bench) => {
		const points: Point[] = [];
		for (const contender of NODES) {
			bench.say(contender.name);
			const measure = (lab: Lab) => itemPoints(lab, bench, contender);
			points.push(
				...(bench.quick
					? await measure(await bench.lab())
					: await inLab(bench.server.url, measure)),
			);
		}
		bench.say('tasks');
		for (const count of bench.quick ? TASKS.quick : TASKS.full) {
			points.push({ series: SCHEDULER, count, ms: await taskMs(count) });
		}
		const notes: string[] = [];
		const workers = bench.quick
			? []
			: await measureWorkers(bench).catch((error: unknown) => {
					notes.push(`Workers could not be measured: ${String(error)}`);
					return [];
				});
		const growths = [...NODES.map(({ name }) => name), SCHEDULER].map((series) => ({
			series,
			growth: growthOf(points.filter((point) => point.series === series)),
		}));
		return {
			columns: [
				{ key: 'count', title: 'items or tasks', digits: 0 },
				{ key: 'ms', title: 'time (ms)', digits: 1 },
				{ key: 'each', title: 'time for each (ms)', digits: 3 },
				{ key: 'mb', title: 'memory (MB)', digits: 0 },
			],
			rows: [...points.map(toRow), ...workers.map(toWorkersRow)],
			ratios: [
				...growths.map(({ series, growth }) => ({
					id: `scale-growth-${IDS[series]}`,
					label: `growth: ${series}`,
					value: growth,
				})),
				...workersRatios(workers),
			],
			notes,
			plot: pointPlot(
				points.map(({ series, count, ms }) => ({ series, x: count, y: ms })),
				{ title: 'Scale', x: 'items or tasks', y: 'ms', log: true },
			),
		};
	},
};

const SCHEDULER = 'the scheduler of Wait for Video';
const IDS: Readonly<Record<string, string>> = {
	[CHAT_CONTENDERS.ours.name]: 'chat',
	[CHAT_CONTENDERS.httpUnlimited.name]: 'http',
	[SCHEDULER]: 'tasks',
};

async function itemPoints(lab: Lab, bench: Bench, contender: ChatContender): Promise<Point[]> {
	const path = `scale-${IDS[contender.name]}`;
	const call = await lab.install(contender.workflow(bench.server.url, path, 0), path);
	const points: Point[] = [];
	const warmUps = bench.quick ? WARM_UPS.quick : WARM_UPS.full;
	for (let turn = 0; turn < warmUps; turn++) await call(prompts(WARM_UP_ITEMS));
	const { use: idle } = await watchProcess(lab.pid, () => Promise.resolve());
	for (const count of bench.quick ? ITEMS.quick : ITEMS.full) {
		const { result, use } = await watchProcess(lab.pid, () => call(prompts(count)));
		points.push({
			series: contender.name,
			count,
			ms: nodeMs(result, MEASURED),
			...(bench.quick ? {} : { mb: use.peakMb - idle.beforeMb }),
		});
	}
	return points;
}

/** Milliseconds of CPU for the whole wait, the median of some. */
async function taskMs(count: number): Promise<number> {
	const finishMs = await finishTimes({ count, ...REALISTIC });
	const times: number[] = [];
	for (let turn = 0; turn < 3; turn++) {
		const clock = fakeClock();
		const runs = new TaskRuns();
		const startCpu = process.cpuUsage();
		await pollTasks(
			clock,
			waitingFor(taskIds('scale', finishMs), clock.now()),
			async (task_id) => {
				await clock.sleep(QUERY_MS);
				return { task_id, status: runs.query(task_id, clock.now()) };
			},
			{ schedule: DEFAULT_SCHEDULE, concurrency: 10 },
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
			count: exactly(count),
			ms: exactly(ms),
			each: exactly(ms / count),
			...(mb === undefined ? {} : { mb: exactly(mb) }),
		},
	};
}

function toWorkersRow({ workers, delayMs, ms }: WorkersPoint): Row {
	return {
		contender: `Chat Completion, ${workers === 1 ? 'one worker' : 'two workers'}, server answers after ${delayMs} ms`,
		figures: { ms },
	};
}

/** Two workers against one, for the same latency. */
function workersRatios(points: readonly WorkersPoint[]): Ratio[] {
	return points.flatMap(({ workers, delayMs, ms }) => {
		const one = points.find((each) => each.workers === 1 && each.delayMs === delayMs);
		if (workers === 1 || one === undefined) return [];
		const label = `time of two workers, against one, server answers after ${delayMs} ms`;
		return [{ id: `scale-workers-${delayMs}`, label, value: ms.median / one.ms.median }];
	});
}

import OpenAI from 'openai';

import { mapConcurrent } from '../../nodes/client/concurrency';
import { inLab, nodeMs, type Lab } from '../lab/startLab';
import { exactly, toFigures, type Figure } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { watchProcess } from '../measure/watchProcess';
import type { Answer, Bench, Question, Ratio, Row } from '../question';
import { barPlot } from '../report/plots';
import { modelName } from '../server/behaviour';
import { AT_ONCE, CHAT_CONTENDERS, MEASURED, prompts, type ChatContender } from './chatContenders';

const DELAYS = [0, 200] as const;
const REPEATS = { full: 5, quick: 3 };
const COUNT = { full: 500, quick: 60 };
const CONTENDERS = Object.entries(CHAT_CONTENDERS) as [string, ChatContender][];
const FLOOR = '`openai` client in plain Node, 50 at once (floor)';

type Run = () => Promise<{ readonly wall: number; readonly cpu: number }>;

export const MANY_CHATS: Question = {
	id: 'many-chats',
	title: 'Many chats',
	method: `500 items (60 in a quick run) go through one node; the server answers after 0 ms or after 200 ms. Wall time is the
node's own, as n8n reports it; CPU is that of the whole n8n process from the call of the webhook to its answer. Memory comes
from a fresh n8n for each contender (full runs only): how far its resident set rises above what it was before the run.`,
	run: async (bench) => {
		const count = bench.quick ? COUNT.quick : COUNT.full;
		const rows = await measureTimes(bench, count);
		return toAnswer(bench.quick ? rows : await withMemory(bench, rows, count));
	},
};

async function measureTimes(bench: Bench, count: number): Promise<Row[]> {
	const lab = await bench.lab();
	const rows: Row[] = [];
	for (const [, contender] of CONTENDERS) {
		rows.push({
			contender: contender.name,
			figures: {},
			...(contender.note === undefined ? {} : { note: contender.note }),
		});
	}
	rows.push({ contender: FLOOR, figures: {}, note: 'no n8n: what the server and Node allow' });

	for (const delayMs of DELAYS) {
		const runs: Run[] = [];
		for (const [id, contender] of CONTENDERS) {
			runs.push(await nodeRun(lab, bench, { id, contender, delayMs, count }));
		}
		runs.push(plainRun(bench, delayMs, count));
		bench.say(`${count} items, ${delayMs} ms`);
		const measured = await interleave(
			runs,
			bench.quick ? REPEATS.quick : REPEATS.full,
			async (run) => await run(),
		);
		for (const [index, values] of measured.entries()) {
			const { wall, cpu } = await toFigures(values);
			const figures = { [`wall${delayMs}`]: wall, [`cpu${delayMs}`]: cpu };
			rows[index] = { ...rows[index]!, figures: { ...rows[index]!.figures, ...figures } };
		}
	}
	return rows;
}

interface NodeRun {
	readonly id: string;
	readonly contender: ChatContender;
	readonly delayMs: number;
	readonly count: number;
}

async function nodeRun(
	lab: Lab,
	{ server }: Bench,
	{ id, contender, delayMs, count }: NodeRun,
): Promise<Run> {
	const path = `chats-${id}-${delayMs}`;
	const call = await lab.install(contender.workflow(server.url, path, delayMs), path);
	return async () => {
		const { result, use } = await watchProcess(lab.pid, () => call(prompts(count)));
		return { wall: nodeMs(result, MEASURED), cpu: use.cpuMs };
	};
}

function plainRun({ server }: Bench, delayMs: number, count: number): Run {
	const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'bench-key', maxRetries: 0 });
	return async () => {
		const startMs = performance.now();
		const startCpu = process.cpuUsage();
		await mapConcurrent([...Array(count).keys()], AT_ONCE, async (index) => {
			await client.chat.completions.create({
				model: modelName({ delayMs }),
				messages: [{ role: 'user', content: `Idea number ${index}?` }],
			});
		});
		const { user, system } = process.cpuUsage(startCpu);
		return { wall: performance.now() - startMs, cpu: (user + system) / 1000 };
	};
}

async function withMemory(bench: Bench, rows: readonly Row[], count: number): Promise<Row[]> {
	const peaks: Figure[] = [];
	for (const [id, contender] of CONTENDERS) {
		bench.say(`memory of ${contender.name}`);
		peaks.push(
			await inLab(bench.server.url, (lab) => memoryOf(lab, bench, id, contender, count)),
		);
	}
	return rows.map((row, index) => {
		const peak = peaks[index];
		return peak === undefined ? row : { ...row, figures: { ...row.figures, memory: peak } };
	});
}

async function memoryOf(
	lab: Lab,
	{ server }: Bench,
	id: string,
	contender: ChatContender,
	count: number,
): Promise<Figure> {
	const call = await lab.install(contender.workflow(server.url, id, 0), id);
	await call(prompts(1));
	const { use } = await watchProcess(lab.pid, () => call(prompts(count)));
	return exactly(use.peakMb - use.beforeMb);
}

function toAnswer(rows: readonly Row[]): Answer {
	const [ours, , batched, , chain] = rows;
	const ratio = (key: string, peer: Row | undefined, name: string): Ratio[] => {
		const [a, b] = [ours?.figures[key], peer?.figures[key]];
		if (a === undefined || b === undefined) return [];
		const id = `many-chats-${key}-vs-${name}`;
		const label = `${LABELS[key]}, against ${peer!.contender}`;
		return [{ id, label, value: a.median / b.median }];
	};
	return {
		columns: COLUMNS.filter(({ key }) => rows.some(({ figures }) => figures[key])),
		rows,
		ratios: Object.keys(LABELS).flatMap((key) => [
			...ratio(key, batched, 'http'),
			...ratio(key, chain, 'chain'),
		]),
		plot: barPlot(rows, {
			ours: 2,
			title: 'Many chats, server answers at once',
			key: 'wall0',
			unit: 'wall time, ms',
		}),
	};
}

const LABELS: Readonly<Record<string, string>> = {
	wall0: 'wall time at 0 ms',
	cpu0: 'CPU at 0 ms',
	wall200: 'wall time at 200 ms',
	cpu200: 'CPU at 200 ms',
	memory: 'memory',
};

const COLUMNS = [
	{ key: 'wall0', title: 'wall at 0 ms (ms)', digits: 0 },
	{ key: 'cpu0', title: 'CPU at 0 ms (ms)', digits: 0 },
	{ key: 'wall200', title: 'wall at 200 ms (ms)', digits: 0 },
	{ key: 'cpu200', title: 'CPU at 200 ms (ms)', digits: 0 },
	{ key: 'memory', title: 'memory (MB)', digits: 0 },
];

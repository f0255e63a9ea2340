import OpenAI from 'openai';

import { mapConcurrent } from '../../nodes/client/concurrency';
import { withInstance, nodeMs, type N8nInstance } from '../n8n/startInstance';
import { exactFigure, toFigures, type Figure } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { watchProcess } from '../measure/watchProcess';
import {
	measuredOf,
	type Result,
	type Bench,
	type Question,
	type Ratio,
	type Row,
} from '../question';
import { modelName } from '../server/behavior';
import {
	CONCURRENCY,
	CHAT_CONTENDERS,
	MEASURED_NODE,
	prompts,
	type ChatContender,
} from './chatContenders';

/** At 200 ms a run is nearly all waiting for the server: its time varies little, and all code has run before. */
const LATENCIES = [
	{ delayMs: 0, warmUps: 2, repeats: { full: 5, quick: 3 } },
	{ delayMs: 200, warmUps: 0, repeats: { full: 3, quick: 3 } },
] as const;
const COUNT = { full: 500, quick: 60 };
const CONTENDERS: readonly ChatContender[] = Object.values(CHAT_CONTENDERS);
const BASELINE = `\`openai\` client in plain Node, concurrency ${CONCURRENCY} (baseline)`;

type Run = () => Promise<{ readonly wall: number; readonly cpu: number }>;

export const MANY_CHATS: Question = {
	id: 'many-chats',
	title: 'Many chats',
	method: `One node processes 500 items (quick run: 60); the server replies after 0 or 200 ms. *Wall time* is the execution time of the
node; *CPU* the CPU time of the n8n process from the webhook request to its response; *memory* the growth of the resident set,
in a new n8n for each contender (full runs only).`,
	run: async (bench) => {
		const count = bench.quick ? COUNT.quick : COUNT.full;
		const rows = await measureTimes(bench, count);
		return toResult(bench.quick ? rows : await withMemory(bench, rows, count));
	},
};

async function measureTimes(bench: Bench, count: number): Promise<Row[]> {
	const n8n = await bench.n8n();
	const rows: Row[] = [];
	const contenders = measuredOf(CONTENDERS, bench);
	for (const { name, note } of contenders)
		rows.push({ contender: name, figures: {}, ...(note === undefined ? {} : { note }) });
	rows.push({ contender: BASELINE, figures: {} });

	for (const { delayMs, warmUps, repeats } of LATENCIES) {
		const runs: Run[] = [];
		for (const [id, contender] of contenders.entries())
			runs.push(await nodeRun(n8n, bench, { id, contender, delayMs, count }));
		runs.push(plainRun(bench, delayMs, count));
		bench.onProgress(`${count} items, ${delayMs} ms`);
		const measured = await interleave(
			runs,
			bench.quick ? repeats.quick : repeats.full,
			async (run) => await run(),
			warmUps,
		);
		for (const [index, values] of measured.entries()) {
			const { wall, cpu } = await toFigures(values);
			const chat = { median: cpu.median / count, spread: cpu.spread / count };
			const figures = {
				[`wall${delayMs}`]: wall,
				[`cpu${delayMs}`]: cpu,
				[`chat${delayMs}`]: { ...cpu, ...chat },
			};
			rows[index] = { ...rows[index]!, figures: { ...rows[index]!.figures, ...figures } };
		}
	}
	return rows;
}

interface NodeRun {
	/** Makes its path unique. */
	readonly id: number;
	readonly contender: ChatContender;
	readonly delayMs: number;
	readonly count: number;
}

async function nodeRun(
	n8n: N8nInstance,
	{ server }: Bench,
	{ id, contender, delayMs, count }: NodeRun,
): Promise<Run> {
	const path = `chats-${id}-${delayMs}`;
	const call = await n8n.install(contender.workflow(server.url, path, delayMs), path);
	return async () => {
		const { result, usage } = await watchProcess(n8n.pid, () => call(prompts(count)));
		return { wall: nodeMs(result, MEASURED_NODE), cpu: usage.cpuMs };
	};
}

function plainRun({ server }: Bench, delayMs: number, count: number): Run {
	const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'bench-key', maxRetries: 0 });
	return async () => {
		const startMs = performance.now();
		const startCpu = process.cpuUsage();
		await mapConcurrent([...Array(count).keys()], CONCURRENCY, async (index) => {
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
	for (const contender of CONTENDERS) {
		bench.onProgress(`memory: ${contender.name}`);
		peaks.push(
			await withInstance(bench.server.url, (n8n) => memoryOf(n8n, bench, contender, count)),
		);
	}
	return rows.map((row, index) => {
		const peak = peaks[index];
		return peak === undefined ? row : { ...row, figures: { ...row.figures, memory: peak } };
	});
}

async function memoryOf(
	n8n: N8nInstance,
	{ server }: Bench,
	contender: ChatContender,
	count: number,
): Promise<Figure> {
	const call = await n8n.install(contender.workflow(server.url, 'memory', 0), 'memory');
	await call(prompts(1));
	const { usage } = await watchProcess(n8n.pid, () => call(prompts(count)));
	return exactFigure(usage.peakMb - usage.beforeMb);
}

function toResult(rows: readonly Row[]): Result {
	const rowOf = (name: string) => rows.find(({ contender }) => contender === name);
	const [ours, batched, chain, plain] = [
		CHAT_CONTENDERS.ours.name,
		CHAT_CONTENDERS.httpBatched.name,
		CHAT_CONTENDERS.chain.name,
		BASELINE,
	].map(rowOf);
	const ratio = (key: string, peer: Row | undefined, name: string): Ratio[] => {
		const [a, b] = [ours?.figures[key], peer?.figures[key]];
		if (a === undefined || b === undefined) return [];
		const id = `many-chats-${key}-vs-${name}`;
		const label = `${LABELS[key]}, vs. ${peer!.contender}`;
		return [{ id, label, value: a.median / b.median, ...REASONS[id] }];
	};
	return {
		columns: COLUMNS.filter(({ key }) => rows.some(({ figures }) => figures[key])),
		rows,
		ratios: [
			...Object.keys(LABELS).flatMap((key) => [
				...ratio(key, batched, 'http'),
				...ratio(key, chain, 'chain'),
			]),
			...ratio('wall200', plain, 'plain'),
			...ratio('cpu0', plain, 'plain'),
		],
	};
}

const LABELS: Readonly<Record<string, string>> = {
	wall0: 'wall time at 0 ms',
	cpu0: 'CPU at 0 ms',
	wall200: 'wall time at 200 ms',
	cpu200: 'CPU at 200 ms',
	memory: 'memory',
};

/** By ratio. The shares are those of a CPU profile of n8n. */
const REASONS: Readonly<Record<string, { readonly reason: string }>> = {
	'many-chats-wall200-vs-plain': {
		reason: 'n8n starts and ends the execution, reads items and records results',
	},
	'many-chats-cpu0-vs-plain': {
		reason: "[where a chat's time goes](#goals)",
	},
};

const COLUMNS = [
	{ key: 'wall0', title: 'wall time at 0 ms (ms)', digits: 0 },
	{ key: 'cpu0', title: 'CPU at 0 ms (ms)', digits: 0 },
	{ key: 'chat0', title: 'CPU per chat at 0 ms (ms)', digits: 2 },
	{ key: 'wall200', title: 'wall time at 200 ms (ms)', digits: 0 },
	{ key: 'cpu200', title: 'CPU at 200 ms (ms)', digits: 0 },
	{ key: 'memory', title: 'memory (MB)', digits: 0 },
];

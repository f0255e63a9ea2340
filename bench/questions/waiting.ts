import { join } from 'node:path';

import { inLab } from '../lab/startLab';
import { exactly } from '../measure/figure';
import type { Question, Row } from '../question';
import { pointPlot } from '../report/plots';
import { WAIT_CONTENDERS } from './waitContenders';
import { finishTimes, type WaitFigures } from './waitPlan';

const FULL = { count: 200, mostMs: 420_000, factor: 5 };
const QUICK = { count: 20, mostMs: 200_000, factor: 20 };
const KEYS = ['makespan', 'meanDelay', 'worstDelay', 'queries'] as const;

export const WAITING: Question = {
	id: 'waiting',
	title: 'Waiting for videos',
	method: `200 tasks (20 in a quick run) are started together and finish log-normally around 90 s, between 25 s and 7 minutes. The
delay is the time from a task's finish to the server's answer that tells it, seen at the server. **Time is compressed**: rows
marked so ran in a real n8n whose clock runs ${FULL.factor} times as fast (${QUICK.factor} times in a quick run), dates and timers alike, and all their
times are multiplied back; n8n's own work is not compressed, so it counts ${FULL.factor} times in them, for every contender alike.
Other rows are computed, or ran on a virtual clock. *Slots* are the places of a worker that are held while waiting.`,
	run: async ({ quick, server, say }) => {
		const { count, mostMs, factor } = quick ? QUICK : FULL;
		const finishMs = await finishTimes(count, mostMs);
		const rows = await inLab(
			server.url,
			async (lab) => {
				const measured: Row[] = [];
				for (const { name, note, held, run } of WAIT_CONTENDERS) {
					say(name);
					const figures = await run({ finishMs, factor, lab, serverUrl: server.url });
					measured.push({ contender: name, note, figures: toRow(figures, held) });
				}
				return measured;
			},
			{
				BENCH_TIME_FACTOR: String(factor),
				NODE_OPTIONS: `--require=${join(__dirname, '..', 'lab', 'compressTime.ts')}`,
			},
		);
		const figure = (row: number, key: string) => rows[row]!.figures[key]!.median;
		return {
			columns: [
				{ key: 'makespan', title: 'makespan (s)', digits: 1 },
				{ key: 'meanDelay', title: 'mean delay (s)', digits: 2 },
				{ key: 'worstDelay', title: 'worst delay (s)', digits: 1 },
				{ key: 'queries', title: 'queries', digits: 0 },
				{ key: 'executions', title: 'executions', digits: 0 },
				{ key: 'slots', title: 'slots', digits: 0 },
			],
			rows,
			ratios: [1, 2].flatMap((peer) =>
				(['meanDelay', 'queries', 'makespan'] as const).map((key) => ({
					id: `waiting-${key}-vs-template-${peer === 1 ? 10 : 5}`,
					label: `${LABELS[key]}, against ${rows[peer]!.contender}`,
					value: figure(0, key) / figure(peer, key),
					reason: REASONS[key],
				})),
			),
			plot: pointPlot(
				rows.map((row, index) => ({
					series: row.contender,
					x: figure(index, 'queries') / count,
					y: figure(index, 'meanDelay'),
				})),
				{
					title: 'Waiting: fewer queries or an earlier notice (lower left is better)',
					x: 'queries per task',
					y: 'mean delay, s',
					joined: false,
				},
			),
		};
	},
};

const REASONS = {
	meanDelay:
		'the gaps grow from 5 to 10 s, so a long wait is asked for less often than every 5 s',
	queries: 'the gaps begin at 5 s, so what is finished early is noticed early',
	makespan: 'the last task is noticed at its next query',
};

const LABELS = { meanDelay: 'mean delay', queries: 'queries', makespan: 'makespan' };

function toRow(figures: WaitFigures, held: object | undefined): Row['figures'] {
	const all = { ...Object.fromEntries(KEYS.map((key) => [key, figures[key]])), ...held };
	return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, exactly(value)]));
}

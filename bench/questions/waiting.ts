import { withInstances, type N8nInstance } from '../n8n/startInstance';
import { exactFigure } from '../measure/figure';
import type { Question, Row } from '../question';
import { IN_N8N, PLAIN, waitInN8n } from './waitContenders';
import { finishTimes, REALISTIC, type WaitFigures } from './taskPlan';

const FULL = { count: 200, ...REALISTIC };
const QUICK = { count: 20, minMs: 4_000, medianMs: 12_000, maxMs: 25_000 };

export const WAITING: Question = {
	id: 'waiting',
	title: 'Waiting for videos',
	method: `200 tasks start together; their durations are log-normal with a median of 90 s, between 25 s and 5 minutes (quick run: 20
tasks, 12 s). *Delay* is the time from a task's end to the response that reports it. The strategies that run in n8n do so in real
time, side by side, each in its own n8n (quick run: in the same one). *Delay × polls* is the mean delay times the polls per task,
which compares different intervals. Only the suspended wait occupies no worker.`,
	run: async ({ quick, server, n8n: shared, onProgress }) => {
		const plan = quick ? QUICK : FULL;
		const { count } = plan;
		const finishMs = await finishTimes(plan);
		const contenders = IN_N8N.filter(({ isSlow }) => !quick || isSlow !== true);
		const waitIn = async (labs: readonly N8nInstance[]) => {
			onProgress(
				`${contenders.length} strategies, side by side, at least ${plan.maxMs / 1000} s`,
			);
			return await Promise.all(
				contenders.map((each, index) =>
					waitInN8n(each, labs[index]!, server.url, finishMs),
				),
			);
		};
		const measured = quick
			? await waitIn(await sameForAll(contenders, shared))
			: await withInstances(contenders.length, server.url, waitIn);
		const byId = new Map<string, Row>();
		for (const [index, { id, name, note = '' }] of contenders.entries()) {
			const figures = toFigures(measured[index]!, count);
			byId.set(id, { contender: name, note, figures });
		}
		for (const { id, name, note, run } of PLAIN) {
			const figures = toFigures(await run(finishMs), count);
			byId.set(id, { contender: name, note, figures });
		}
		const rows = [...byId.values()];
		return {
			columns: [
				{ key: 'makespan', title: 'makespan (s)', digits: 1 },
				{ key: 'meanDelay', title: 'mean delay (s)', digits: 2 },
				{ key: 'worstDelay', title: 'worst delay (s)', digits: 1 },
				{ key: 'polls', title: 'polls', digits: 0 },
				{ key: 'product', title: 'delay × polls per task', digits: 0 },
			],
			rows,
			ratios: COMPARISONS.flatMap(({ ours, theirs, keys, reason }) =>
				keys.map((key) => {
					const [own, other] = [byId.get(ours)!, byId.get(theirs)!];
					return {
						id: `waiting-${key}-${ours}-vs-${theirs}`,
						label: `${LABELS[key]}, ${own.contender} vs. ${other.contender}`,
						value: own.figures[key]!.median / other.figures[key]!.median,
						reason,
					};
				}),
			),
		};
	},
};

/** The ratios, with the reasons why Wait for Video may need more. */
const COMPARISONS = [
	{
		ours: 'in-place',
		theirs: 'loop-10',
		keys: ['product', 'meanDelay', 'polls'],
		reason: 'one task in eight is polled early',
	},
	{
		ours: 'in-place',
		theirs: 'loop-5',
		keys: ['product', 'meanDelay', 'polls'],
		reason: 'intervals of up to 10 s: fewer polls, a longer delay',
	},
	{
		ours: 'scheduler',
		theirs: 'optimum',
		keys: ['meanDelay', 'polls'],
		reason: 'intervals of up to 10 s: fewer polls, a longer delay',
	},
] as const;

const LABELS = { product: 'delay × polls', meanDelay: 'mean delay', polls: 'polls' };

/** The shared n8n instance for each contender. */
async function sameForAll(
	contenders: readonly object[],
	n8n: () => Promise<N8nInstance>,
): Promise<N8nInstance[]> {
	const shared = await n8n();
	return contenders.map(() => shared);
}

function toFigures(figures: WaitFigures, count: number): Row['figures'] {
	const product = (figures.meanDelay * figures.polls) / count;
	const all = Object.entries({ ...figures, product });
	return Object.fromEntries(all.map(([key, value]) => [key, exactFigure(value)]));
}

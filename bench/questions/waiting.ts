import { inLabs, type Lab } from '../lab/startLab';
import { exactly } from '../measure/figure';
import type { Question, Row } from '../question';
import { pointPlot } from '../report/plots';
import { IN_N8N, PLAIN, waitInN8n } from './waitContenders';
import { finishTimes, REALISTIC, type WaitFigures } from './waitPlan';

const FULL = { count: 200, ...REALISTIC };
const QUICK = { count: 20, leastMs: 4_000, medianMs: 12_000, mostMs: 25_000 };

export const WAITING: Question = {
	id: 'waiting',
	title: 'Waiting for videos',
	method: `200 tasks are started together and finish log-normally around 90 s, between 25 s and 5 minutes (20 tasks around 12 s in a
quick run). The delay is the time from a task's finish to the server's answer that tells it, seen at the server. All ways of waiting
run side by side in real time, each in an n8n of its own (in one n8n in a quick run); other rows are computed, or ran on a virtual
clock. *Delay × queries* is the mean delay times the queries per task: asking twice as often halves the delay, so the product
compares ways that ask differently often. *Slots* are the places of a worker that are held while waiting.`,
	run: async ({ quick, server, lab: shared, say }) => {
		const plan = quick ? QUICK : FULL;
		const { count } = plan;
		const finishMs = await finishTimes(plan);
		const contenders = IN_N8N.filter(({ isSlow }) => !quick || isSlow !== true);
		const waitIn = async (labs: readonly Lab[]) => {
			say(`${contenders.length} ways, side by side, ${plan.mostMs / 1000} s and more`);
			return await Promise.all(
				contenders.map((each, index) =>
					waitInN8n(each, labs[index]!, server.url, finishMs),
				),
			);
		};
		const noticed = quick
			? await waitIn(await sameFor(contenders, shared))
			: await inLabs(contenders.length, server.url, waitIn);
		const byId = new Map<string, Row>();
		for (const [index, { id, name, note, held }] of contenders.entries()) {
			const figures = toFigures(noticed[index]!, count, held);
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
				{ key: 'queries', title: 'queries', digits: 0 },
				{ key: 'product', title: 'delay × queries per task', digits: 0 },
				{ key: 'executions', title: 'executions', digits: 0 },
				{ key: 'slots', title: 'slots', digits: 0 },
			],
			rows,
			ratios: COMPARISONS.flatMap(({ ours, theirs, keys, reason }) =>
				keys.map((key) => {
					const [own, other] = [byId.get(ours)!, byId.get(theirs)!];
					return {
						id: `waiting-${key}-${ours}-vs-${theirs}`,
						label: `${own.contender}: ${LABELS[key]}, against ${other.contender}`,
						value: own.figures[key]!.median / other.figures[key]!.median,
						reason,
					};
				}),
			),
			plot: pointPlot(
				rows.map(({ contender, figures }) => ({
					series: contender,
					x: figures['queries']!.median / count,
					y: figures['meanDelay']!.median,
				})),
				{
					title: 'Waiting: fewer queries or an earlier notice (lower left is better)',
					x: 'queries per task',
					y: 'mean delay, s',
					joined: false,
					log: true,
				},
			),
		};
	},
};

/** Whose figures are divided by whose, and why ours may need more. */
const COMPARISONS = [
	{
		ours: 'in-place',
		theirs: 'template-10',
		keys: ['product', 'meanDelay', 'queries'],
		reason: 'its first gaps are 5 and 7.5 s, for what is finished early: one or two queries more for every task',
	},
	{
		ours: 'in-place',
		theirs: 'template-5',
		keys: ['product', 'meanDelay', 'queries'],
		reason: 'its gaps grow to 10 s, and the first ones are asked in vain where nothing is finished early',
	},
	{
		ours: 'in-place-5',
		theirs: 'template-5',
		keys: ['product', 'meanDelay', 'queries'],
		reason: 'the loop waits 5 s after the last answer of all, so it asks less often',
	},
	{
		ours: 'in-place-5',
		theirs: 'optimum',
		keys: ['meanDelay', 'queries'],
		reason: 'ten queries are under way at once, and what falls due meanwhile waits',
	},
] as const;

const LABELS = { product: 'delay × queries', meanDelay: 'mean delay', queries: 'queries' };

/** The same n8n for everybody. */
async function sameFor(contenders: readonly object[], lab: () => Promise<Lab>): Promise<Lab[]> {
	const shared = await lab();
	return contenders.map(() => shared);
}

function toFigures(figures: WaitFigures, count: number, held: object = {}): Row['figures'] {
	const product = (figures.meanDelay * figures.queries) / count;
	const all = Object.entries({ ...figures, product, ...held });
	return Object.fromEntries(all.map(([key, value]) => [key, exactly(value)]));
}

import { GOALS } from '../../bench/goals';
import { QUESTIONS } from '../../bench/questions';
import { toMarkdown } from '../../bench/report/toMarkdown';

const FACTS = {
	date: '2026-01-01',
	quick: false,
	machine: { processor: 'x', memoryGb: 1, system: 'y', load: 0.1, versions: {} },
};

/** The report of a run in which the ratio to a plain client was this. */
function report(value: number, quick = false): string {
	const question = QUESTIONS.find(({ id }) => id === 'many-chats')!;
	const ratios = [{ id: 'many-chats-wall200-vs-plain', label: 'l', value }];
	const outcome = { columns: [], rows: [], ratios, plot: {} as never };
	return toMarkdown([{ question, seconds: 1, outcome }], { ...FACTS, quick });
}

const [first] = GOALS;

test('a goal that is reached has no reason, one that is missed has it', () => {
	expect(report(1.154)).toMatch(
		new RegExp(`- ${first!.title}: \\*\\*1.15 ×\\*\\*, goal 1.15 ×$`, 'm'),
	);
	expect(report(1.155)).toContain(`- ${first!.title}: **1.16 ×**, goal 1.15 ×; ${first!.reason}`);
});

test('a goal that was not measured is left out, and all are in a quick run', () => {
	expect(report(1)).not.toContain('packed size');
	expect(report(1, true)).not.toContain('## Goals');
});

test('every goal belongs to a benchmark', () => {
	const ids = QUESTIONS.map(({ id }) => id);
	expect(GOALS.filter(({ question }) => !ids.includes(question))).toStrictEqual([]);
});

import { checkBounds } from '../../bench/checkBounds';
import type { Question } from '../../bench/question';
import type { QuestionResult } from '../../bench/runQuestions';

const BOUNDS = { chats: { speed: 1, memory: 2 }, streams: { rate: 1 } };

function question(id: string): Question {
	return {
		id,
		title: id,
		method: '',
		run: () => Promise.reject(new Error('The test provides the results')),
	};
}

const QUESTIONS = ['chats', 'streams', 'without bounds'].map(question);

/** Returns the first ratios for the first run and the second ones for the second run; records which questions ran. */
function fakeRuns(...ratiosByRun: readonly Readonly<Record<string, number>>[]) {
	const calls: string[][] = [];
	const run = (questions: readonly Question[]): Promise<readonly QuestionResult[]> => {
		const values = ratiosByRun[calls.length] ?? {};
		calls.push(questions.map(({ id }) => id));
		const ratios = Object.entries(values).map(([id, value]) => ({ id, label: id, value }));
		return Promise.resolve([
			{
				question: questions[0]!,
				seconds: 1,
				outcome: { columns: [], rows: [], ratios, plot: {} as never },
			},
		]);
	};
	return { calls, run };
}

test('runs each question with bounds once if all ratios are within their bounds', async () => {
	const { calls, run } = fakeRuns({ speed: 1, memory: 0.5, rate: 0.9 });
	const checks = await checkBounds(QUESTIONS, run, BOUNDS);
	expect(calls).toEqual([['chats', 'streams']]);
	expect(checks.map(({ id, passed }) => [id, passed])).toEqual([
		['speed', true],
		['memory', true],
		['rate', true],
	]);
});

test('runs a question again after an exceeded bound and uses the second ratio', async () => {
	const { calls, run } = fakeRuns({ speed: 1.4, memory: 1, rate: 1 }, { speed: 0.9 });
	const checks = await checkBounds(QUESTIONS, run, BOUNDS);
	expect(calls).toEqual([['chats', 'streams'], ['chats']]);
	expect(checks).toContainEqual({
		question: 'chats',
		id: 'speed',
		bound: 1,
		value: 0.9,
		passed: true,
	});
	expect(checks.every(({ passed }) => passed)).toBe(true);
});

test('fails a ratio that exceeds its bound twice and keeps the first result of the others', async () => {
	const { run } = fakeRuns(
		{ speed: 1.4, memory: 1, rate: 1 },
		{ speed: 1.2, memory: 9, rate: 9 },
	);
	const checks = await checkBounds(QUESTIONS, run, BOUNDS);
	expect(checks.filter(({ passed }) => !passed)).toEqual([
		{ question: 'chats', id: 'speed', bound: 1, value: 1.2, passed: false },
	]);
});

test('fails a bound whose ratio is missing', async () => {
	const { run } = fakeRuns({ speed: 1, memory: 1 });
	const checks = await checkBounds(QUESTIONS, run, BOUNDS);
	expect(checks.filter(({ passed }) => !passed)).toEqual([
		{ question: 'streams', id: 'rate', bound: 1, passed: false },
	]);
});

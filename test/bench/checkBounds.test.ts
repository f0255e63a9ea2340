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

const GOOD = { speed: 1, memory: 1, rate: 1 };
const EVERY = ['chats', 'streams'];
const speed = { question: 'chats', id: 'speed', bound: 1 };

test.each([
	[
		'runs each question with bounds once if all ratios are within them',
		[GOOD],
		[EVERY],
		[1, 1, 1],
		[],
	],
	[
		'runs a question again after an exceeded bound and uses the second ratio',
		[{ ...GOOD, speed: 1.4 }, { speed: 0.9 }],
		[EVERY, ['chats']],
		[0.9, 1, 1],
		[],
	],
	[
		'fails a ratio that exceeds its bound twice and keeps the first result of the others',
		[
			{ ...GOOD, speed: 1.4 },
			{ speed: 1.2, memory: 9, rate: 9 },
		],
		[EVERY, ['chats']],
		[1.2, 1, 1],
		[{ ...speed, value: 1.2, passed: false }],
	],
	[
		'fails a bound whose ratio is missing',
		[{ speed: 1, memory: 1 }],
		[EVERY, ['streams']],
		[1, 1, undefined],
		[{ question: 'streams', id: 'rate', bound: 1, passed: false }],
	],
])('%s', async (_title, ratios, asked, values, failed) => {
	const { calls, run } = fakeRuns(...ratios);
	const checks = await checkBounds(QUESTIONS, run, BOUNDS);
	expect(calls).toEqual(asked);
	expect(checks.map(({ value }) => value)).toEqual(values);
	expect(checks.filter(({ passed }) => !passed)).toEqual(failed);
});

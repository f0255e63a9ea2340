import { guard } from '../../bench/guard';
import type { Question } from '../../bench/question';
import type { Finding } from '../../bench/runQuestions';

const BOUNDS = { chats: { speed: 1, memory: 2 }, streams: { rate: 1 } };

function question(id: string): Question {
	return {
		id,
		title: id,
		method: '',
		run: () => Promise.reject(new Error('The answers are given')),
	};
}

const QUESTIONS = ['chats', 'streams', 'without bounds'].map(question);

/** Gives these ratios at the first asking, those at the second; notes who was asked. */
function answers(...turns: readonly Readonly<Record<string, number>>[]) {
	const asked: string[][] = [];
	const answer = (questions: readonly Question[]): Promise<readonly Finding[]> => {
		const values = turns[asked.length] ?? {};
		asked.push(questions.map(({ id }) => id));
		const ratios = Object.entries(values).map(([id, value]) => ({ id, label: id, value }));
		return Promise.resolve([
			{
				question: questions[0]!,
				seconds: 1,
				outcome: { columns: [], rows: [], ratios, plot: {} as never },
			},
		]);
	};
	return { asked, answer };
}

test('what holds is asked once, and only what has bounds', async () => {
	const { asked, answer } = answers({ speed: 1, memory: 0.5, rate: 0.9 });
	const verdicts = await guard(QUESTIONS, answer, BOUNDS);
	expect(asked).toEqual([['chats', 'streams']]);
	expect(verdicts.map(({ id, holds }) => [id, holds])).toEqual([
		['speed', true],
		['memory', true],
		['rate', true],
	]);
});

test('what was too slow once may have been disturbed', async () => {
	const { asked, answer } = answers({ speed: 1.4, memory: 1, rate: 1 }, { speed: 0.9 });
	const verdicts = await guard(QUESTIONS, answer, BOUNDS);
	expect(asked).toEqual([['chats', 'streams'], ['chats']]);
	expect(verdicts).toContainEqual({
		question: 'chats',
		id: 'speed',
		bound: 1,
		value: 0.9,
		holds: true,
	});
	expect(verdicts.every(({ holds }) => holds)).toBe(true);
});

test('what is too slow twice is broken, the others stay as they were', async () => {
	const { answer } = answers(
		{ speed: 1.4, memory: 1, rate: 1 },
		{ speed: 1.2, memory: 9, rate: 9 },
	);
	const verdicts = await guard(QUESTIONS, answer, BOUNDS);
	expect(verdicts.filter(({ holds }) => !holds)).toEqual([
		{ question: 'chats', id: 'speed', bound: 1, value: 1.2, holds: false },
	]);
});

test('a ratio that nobody gave is broken', async () => {
	const { answer } = answers({ speed: 1, memory: 1 });
	const verdicts = await guard(QUESTIONS, answer, BOUNDS);
	expect(verdicts.filter(({ holds }) => !holds)).toEqual([
		{ question: 'streams', id: 'rate', bound: 1, holds: false },
	]);
});

import { GOALS } from '../../bench/goals';
import { QUESTIONS } from '../../bench/questions';

test('every goal belongs to a benchmark', () => {
	const ids = QUESTIONS.map(({ id }) => id);
	expect(GOALS.filter(({ question }) => !ids.includes(question))).toStrictEqual([]);
});

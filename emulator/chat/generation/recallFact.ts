import FACTS from './facts.json';
import type { Question } from './question';

/** What the user states and later asks for; the first group of a statement is the fact. */
const PATTERNS = FACTS.map(({ statement, question, answer }) => ({
	statement: new RegExp(statement, 'iu'),
	question: new RegExp(question, 'iu'),
	answer,
}));

const NEW_FACT = /\bmy name is\b|\bremember\b|\bmy favou?rite \w+ is\b/i;

/** Answers questions about earlier messages; undefined for any other question. */
export function recallFact({ text, history }: Question): string | undefined {
	const pattern = PATTERNS.find(({ question }) => question.test(text));
	if (!pattern) {
		if (/我(?:叫|的名字是)/.test(text)) return '好的，我记住了。';
		return NEW_FACT.test(text) ? 'Noted, I will keep that in mind.' : undefined;
	}
	const message = history.findLast((earlier) => pattern.statement.test(earlier));
	if (message === undefined) return 'You have not told me that yet.';
	const [, fact] = pattern.statement.exec(message)!;
	return pattern.answer.replace('{}', () => fact!);
}

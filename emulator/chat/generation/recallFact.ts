import { LANGUAGES, match } from './language';
import type { Question } from './question';

/** Answers questions about earlier messages; undefined for any other question. */
export function recallFact({ text, history }: Question): string | undefined {
	for (const { facts, newFact, noted, notTold } of LANGUAGES) {
		for (const { statement, question, answer } of facts) {
			const asked = match(question, text);
			if (!asked) continue;
			const what = (asked[1] ?? '').replace(/[^\p{L}\p{N}' ]/gu, '');
			const stated = statement.replace('{1}', what);
			const facts = history.map((earlier) => match(stated, earlier)?.[1]);
			const fact = facts.findLast((found) => found !== undefined);
			return fact === undefined
				? notTold
				: answer.replace('{1}', what).replace('{}', () => fact);
		}
		if (match(newFact, text)) return noted;
	}
	return undefined;
}

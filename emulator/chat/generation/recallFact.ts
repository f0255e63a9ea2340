import type { Question } from './question';

/** Pattern of a fact that the user states and later asks for. The first group of `statement` is the fact. */
interface FactPattern {
	readonly statement: RegExp;
	readonly question: RegExp;
	readonly answer: (fact: string) => string;
}

const FACT_PATTERNS: readonly FactPattern[] = [
	{
		statement: /\bmy name is ([\p{L}\p{N}_-]+)/iu,
		question: /\b(?:what(?:'s| is) my name|who am i)\b/i,
		answer: (name) => `Your name is ${name}.`,
	},
	{
		statement: /\bremember(?: that)?:? ([^.!?\n]+)/i,
		question: /\bwhat (?:did|should|do) (?:i|you) .*\bremember\b/i,
		answer: (fact) => `You asked me to remember: ${fact}.`,
	},
	{
		statement: /\bmy favou?rite (\w+ is [^.!?\n]+)/i,
		question: /\bwhat(?:'s| is) my favou?rite\b/i,
		answer: (fact) => `Your favorite ${fact}.`,
	},
	{
		statement: /^([^]+)$/,
		question:
			/\bwhat did i (?:just )?(?:say|ask|tell)|\bmy (?:last|previous) (?:question|message)\b/i,
		answer: (text) => `You said: ${text}`,
	},
];

const NEW_FACT = /\bmy name is\b|\bremember\b|\bmy favou?rite \w+ is\b/i;

/** Answers questions about earlier messages; undefined for any other question. */
export function recallFact({ text, history }: Question): string | undefined {
	const pattern = FACT_PATTERNS.find(({ question }) => question.test(text));
	if (!pattern) return NEW_FACT.test(text) ? 'Noted, I will keep that in mind.' : undefined;

	const message = history.findLast((earlier) => pattern.statement.test(earlier));
	if (message === undefined) return 'You have not told me that yet.';
	return pattern.answer(pattern.statement.exec(message)![1]!);
}

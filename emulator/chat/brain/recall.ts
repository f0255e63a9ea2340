import type { Question } from './question';

/** Something about the user: how it is told, how it is asked for, and how it is given back. */
interface Fact {
	readonly told: RegExp;
	readonly asked: RegExp;
	readonly answer: (fact: string) => string;
}

const FACTS: readonly Fact[] = [
	{
		told: /\bmy name is ([\p{L}\p{N}_-]+)/iu,
		asked: /\b(?:what(?:'s| is) my name|who am i)\b/i,
		answer: (name) => `Your name is ${name}.`,
	},
	{
		told: /\bremember(?: that)?:? ([^.!?\n]+)/i,
		asked: /\bwhat (?:did|should|do) (?:i|you) .*\bremember\b/i,
		answer: (fact) => `You asked me to remember: ${fact}.`,
	},
	{
		told: /\bmy favou?rite (\w+ is [^.!?\n]+)/i,
		asked: /\bwhat(?:'s| is) my favou?rite\b/i,
		answer: (fact) => `Your favourite ${fact}.`,
	},
	{
		told: /^([^]+)$/,
		asked: /\bwhat did i (?:just )?(?:say|ask|tell)|\bmy (?:last|previous) (?:question|message)\b/i,
		answer: (text) => `You said: ${text}`,
	},
];

const NEW_FACT = /\bmy name is\b|\bremember\b|\bmy favou?rite \w+ is\b/i;

/** Answers from what the user said before; undefined when that is not asked. */
export function recall({ text, earlier }: Question): string | undefined {
	const asked = FACTS.find((fact) => fact.asked.test(text));
	if (!asked) return NEW_FACT.test(text) ? 'Noted, I will keep that in mind.' : undefined;

	const told = earlier.findLast((message) => asked.told.test(message));
	if (told === undefined) return 'You have not told me that yet.';
	return asked.answer(asked.told.exec(told)![1]!);
}

import { contentOf } from './classify';
import { LANGUAGES, match } from './language';

/** The last term of a sum, and what a sign makes of it with the next number. */
type Operation = (last: number, next: number) => readonly number[];

const OPERATIONS: readonly (readonly [sign: RegExp, Operation])[] = [
	[/^(?:\+|plus|加)/i, (last, next) => [last, next]],
	[/^(?:-|−|minus|减)/i, (last, next) => [last, -next]],
	[/^(?:\*|×|times|乘)/i, (last, next) => [last * next]],
	[/^/, (last, next) => [last / next]],
];

/** Minus and slash need spaces around them: `24/7` and `2026-01-31` are not expressions. */
const SIGN =
	/[^\S\n]*(\+|−|(?<=\s)-(?=\s)|\*|×|(?<=\s)\/(?=\s)|÷|\bplus\b|\bminus\b|\btimes\b|\bdivided by\b|加上?|减去?|乘以?|除以)\s*/i;
const EXPRESSION = new RegExp(`-?\\d+(?:\\.\\d+)?(?:${SIGN.source}-?\\d+(?:\\.\\d+)?)+`, 'i');

const rounded = (value: number): number => Number(value.toPrecision(12));
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b);

/** Evaluates the first arithmetic expression in a text: `17 * 3` → `17 * 3 = 51`; undefined if there is none. */
export function calculate(text: string): string | undefined {
	const [whole] = EXPRESSION.exec(text) ?? [];
	const [first, ...rest] = whole?.split(SIGN) ?? [];
	if (whole === undefined) return undefined;
	let terms: readonly number[] = [Number(first)];
	for (let i = 0; i < rest.length; i += 2) {
		const [, apply] = OPERATIONS.find(([sign]) => sign.test(rest[i]!))!;
		terms = [...terms.slice(0, -1), ...apply(terms.at(-1)!, Number(rest[i + 1]))];
	}
	if (!Number.isFinite(sum(terms))) return `${whole} has no result.`;
	return `${[first, ...rest].join(' ')} = ${rounded(sum(terms))}`;
}

/** The sum of a list of numbers, and the text that says it; undefined unless a text asks for it. */
export function aggregate(text: string) {
	const numbersIn = (part: string) =>
		part.match(/(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w-])/g) ?? [];
	const listed = numbersIn(contentOf(text));
	const numbers = listed.length < 2 ? numbersIn(text) : listed;
	if (numbers.length < 2 || EXPRESSION.test(text)) return undefined;
	const values = numbers.map((digits) => Number(digits.replaceAll(',', '')));
	const language = LANGUAGES.find(({ total: [asked = ''] }) => match(asked, text));
	const value = rounded(sum(values));
	return language && { value, text: language.total[1]!.replace('{}', String(value)) };
}

import { contentOf } from './classify';
import { LANGUAGES, match } from './language';

type Operation = (a: number, b: number) => number;

const OPERATIONS: readonly (readonly [signs: readonly string[], Operation])[] = [
	[['+', 'plus', '加', '加上'], (a, b) => a + b],
	[['-', '−', 'minus', '减', '减去'], (a, b) => a - b],
	[['*', '×', 'times', '乘', '乘以'], (a, b) => a * b],
	[['/', '÷', 'divided by', '除以'], (a, b) => a / b],
];

/** Minus and slash need spaces around them: `24/7` and `2026-01-31` are not expressions. */
const EXPRESSION =
	/(-?\d+(?:\.\d+)?)\s*(\+|−|(?<=\s)-(?=\s)|\*|×|(?<=\s)\/(?=\s)|÷|\bplus\b|\bminus\b|\btimes\b|\bdivided by\b|加上?|减去?|乘以?|除以)\s*(-?\d+(?:\.\d+)?)/i;

const rounded = (value: number): number => Number(value.toPrecision(12));

/** Evaluates the first arithmetic expression in a text: `17 * 3` → `17 * 3 = 51`; undefined if there is none. */
export function calculate(text: string): string | undefined {
	const match = EXPRESSION.exec(text);
	if (!match) return undefined;

	const [, left, sign, right] = match;
	const [, operation] = OPERATIONS.find(([signs]) => signs.includes(sign!.toLowerCase()))!;
	const value = operation(Number(left), Number(right));
	if (!Number.isFinite(value)) return `${match[0]} has no result.`;
	return `${left} ${sign} ${right} = ${rounded(value)}`;
}

/** The sum of the numbers of a list, and the text that says it; undefined unless a text asks for one. */
export function sumUp(text: string): { readonly sum: number; readonly text: string } | undefined {
	const numbers = contentOf(text).match(/(?<![\w.-])-?\d[\d,]*(?:\.\d+)?(?![\w-])/g) ?? [];
	const language = LANGUAGES.find(({ sum }) => match(sum, text));
	if (!language || numbers.length < 2 || EXPRESSION.test(text)) return undefined;
	const values = numbers.map((digits) => Number(digits.replaceAll(',', '')));
	const sum = rounded(values.reduce((a, b) => a + b));
	return { sum, text: language.total.replace('{}', String(sum)) };
}

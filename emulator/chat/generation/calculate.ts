type Operation = (a: number, b: number) => number;

const add: Operation = (a, b) => a + b;
const subtract: Operation = (a, b) => a - b;
const multiply: Operation = (a, b) => a * b;
const divide: Operation = (a, b) => a / b;
const OPERATIONS: Readonly<Record<string, Operation>> = {
	...{ '+': add, plus: add, '-': subtract, '−': subtract, minus: subtract },
	...{ '*': multiply, '×': multiply, times: multiply, '/': divide, '÷': divide },
	'divided by': divide,
};

/** Minus and slash need spaces around them: `24/7` and `2026-01-31` are not expressions. */
const EXPRESSION =
	/(-?\d+(?:\.\d+)?)\s*(\+|−|(?<=\s)-(?=\s)|\*|×|(?<=\s)\/(?=\s)|÷|\bplus\b|\bminus\b|\btimes\b|\bdivided by\b)\s*(-?\d+(?:\.\d+)?)/i;

/** Evaluates the first arithmetic expression in a text: `17 * 3` → `17 * 3 = 51`; undefined if there is none. */
export function calculate(text: string): string | undefined {
	const match = EXPRESSION.exec(text);
	if (!match) return undefined;

	const [, left, sign, right] = match;
	const value = OPERATIONS[sign!.toLowerCase()]!(Number(left), Number(right));
	if (!Number.isFinite(value)) return `${match[0]} has no result.`;
	return `${left} ${sign} ${right} = ${Number(value.toPrecision(12))}`;
}

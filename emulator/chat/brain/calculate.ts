type Operation = (a: number, b: number) => number;

const OPERATIONS: Readonly<Record<string, Operation>> = {
	'+': (a, b) => a + b,
	plus: (a, b) => a + b,
	'-': (a, b) => a - b,
	'−': (a, b) => a - b,
	minus: (a, b) => a - b,
	'*': (a, b) => a * b,
	'×': (a, b) => a * b,
	times: (a, b) => a * b,
	'/': (a, b) => a / b,
	'÷': (a, b) => a / b,
	'divided by': (a, b) => a / b,
};

/** A dash or a slash between blanks only: `24/7` and `2026-01-31` are no sums. */
const FORM =
	/(-?\d+(?:\.\d+)?)\s*(\+|−|(?<=\s)-(?=\s)|\*|×|(?<=\s)\/(?=\s)|÷|\bplus\b|\bminus\b|\btimes\b|\bdivided by\b)\s*(-?\d+(?:\.\d+)?)/i;

/** Works out the first sum in a text, `17 * 3` → `17 * 3 = 51`; undefined when there is none. */
export function calculate(text: string): string | undefined {
	const match = FORM.exec(text);
	if (!match) return undefined;

	const [, left, sign, right] = match;
	const value = OPERATIONS[sign!.toLowerCase()]!(Number(left), Number(right));
	if (!Number.isFinite(value)) return `${match[0]} has no result.`;
	return `${left} ${sign} ${right} = ${Number(value.toPrecision(12))}`;
}

import { InputError } from './errors';
import { shorten } from './json';

/** The numbers that a field takes. */
export interface NumberRange {
	readonly min: number;
	readonly max?: number;
	/** Whether only whole numbers are valid. */
	readonly integer?: boolean;
}

/**
 * Reads a number; a text is converted.
 *
 * @param example A valid number, for the hint of the error.
 * @throws InputError if the value is no number or out of range.
 */
export function readNumber(
	value: unknown,
	label: string,
	{ min, max = Infinity, integer = false }: NumberRange,
	example?: number,
): number {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	const isNumber = integer ? Number.isInteger(number) : Number.isFinite(number);
	if (isNumber && Number(number) >= min && Number(number) <= max) return Number(number);

	const kind = integer ? 'a whole number' : 'a number';
	const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
	const such = example === undefined ? '' : `, e.g. ${example}`;
	throw new InputError(label, `is ${shown(value)}`, `Enter ${kind} ${range}${such}`);
}

/**
 * Reads one of several fixed values.
 *
 * @throws InputError if the value is another one.
 */
export function readChoice<V extends string>(
	value: unknown,
	label: string,
	values: readonly V[],
): V {
	if (values.includes(value as V)) return value as V;
	throw new InputError(label, `is ${shown(value)}`, `Choose one of: ${values.join(', ')}`);
}

/**
 * Reads a switch. An expression may return it as text, such as the TRUE of a spreadsheet, or as 1 from a database.
 *
 * @throws InputError for anything else: taken for off, a switch would not do what it is for, such as the protection of a ledger.
 */
export function readSwitch(value: unknown, label: string): boolean {
	const text = shown(value).trim().toLowerCase();
	if (['true', '1'].includes(text)) return true;
	if (['false', '0'].includes(text)) return false;
	throw new InputError(label, `is ${shown(value)}`, 'Enter true or false');
}

/** Whether an expression gives no value, as for an empty cell: undefined, null, or blank text. */
export function isBlank(value: unknown): boolean {
	return (
		value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
	);
}

/** A text from outside in one line that is short enough for a message. */
export function oneLine(text: string): string {
	return shorten(text, 120).replace(/\s+/g, ' ');
}

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
	return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** A value as text, objects as JSON; a date, which is a text in JSON, without quotes. */
export function shown(value: unknown): string {
	if (typeof value !== 'object') return String(value);
	const json = JSON.stringify(value);
	return json.startsWith('"') ? (JSON.parse(json) as string) : json;
}

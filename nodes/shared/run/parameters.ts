import type { IExecuteFunctions } from 'n8n-workflow';

import { EMPTY_TEXT_HINT, InputError } from '../../client/errors';
import { parseJson } from '../../client/json';
import { isBlank, oneLine, shown } from '../../client/values';
import { placesBelow, type FormPlace } from './names';

/**
 * A text that names one thing, such as a model or a task, as it was entered; empty where nothing was.
 *
 * @throws InputError for an object or a list of an expression: its JSON names nothing, and no default must take its place.
 */
export function oneName(value: unknown, label: string): string {
	const text = shown(value ?? '');
	// A date is an object, too.
	if (typeof value !== 'object' || !/^[[{]/.test(text)) return text;
	const hint = `${EMPTY_TEXT_HINT}; Split Out makes items of a list`;
	throw new InputError(label, `is ${oneLine(text)}`, hint);
}

/**
 * Returns a value as a text for a model. An object or a list is sent as JSON.
 *
 * @throws InputError for a value that says nothing, such as an empty list or NaN: its answer would be paid for.
 */
export function checkPrompt(value: unknown, label: string): string {
	const text = shown(value ?? '');
	if (typeof value === 'string' || !isNoValue(text)) return text;
	throw new InputError(label, `is ${oneLine(text)}`, EMPTY_TEXT_HINT);
}

/** What an expression gives in place of a value, as text, beside a list or an object of nothing. */
const NO_VALUE = /^(undefined|null|NaN|true|false|\[object Object\])$/;

/**
 * The first text of a form that was meant as an expression, or has more braces than its expression: n8n's editor closes them itself.
 * It is judged as it is stored: the values of items may have any braces.
 *
 * @param label Label of the field that the value is in.
 * @returns The error that says what to change; undefined where there is no such text.
 */
export function unevaluatedText(
	parameters: unknown,
	fields: readonly FormPlace[],
	label = '',
): InputError | undefined {
	if (typeof parameters === 'object' && parameters !== null)
		return Object.entries(parameters)
			.map(([key, each]) => {
				const field = fields.find(({ name }) => name === key);
				const below = field ? placesBelow(field) : fields;
				return unevaluatedText(each, below, field?.displayName ?? label);
			})
			.find((found) => found !== undefined);
	if (typeof parameters !== 'string') return undefined;
	const [start = '', ...others] = parameters.split('{{');
	// n8n evaluates up to the first braces that close.
	const parts = others.map((other) => other.split('}}'));
	const expressions = parts.flatMap(([code, ...after]) => (after.length > 0 ? [code!] : []));
	const rest = [start, ...parts.flatMap(([, ...after]) => after.join('}}'))].join('');
	const isOpen = parameters.startsWith('=');
	const meant = isOpen ? undefined : expressions.find((each) => /\$[a-z(]/i.test(each));
	if (meant !== undefined) {
		const problem = `has the text ${oneLine(`{{${meant}}}`)}, which n8n does not evaluate`;
		return new InputError(label, problem, 'Switch the field from Fixed to Expression');
	}
	if (!isOpen || expressions.length === 0) return undefined;
	const hasMore = rest.includes('}}') && rest.split('}').length > rest.split('{').length;
	if (!hasMore) return undefined;
	return new InputError(
		label,
		'has }} outside of its expression',
		'Remove them from the expression: the editor has closed it itself',
	);
}

/**
 * Checks that a text has no number that was rounded on its way: it would be the ID of something else.
 *
 * @throws InputError for an integer above 2^53, as a number or in a text with a number of the item.
 */
export function checkNotRounded(
	context: IExecuteFunctions,
	itemIndex: number,
	name: string,
	label: string,
): void {
	const entered: unknown = context.getNodeParameter(name, itemIndex, '');
	const text = shown(entered ?? '');
	if (!/\d{16}|e\+/.test(text)) return;
	const rounded: string[] = [];
	JSON.stringify([entered, context.getInputData()[itemIndex]?.json], (_name, value: unknown) => {
		if (isRounded(value)) rounded.push(String(value));
		return value;
	});
	if (rounded.some((number) => text.includes(number))) throw roundedError(label, text);
}

/** The error for a number that was rounded on its way. */
export function roundedError(label: string, text: string): InputError {
	return new InputError(
		label,
		`is ${oneLine(text)}: a number above ${Number.MAX_SAFE_INTEGER} is rounded, and may be another one`,
		'Pass it on as text, such as a column of a sheet with the format Plain Text',
	);
}

/** Whether a value is such a number. */
export function isRounded(value: unknown): value is number {
	return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

function isNoValue(text: string): boolean {
	return NO_VALUE.test(text) || isHollow(parseJson(text));
}

/** Whether a value is a list or an object with nothing in it, at any depth, such as `[null]`. */
export function isHollow(value: unknown): boolean {
	const isGroup = typeof value === 'object' && value !== null;
	return isGroup && Object.values(value).every((each) => isBlank(each) || isHollow(each));
}

/**
 * Returns a key that tells items apart.
 *
 * @throws InputError for the text of a missing value: all items without one would have the same key.
 */
export function checkKey(key: string, label: string): string {
	// One text, however its accents are written.
	if (!isNoValue(key)) return key.normalize();
	throw new InputError(
		label,
		`is ${oneLine(key)}, as for every item without a value`,
		'Enter an expression that returns a text or a number of its own',
	);
}

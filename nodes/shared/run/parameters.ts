import { InputError } from '../../client/errors';
import { oneLine, shown } from '../../client/values';
import type { NodeContext } from './nodeContext';

/** A text parameter of an item. Null and undefined, as an expression gives for an empty cell, read as empty text. */
export function readText(context: NodeContext, name: string, itemIndex: number): string {
	const value: unknown = context.getNodeParameter(name, itemIndex, '');
	return shown(value ?? '');
}

/**
 * The model code of an item; empty where none is chosen.
 *
 * @throws InputError for an object or a list of an expression: the default model must not take its place.
 */
export function readModel(context: NodeContext, itemIndex: number, name = 'model'): string {
	const value: unknown = context.getNodeParameter(name, itemIndex, '', { extractValue: true });
	const model = shown(value ?? '').trim();
	if (typeof (value ?? '') !== 'object') return model;
	throw new InputError(
		'Model',
		`is ${oneLine(model)}`,
		'Enter a code, or an expression that returns one',
	);
}

/** What an expression gives in place of a value, as text. */
const NO_VALUES: readonly string[] = [
	...['undefined', 'null', 'NaN', 'true', 'false'],
	...['{}', '[]', '[null]', '[object Object]'],
];

/**
 * Returns a key that tells items apart.
 *
 * @throws InputError for the text of a missing value: all items without one would have the same key.
 */
export function checkKey(key: string, label: string): string {
	if (!NO_VALUES.includes(key)) return key;
	throw new InputError(
		label,
		`is ${key}, as for every item without a value`,
		'Enter an expression that returns a text or a number of its own',
	);
}

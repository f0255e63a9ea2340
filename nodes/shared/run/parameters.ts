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

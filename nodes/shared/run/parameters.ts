import { shown } from '../../client/values';
import type { NodeContext } from './nodeContext';

/** A text parameter of an item. Null and undefined, as an expression gives for an empty cell, read as empty text. */
export function readText(context: NodeContext, name: string, itemIndex: number): string {
	const value: unknown = context.getNodeParameter(name, itemIndex, '');
	return shown(value ?? '');
}

/** The model code of an item; empty where none is chosen. */
export function readModel(context: NodeContext, itemIndex: number, name = 'model'): string {
	const value: unknown = context.getNodeParameter(name, itemIndex, '', { extractValue: true });
	return typeof value === 'string' ? value.trim() : '';
}

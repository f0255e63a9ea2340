import type { NodeContext } from './nodeContext';

/** A text parameter of an item; what an expression gives as nothing reads as empty text. */
export function readText(context: NodeContext, name: string, itemIndex: number): string {
	const value: unknown = context.getNodeParameter(name, itemIndex, '');
	if (value === null || value === undefined) return '';
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** The model code that the model field of an item stands for; empty where none is chosen. */
export function readModel(context: NodeContext, itemIndex: number): string {
	const value: unknown = context.getNodeParameter('model', itemIndex, '', { extractValue: true });
	return typeof value === 'string' ? value.trim() : '';
}

import type { INodeProperties } from 'n8n-workflow';

/** The options of a collection in the order of their names, as n8n lists them. */
export function sortByName(properties: readonly INodeProperties[]): INodeProperties[] {
	return [...properties].sort((a, b) => a.displayName.localeCompare(b.displayName));
}

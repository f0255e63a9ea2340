import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

export interface ResourceLocatorOptions {
	/** Name of the node's method that gives the list. */
	readonly searchListMethod: string;
	readonly placeholder: string;
	/** What an empty list field shows, where empty is a choice; n8n would ask to choose. */
	readonly empty?: string;
}

/** A field to choose from a list or to type: the service may know values that this package does not. */
export function resourceLocator(
	field: Omit<INodeProperties, 'type' | 'modes'>,
	{ searchListMethod, placeholder, empty }: ResourceLocatorOptions,
): INodeProperties {
	return {
		...field,
		type: 'resourceLocator',
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod, searchable: true },
				...(empty === undefined ? {} : { placeholder: empty }),
			},
			// The editor calls a way of this name By ID, whatever its title.
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder },
		],
	};
}

/** The items whose name or value contains the filter, in any case. */
export function searchItems(
	items: readonly INodeListSearchItems[],
	filter = '',
): Promise<INodeListSearchResult> {
	const wanted = filter.toLowerCase();
	const results = items.filter(({ name, value }) =>
		`${name} ${value}`.toLowerCase().includes(wanted),
	);
	return Promise.resolve({ results });
}

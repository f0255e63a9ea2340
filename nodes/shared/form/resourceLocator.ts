import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

/**
 * A resource locator: choose from a list, or type a value that this package does not know.
 *
 * @param choice Name of the node's list search method, and the placeholder of the text. `empty` is that of the empty list
 *   where empty is a valid choice; n8n would show a prompt to choose.
 */
export function resourceLocator(
	field: Omit<INodeProperties, 'type' | 'modes'>,
	choice: { searchListMethod: string; placeholder: string; empty?: string },
): INodeProperties {
	const { searchListMethod, placeholder, empty } = choice;
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
			// The editor labels a mode of this name By ID, whatever its display name.
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder },
		],
	};
}

/** Case-insensitive search in names and values. */
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

import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

const MODEL = { displayName: 'Model', name: 'model' };

/** A model to choose from a list, or to type: the service may have models that this package does not know. */
export function modelLocator(
	searchListMethod: string,
	placeholder: string,
	field: Pick<INodeProperties, 'description' | 'default' | 'required'>,
): INodeProperties {
	return {
		...MODEL,
		type: 'resourceLocator',
		...field,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod, searchable: true },
			},
			{ displayName: 'By Code', name: 'id', type: 'string', placeholder },
		],
	};
}

/** The items whose name or value contains the filter, in any case. */
export function searchItems(
	items: readonly INodeListSearchItems[],
	filter = '',
): INodeListSearchResult {
	const wanted = filter.toLowerCase();
	return {
		results: items.filter(({ name, value }) =>
			`${name} ${value}`.toLowerCase().includes(wanted),
		),
	};
}

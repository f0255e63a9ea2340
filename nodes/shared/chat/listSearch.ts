import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { searchItems } from '../form/resourceLocator';
import { CHAT_MODELS } from './properties';
import { SUGGESTIONS } from './requestOptions';

type ListSearch = (this: ILoadOptionsFunctions, filter?: string) => Promise<INodeListSearchResult>;

/**
 * The list search methods of every node with chat fields: one for the models, and one for each field of CHAT_FIELDS with
 * suggested values.
 */
export const chatListSearch: Readonly<Record<string, ListSearch>> = Object.fromEntries(
	Object.entries({ searchModel: CHAT_MODELS, ...SUGGESTIONS }).map(
		([method, items]): [string, ListSearch] => [method, (filter) => searchItems(items, filter)],
	),
);

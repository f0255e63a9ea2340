import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { searchItems } from '../form/resourceLocator';
import { readModelCodes } from '../run/credential';
import { DEFAULT_MODEL } from './properties';
import { REASONING_EFFORTS } from './requestOptions';

type ListSearch = (this: ILoadOptionsFunctions, filter?: string) => Promise<INodeListSearchResult>;

/** The list search methods of every node with chat fields. */
export const chatListSearch: Readonly<Record<string, ListSearch>> = {
	searchReasoningEffort: async (filter) => await searchItems(REASONING_EFFORTS, filter),
	async searchModel(filter) {
		const codes = await readModelCodes(this, 'chatModels');
		const items = codes.map(({ code, name }) => ({ name, value: code }));
		return await searchItems([{ name: DEFAULT_MODEL, value: '' }, ...items], filter);
	},
};

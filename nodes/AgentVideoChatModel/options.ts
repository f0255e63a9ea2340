import type { INodeProperties } from 'n8n-workflow';

import { callProperties } from '../shared/chat/callOptions';
import { requestProperties } from '../shared/chat/requestOptions';
import { optionsProperty } from '../shared/form/options';
import { retryOutcomeUnknownOption } from '../shared/form/retryOptions';

/** Options that a chat model does not offer: the connected agent or chain sets them. */
const SET_BY_CALLER = ['tools', 'toolChoice', 'streamReasoning'];

/** The options of the chat model. */
export const chatModelOptions: INodeProperties = optionsProperty(
	[...requestProperties, ...callProperties, retryOutcomeUnknownOption.property].filter(
		({ name }) => !SET_BY_CALLER.includes(name),
	),
);

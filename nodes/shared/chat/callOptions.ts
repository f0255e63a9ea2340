import type { INodeProperties } from 'n8n-workflow';

import { jsonField } from '../form/fields';
import { booleanOption, choiceOption, optionTable } from '../form/options';
import { timeoutOptions } from '../form/callOptions';
import type { NodeContext } from '../run/nodeContext';

/** Longer than the longest call that the service allows (600 s, spec 8). A reply that is not streamed is silent until it is complete. */
const chatTimeouts = timeoutOptions({ idle: 620, total: 620 });

export const { includeUsage, ...showOptions } = optionTable({
	includeUsage: booleanOption('Token Usage in Streams', {
		help: 'Whether a streamed request asks for its token usage (stream_options). Switch it off for a service that rejects this field; the output then has no usage.',
		default: true,
	}),
	streamReasoning: booleanOption('Show Reasoning', {
		help: 'Whether a streaming chat shows the reasoning of the model before its answer',
	}),
	showInChat: choiceOption<'tools' | 'text'>('Show in Chat', {
		help: 'What a streaming chat shows until the answer is complete',
		default: 'tools',
		choices: [
			['Text and Tools', 'tools', 'Also a line for each tool that runs'],
			['Text Only', 'text', 'Only the text of the reply'],
		],
	}),
});

/** The timeouts of an item's call, and whether its stream reports the token usage. */
export const readCallLimits = (context: NodeContext, itemIndex: number) => ({
	...chatTimeouts.read(context, itemIndex),
	includeUsage: includeUsage.read(context, itemIndex),
});

/** How a chat call is made, apart from the fields of the request. */
export const callProperties: INodeProperties[] = [
	showOptions.streamReasoning.property,
	chatTimeouts.property,
	includeUsage.property,
	jsonField('Extra Body Fields', 'extraBody', {
		default: '{}',
		description: 'More request fields as JSON, for parameters that this form does not have',
	}),
];

import type { INodeProperties } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import type { NodeContext } from '../run/nodeContext';
import { retriesOption } from '../form/retryOptions';

/** Longer than the longest call that the service allows (600 s, spec 8). */
const DEFAULT_TIMEOUT_SECONDS = 620;

/** How a chat call is made, beyond the fields of the request. */
export const callOptions: INodeProperties[] = [
	{
		displayName: 'Extra Body Fields',
		name: 'extraBody',
		type: 'json',
		default: '{}',
		description:
			'Further fields for the request, as JSON, for what the service takes beyond this form',
	},
	retriesOption,
	{
		displayName: 'Show Reasoning',
		name: 'streamReasoning',
		type: 'boolean',
		default: false,
		description: 'Whether the chat shows what the model thinks before it answers',
	},
	{
		displayName: 'Timeout (Seconds)',
		name: 'timeout',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 620,
		description:
			'Idle timeout in seconds: how long a call may stay without receiving any data. Text that keeps arriving is never cut off.',
	},
];

/** For a prompt that goes on with a conversation. */
export const earlierMessagesOption: INodeProperties = {
	displayName: 'Earlier Messages',
	name: 'earlierMessages',
	type: 'json',
	default: '[]',
	description:
		'The conversation so far, as a JSON list of messages. They go between System Message and Prompt.',
	displayOptions: { show: { '/input': ['prompt'] } },
};

/**
 * Seconds without a byte after which the call of an item is given up.
 *
 * @param fallback Seconds where the option is not set.
 * @throws InputError when it is not a number above 0.
 */
export function readTimeoutSeconds(
	context: NodeContext,
	itemIndex: number,
	fallback = DEFAULT_TIMEOUT_SECONDS,
): number {
	const value: unknown = context.getNodeParameter('options.timeout', itemIndex, fallback);
	const seconds = Number(value);
	if (seconds > 0) return seconds;
	throw new InputError(
		'Timeout',
		`is ${String(value)}`,
		`Enter a number of seconds, e.g. ${fallback}`,
	);
}

import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { sortByName } from '../shared/form/sortByName';
import { callOptions, earlierMessagesOption, readTimeoutSeconds } from '../shared/chat/callOptions';
import { chatOptions } from '../shared/chat/requestOptions';
import type { Service } from '../shared/run/host';
import { batchOptions, readBatching } from '../shared/form/batchOptions';
import { mediaOptions, readMediaDownload } from '../shared/chat/mediaOptions';
import { readRetry, retryOutcomeUnknownOption } from '../shared/form/retryOptions';
import type { AgentSettings } from './state';

const DEFAULTS = { maxRounds: 10, maxCalls: 50, maxRepeats: 3 };

const loopOptions: INodeProperties[] = [
	{
		displayName: 'Bad Tool Calls',
		name: 'badCalls',
		type: 'options',
		options: [
			{
				name: 'Tell the Model',
				value: 'tell',
				description: 'The model is told and can mend it',
			},
			{ name: 'Fail', value: 'fail', description: 'The node fails' },
		],
		default: 'tell',
		description: 'What happens to calls of unknown tools and to arguments that do not fit',
	},
	{
		displayName: 'Emit Answers',
		name: 'emit',
		type: 'options',
		options: [
			{ name: 'All Together', value: 'together', description: 'In the order of the input' },
			{
				name: 'As They Finish',
				value: 'finished',
				description: 'Each as soon as it is there',
			},
		],
		default: 'together',
		description: 'When answers leave the node if it has several items',
	},
	{
		displayName: 'Maximum Rounds',
		name: 'maxRounds',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 10,
		description: 'Replies of the model after which the conversation leaves through Stopped',
	},
	{
		displayName: 'Maximum Same Calls',
		name: 'maxRepeats',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 3,
		description: 'How often the model may ask for the same tool with the same arguments',
	},
	{
		displayName: 'Maximum Tool Calls',
		name: 'maxCalls',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Tool calls of a conversation, in all',
	},
];

/** Every option of Agent with Tools. The tools themselves have a field of their own. */
export const agentOptions: INodeProperties[] = sortByName([
	...chatOptions.filter(({ name }) => name !== 'tools'),
	...callOptions,
	...mediaOptions,
	...batchOptions.filter(({ name }) => name !== 'pause'),
	...loopOptions,
	earlierMessagesOption,
	retryOutcomeUnknownOption,
]);

/** What the first item's parameters settle for the whole batch. */
export function readSettings(context: IExecuteFunctions, service: Service): AgentSettings {
	const option = (name: string, fallback: unknown) =>
		context.getNodeParameter(`options.${name}`, 0, fallback) as unknown;
	const limit = (name: keyof typeof DEFAULTS) =>
		Math.max(1, Math.floor(Number(option(name, DEFAULTS[name]))) || DEFAULTS[name]);
	return {
		limits: {
			maxRounds: limit('maxRounds'),
			maxCalls: limit('maxCalls'),
			maxRepeats: limit('maxRepeats'),
		},
		allAtOnce: context.getNodeParameter('runCalls', 0) === 'allAtOnce',
		asTheyFinish: option('emit', 'together') === 'finished',
		failOnInvalidCall: option('badCalls', 'tell') === 'fail',
		singleOutput:
			context.getNodeParameter('toolSource', 0) === 'json' ||
			context.getNodeParameter('outputMode', 0, 'perTool') === 'single',
		simplify: context.getNodeParameter('simplify', 0) === true,
		stream: context.getNodeParameter('streaming', 0) !== 'off',
		streamReasoning: option('streamReasoning', false) === true,
		concurrency: readBatching(context).concurrency,
		media: readMediaDownload(context, 0, service),
		retry: readRetry(context, 0),
		idleTimeoutMs: readTimeoutSeconds(context, 0) * 1000,
	};
}

import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import {
	callProperties,
	earlierMessagesProperty,
	readIdleTimeoutMs,
	showInChatOption,
	showReasoningOption,
} from '../shared/chat/callOptions';
import { mediaProperties, readMediaDownload } from '../shared/chat/mediaOptions';
import { requestProperties } from '../shared/chat/requestOptions';
import { concurrencyProperty, readBatching } from '../shared/form/batchOptions';
import { choiceOption, numberOption, optionsProperty } from '../shared/form/options';
import { readRetry, retryOutcomeUnknownOption } from '../shared/form/retryOptions';
import type { Service } from '../shared/run/host';

const invalidCallsOption = choiceOption<'tell' | 'fail'>({
	name: 'invalidCalls',
	label: 'Invalid Tool Calls',
	help: 'What happens when the model calls an unknown tool or passes arguments that do not match the schema',
	default: 'tell',
	choices: [
		{
			value: 'tell',
			label: 'Return Error to Model',
			help: 'Return the error to the model so that it can correct the call',
		},
		{ value: 'fail', label: 'Fail the Node', help: 'The node fails' },
	],
});

const emitOption = choiceOption<'together' | 'finished'>({
	name: 'emit',
	label: 'Emit Answers',
	help: 'When answers leave the node if it has several items',
	default: 'together',
	choices: [
		{ value: 'together', label: 'All Together', help: 'In the order of the input' },
		{ value: 'finished', label: 'As They Finish', help: 'Each one as soon as it is finished' },
	],
});

const maxRoundsOption = numberOption({
	name: 'maxRounds',
	label: 'Maximum Rounds',
	help: 'Number of replies of the model after which the conversation leaves through Stopped',
	default: 10,
	min: 1,
	integer: true,
});

const maxRepeatsOption = numberOption({
	name: 'maxRepeats',
	label: 'Maximum Repeated Calls',
	help: 'How often the model may call the same tool with the same arguments',
	default: 3,
	min: 1,
	integer: true,
});

const maxCallsOption = numberOption({
	name: 'maxCalls',
	label: 'Maximum Tool Calls',
	help: 'Total number of tool calls in a conversation',
	default: 50,
	min: 1,
	integer: true,
});

/** The options of Agent with Tools. The tools themselves are a field of their own. */
export const agentOptions: INodeProperties = optionsProperty([
	...requestProperties.filter(({ name }) => name !== 'tools'),
	...callProperties,
	...mediaProperties,
	concurrencyProperty,
	invalidCallsOption.property,
	emitOption.property,
	maxRoundsOption.property,
	maxRepeatsOption.property,
	maxCallsOption.property,
	earlierMessagesProperty,
	retryOutcomeUnknownOption.property,
	showInChatOption.property,
]);

/** The settings of a batch of conversations, read once when it begins: in later runs of the node the input items differ. */
export type AgentSettings = ReturnType<typeof readSettings>;

/**
 * The settings of a batch of conversations.
 *
 * @param item Index of its first item: n8n evaluates them for this one, and they apply to all.
 */
export function readSettings(context: IExecuteFunctions, service: Service, item: number) {
	return {
		limits: {
			maxRounds: maxRoundsOption.read(context, item),
			maxCalls: maxCallsOption.read(context, item),
			maxRepeats: maxRepeatsOption.read(context, item),
		},
		/** Whether all tool calls of a round leave the node together; otherwise one at a time. */
		allAtOnce: context.getNodeParameter('runCalls', item) === 'allAtOnce',
		/** Whether each answer leaves the node as soon as it is complete; otherwise all together. */
		asTheyFinish: emitOption.read(context, item) === 'finished',
		failOnInvalidCall: invalidCallsOption.read(context, item) === 'fail',
		singleOutput: isSingleOutput(context),
		simplify: context.getNodeParameter('simplify', item) === true,
		stream: context.getNodeParameter('streaming', item) !== 'off',
		showReasoning: showReasoningOption.read(context, item),
		/** Whether a streaming chat shows the tool calls. */
		showTools: showInChatOption.read(context, item) === 'tools',
		concurrency: readBatching(context).concurrency,
		media: readMediaDownload(context, item, service),
		retry: readRetry(context, item),
		idleTimeoutMs: readIdleTimeoutMs(context, item),
	};
}

/** Whether the calls of all tools leave through one output. */
export function isSingleOutput(context: IExecuteFunctions): boolean {
	return (
		context.getNodeParameter('toolSource', 0) === 'json' ||
		context.getNodeParameter('outputMode', 0, 'perTool') === 'single'
	);
}

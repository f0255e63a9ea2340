import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { callProperties, readCallLimits, showOptions } from '../shared/chat/callOptions';
import { mediaProperties, readMediaDownload } from '../shared/chat/replyMedia';
import { memoryLimitsProperty } from '../shared/chat/memory';
import { appModelProperty } from '../shared/chat/properties';
import { requestProperties } from '../shared/chat/requestOptions';
import { repairAttemptsProperty } from '../shared/chat/responseFormat';
import { itemConcurrency } from '../shared/form/batchOptions';
import {
	choiceOption,
	countOption,
	optionGroup,
	optionsProperty,
	optionTable,
	readOptions,
} from '../shared/form/options';
import { chatRetryGroup, readRetry } from '../shared/form/retryOptions';

const { maxRounds, concurrency } = optionTable({
	maxRounds: countOption('Maximum Rounds', {
		help: 'Number of replies of the model after which the conversation leaves through Stopped',
		default: 10,
	}),
	concurrency: itemConcurrency,
});

const callGroup = optionGroup('Tool Calls', 'toolCalls', {
	maxCalls: countOption('Maximum Tool Calls', {
		help: 'Total number of tool calls in a conversation',
		default: 50,
	}),
	maxRepeats: countOption('Maximum Repeated Calls', {
		help: 'How often the model may call the same tool with the same arguments',
		default: 3,
	}),
	invalidCalls: choiceOption<'tell' | 'fail'>('Invalid Tool Calls', {
		help: 'What happens when the model calls an unknown tool or passes arguments that do not match the schema',
		default: 'tell',
		choices: [
			['Return Error to Model', 'tell', 'So that it can correct the call'],
			['Fail the Node', 'fail', 'The node fails'],
		],
	}),
});

/** The options of Agent with Tools. The tools themselves are a field of their own. */
export const agentOptions: INodeProperties = optionsProperty([
	appModelProperty,
	repairAttemptsProperty,
	maxRounds.property,
	...requestProperties.filter(({ name }) => name !== 'tools'),
	callGroup.property,
	showOptions.showInChat.property,
	...mediaProperties,
	memoryLimitsProperty,
	concurrency.property,
	chatRetryGroup.property,
	...callProperties,
]);

/** The settings of a batch of conversations, read once when it begins: in later runs of the node the input items differ. */
export type AgentSettings = ReturnType<typeof readSettings>;

/**
 * The settings of a batch of conversations.
 *
 * @param item Index of its first item: n8n evaluates them for this one, and they apply to all.
 */
export function readSettings(context: IExecuteFunctions, item: number) {
	const calls = readOptions(callGroup.options, context, item);
	return {
		limits: {
			maxRounds: maxRounds.read(context, item),
			maxCalls: calls.maxCalls,
			maxRepeats: calls.maxRepeats,
		},
		/** Whether all tool calls of a round leave the node together; otherwise one at a time. */
		allAtOnce: context.getNodeParameter('runCalls', item) === 'allAtOnce',
		failOnInvalidCall: calls.invalidCalls === 'fail',
		singleOutput: isSingleOutput(context),
		stream: context.getNodeParameter('streaming', item) !== 'off',
		showReasoning: showOptions.streamReasoning.read(context, item),
		/** Whether a streaming chat shows the tool calls. */
		showTools: showOptions.showInChat.read(context, item) === 'tools',
		concurrency: concurrency.read(context, 0),
		media: readMediaDownload(context, item),
		retry: readRetry(context, item),
		...readCallLimits(context, item),
	};
}

/** Whether the calls of all tools leave through one output. */
export function isSingleOutput(context: IExecuteFunctions): boolean {
	return (
		context.getNodeParameter('toolSource', 0) === 'json' ||
		context.getNodeParameter('outputMode', 0, 'perTool') === 'single'
	);
}

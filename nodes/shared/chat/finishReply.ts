import type { IDataObject, IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { readJsonReply, type JsonFormat } from '../../client/chat/jsonReply';
import { checkAnswer, toChatResult } from '../../client/chat/result';
import type { ChatCompletion } from '../../client/chat/types';
import { asJson } from '../../client/json';
import { isBlank, readChoice } from '../../client/values';
import { listField } from '../form/fields';
import { forTools, type NodeContext } from '../run/nodeContext';

const LABEL = 'Output';

const OUTPUTS = [
	['Simple', 'simple', 'The answer, its files and its token usage'],
	[
		'Detailed',
		'detailed',
		'Also the messages, executed tool calls and their results, reasoning and session. A public chat may show the whole output to its visitors.',
	],
	['Raw', 'raw', 'The response of the service, unchanged'],
] as const;

/** How much of a reply a node puts out. Only a simple output has nothing that the visitor of a chat must not read. */
export type Output = (typeof OUTPUTS)[number][1];

/** The field of every chat node. */
export const outputProperty: INodeProperties = listField(LABEL, 'output', {
	choices: OUTPUTS,
	default: 'simple',
	description: 'How much of the reply the node puts out',
});

/**
 * The output that an item asks for; the simple one where an expression gives nothing.
 *
 * @throws InputError for any other value.
 */
export function readOutput(context: NodeContext, item: number): Output {
	const chosen: unknown = context.getNodeParameter('output', item, 'simple');
	const values = OUTPUTS.map(([, value]) => value);
	return isBlank(chosen) ? 'simple' : readChoice(chosen, LABEL, values);
}

/** Which reply is no answer, by node; undefined for a node that takes every reply. The only place where replies are judged. */
const JUDGES = {
	reply: undefined,
	assistant: undefined,
	agent: checkAnswer,
	model: checkAnswer,
};

/**
 * Judges a reply by the row of its node.
 *
 * @throws ServiceError for a reply that is no answer.
 */
export function judgeReply(completion: ChatCompletion, node: keyof typeof JUDGES): void {
	JUDGES[node]?.(completion);
}

/** What is different where the nodes finish a reply. */
const REPLIES = {
	reply: { tool: 'reply' },
	assistant: { tool: 'assistant', hasRunAll: true },
	agent: {
		tool: 'reply',
		hasRunAll: true,
		raw: (response: ChatCompletion): object => ({ response }),
	},
} as const satisfies Record<string, Kind>;

interface Kind {
	/** The fields that an agent's model gets of it, see `forTools`. */
	readonly tool: 'reply' | 'assistant';
	/** Whether all tool calls of a reply have run, see `toChatResult`. */
	readonly hasRunAll?: boolean;
	readonly raw?: (completion: ChatCompletion) => object;
}

/**
 * What a node puts out for a reply, without its files: every chat node passes through here, so a judgment on replies has
 * its place here.
 *
 * @throws ServiceError when the reply is no answer, or not in the format.
 */
export function finishReply(
	context: IExecuteFunctions,
	completion: ChatCompletion,
	kind: keyof typeof REPLIES,
	{
		format,
		output,
	}: { readonly format: JsonFormat | undefined; readonly output: Output | undefined },
): IDataObject {
	const { tool, hasRunAll, raw }: Kind = REPLIES[kind];
	judgeReply(completion, kind);
	const json = readJsonReply(completion, format);
	if (output === 'raw') return asJson(raw?.(completion) ?? completion);
	const details = output === 'detailed';
	return forTools(
		context,
		tool,
		toChatResult(completion, { json, details, hasRunAll: hasRunAll === true }),
	);
}

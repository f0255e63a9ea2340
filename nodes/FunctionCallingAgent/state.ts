import type { IBinaryKeyData, IDataObject, INodeExecutionData, ISourceData } from 'n8n-workflow';

import type { Conversation } from '../client/chat/conversation';
import type { JsonFormat } from '../client/chat/jsonReply';
import type { ToolDeclaration } from '../client/chat/tools';
import type { ChatRequest } from '../client/chat/types';
import type { Output } from '../shared/chat/finishReply';
import type { Memory } from '../shared/chat/memory';
import type { Answerer } from '../client/chat/sendChat';
import type { Envelope, Position } from './matching';
import type { AgentSettings } from './properties';
import type { ToolNode } from './tools';

/** A conversation and its per-item settings, kept in the node context between runs. */
export interface ConversationSlot {
	/** Number of the conversation among those under way, from 0. */
	readonly number: number;
	/** Index of its input item in the run that began it. */
	readonly item: number;
	/** The fields of that item, for the expressions of connected tool nodes; empty if there are none. */
	readonly json: IDataObject;
	readonly tools: readonly ToolDeclaration[];
	/** The connected tool nodes, by tool name. */
	readonly toolNodes: Readonly<Record<string, ToolNode>>;
	/** The request without its messages. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** What it is sent to in turn if it is rejected. */
	readonly fallbacks?: readonly Answerer[];
	/** How much the outcome has; missing if the item's fields are invalid. Only a simple one leaves out the conversation. */
	readonly output?: Output;
	/** What remembers the conversation, if anything. */
	readonly memory?: Memory;
	/** The format of the answer; undefined for a text. */
	readonly format?: JsonFormat | undefined;
	/** Undefined if the item's fields are invalid. */
	conversation: Conversation | undefined;
	/** The files that the tools have returned, by their field at the outcome. */
	readonly files: IBinaryKeyData;
	/** The output item of the answer. */
	answer?: Pick<INodeExecutionData, 'json' | 'binary'>;
	/** The output of a failed item, with *On Error: Continue*. */
	failure?: IDataObject;
}

/** The conversations of the items that reached the node together. */
export interface Batch {
	/** Undefined if they are invalid: then every conversation has failed. */
	readonly settings: AgentSettings | undefined;
	/** Source of the items. */
	readonly source: ISourceData | null;
	readonly slots: readonly ConversationSlot[];
}

/** A tool call that has been handed out and whose result has not come back. */
export interface OpenCall {
	readonly envelope: Envelope;
	/** Where the call left the node; missing for a call of a connected tool node. */
	readonly position?: Position;
}

/**
 * State of the node between its runs: the loop through the tool branches runs it once per tool result. Empty between two
 * batches.
 */
export interface AgentState {
	batches: Batch[];
	open: OpenCall[];
	/** The sources whose items have been read: *Retry On Fail* runs the node again with the items of the last one. */
	readonly arrivals: (ISourceData | null)[];
	/** Number of conversations so far. */
	conversations: number;
	/** How often *Retry On Fail* has repeated this run of the node. */
	retries: number;
}

/** Whether the outcome of a conversation has all of it. */
export function hasDetails({ output = 'simple' }: ConversationSlot): boolean {
	return output !== 'simple';
}

/** The number of its tools that run in branches. */
export function countOwnTools({ tools, toolNodes }: ConversationSlot): number {
	return tools.length - Object.keys(toolNodes).length;
}

/** The conversation of a call. */
export function slotOf({ batches }: AgentState, { conversation }: Envelope): ConversationSlot {
	return batches.flatMap(({ slots }) => slots).find(({ number }) => number === conversation)!;
}

/** Whether the batch has no call out, so that it can continue. */
export function isFree({ open }: AgentState, { slots }: Batch): boolean {
	return !slots.some(({ number }) =>
		open.some(({ envelope }) => envelope.conversation === number),
	);
}

/** Whether the input items of this run are those that began the batch. */
export function isCurrent({ arrivals }: AgentState, { source }: Batch): boolean {
	return isSameSource(arrivals.at(-1) ?? null, source);
}

/** Whether both are the same output of the same run. */
export function isSameSource(a: ISourceData | null, b: ISourceData | null): boolean {
	const fields = ['previousNode', 'previousNodeOutput', 'previousNodeRun'] as const;
	return fields.every((field) => a?.[field] === b?.[field]);
}

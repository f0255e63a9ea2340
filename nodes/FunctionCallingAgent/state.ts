import type { IDataObject, IExecuteFunctions, INodeExecutionData, ISourceData } from 'n8n-workflow';

import type { Conversation, ConversationLimits } from '../client/chat/conversation';
import type { ToolDeclaration } from '../client/chat/tools';
import type { ChatRequest } from '../client/chat/types';
import type { RetryPolicy } from '../client/http/retry';
import type { MediaDownload } from '../shared/chat/mediaOptions';
import { nodeState, type NodeState } from '../shared/run/nodeState';
import type { ToolNode } from './toolNodes';

/** Settings of a batch of conversations, read once when it begins: in later runs of the node the input items differ. */
export interface AgentSettings {
	readonly limits: ConversationLimits;
	/** Whether all tool calls of a round leave the node together; otherwise one at a time. */
	readonly allAtOnce: boolean;
	/** Whether each answer leaves the node as soon as it is complete; otherwise all together. */
	readonly asTheyFinish: boolean;
	/** Whether an invalid tool call fails the item; otherwise the error is returned to the model. */
	readonly failOnInvalidCall: boolean;
	/** Whether the calls of all tools leave through one output. */
	readonly singleOutput: boolean;
	readonly simplify: boolean;
	readonly stream: boolean;
	readonly showReasoning: boolean;
	/** Whether a streaming chat shows a line for each tool call. */
	readonly showTools: boolean;
	readonly concurrency: number;
	/** How to download the files of an answer; undefined if they are not downloaded. */
	readonly media: MediaDownload | undefined;
	readonly retry: RetryPolicy;
	readonly idleTimeoutMs: number;
}

/** A conversation and its per-item settings, kept in the node context between runs. */
export interface ConversationSlot {
	/** Index of its input item in the first run. */
	readonly item: number;
	/** The fields of that item, for the expressions of connected tool nodes; empty if there are none. */
	readonly json: IDataObject;
	readonly tools: ToolDeclaration[];
	/** The connected tool nodes, by tool name. */
	readonly toolNodes: Readonly<Record<string, ToolNode>>;
	/** The request without its messages. */
	readonly request: Omit<ChatRequest, 'messages'>;
	/** Undefined if the item's fields are invalid. */
	conversation: Conversation | undefined;
	/** The output item of the answer. */
	answer?: Pick<INodeExecutionData, 'json' | 'binary'>;
	/** The output of a failed item, with *On Error: Continue*. */
	failure?: IDataObject;
	/** Whether the outcome has left the node. */
	emitted: boolean;
}

/** Reference to a tool call that has left the node and whose result has not come back. */
export interface OpenCall {
	/** Index of the conversation in `AgentState.slots`. */
	readonly slot: number;
	readonly callId: string;
}

/** State of the node between its runs: the loop through the tool branches runs it once per tool result. */
export interface AgentState {
	readonly settings: AgentSettings;
	/** Source of the input items of the first run. */
	readonly source: ISourceData | null;
	readonly slots: ConversationSlot[];
	open: OpenCall[];
	/** How often *Retry On Fail* has run the node again. */
	retries: number;
}

/** The state of the conversations under way; empty between two batches. */
export function agentState(context: IExecuteFunctions): NodeState<AgentState> {
	return nodeState(context, 'agent');
}

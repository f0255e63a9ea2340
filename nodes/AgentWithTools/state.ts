import type { IDataObject, IExecuteFunctions, INodeExecutionData, ISourceData } from 'n8n-workflow';

import type { Conversation, ConversationLimits } from '../client/chat/conversation';
import type { ToolDeclaration } from '../client/chat/tools';
import type { JsonObject } from '../client/json';
import type { RetryPolicy } from '../client/http/retry';
import type { MediaDownload } from '../shared/chat/mediaOptions';
import type { ToolNode } from './toolNodes';

/** What is fixed when a batch of conversations begins: later runs of the node have other items before them. */
export interface AgentSettings {
	readonly limits: ConversationLimits;
	readonly allAtOnce: boolean;
	readonly asTheyFinish: boolean;
	readonly failOnBadCall: boolean;
	readonly singleOutput: boolean;
	readonly simplify: boolean;
	readonly stream: boolean;
	readonly streamReasoning: boolean;
	readonly concurrency: number;
	/** How the files of an answer are downloaded, where they are wanted. */
	readonly media: MediaDownload | undefined;
	readonly retry: RetryPolicy;
	readonly idleTimeoutMs: number;
}

/** A conversation with what it needs to go on in a later run of the node. */
export interface ConversationSlot {
	/** Index of its input item in the first run. */
	readonly item: number;
	/** The fields of that item, for the expressions of n8n's own tool nodes; empty where there are none. */
	readonly json: IDataObject;
	readonly tools: ToolDeclaration[];
	/** n8n's own tool nodes, by the names of their tools. */
	readonly toolNodes: Readonly<Record<string, ToolNode>>;
	/** The request without its messages. */
	readonly request: JsonObject;
	conversation: Conversation | undefined;
	/** The answer as it leaves the node. */
	answer?: Pick<INodeExecutionData, 'json' | 'binary'>;
	/** What it failed with, where the node goes on. */
	failure?: IDataObject;
	/** Whether its outcome has left the node. */
	emitted: boolean;
}

export interface OpenCall {
	readonly slot: number;
	readonly callId: string;
}

/** Everything that the node keeps between its runs, in its context: saved with the execution, survives a retry. */
export interface AgentState {
	readonly settings: AgentSettings;
	/** Where the items of the first run came from. */
	readonly source: ISourceData | null;
	readonly slots: ConversationSlot[];
	/** Calls that have left the node and have not come back. */
	open: OpenCall[];
	/** How often n8n was let run the node again for what failed. */
	retries: number;
}

const KEY = 'agent';

/** The state of the conversations under way; none between two batches. */
export function loadState(context: IExecuteFunctions): AgentState | undefined {
	return context.getContext('node')[KEY] as AgentState | undefined;
}

export function saveState(context: IExecuteFunctions, state: AgentState): AgentState {
	context.getContext('node')[KEY] = state;
	// What was stored is what later changes have to reach.
	return context.getContext('node')[KEY] as AgentState;
}

export function clearState(context: IExecuteFunctions): void {
	context.getContext('node')[KEY] = undefined as never;
}

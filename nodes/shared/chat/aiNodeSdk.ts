import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import type { ToolDeclaration } from '../../client/chat/requestFields';
import { withoutUndefined, type JsonObject } from '../../client/json';

/** A part of a message in n8n's SDK for AI nodes, without the kinds that this package does not use. */
export type SdkContent =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'reasoning'; readonly text: string }
	| {
			readonly type: 'tool-call';
			readonly toolCallId?: string;
			readonly toolName: string;
			/** JSON. */
			readonly input: string;
	  }
	| { readonly type: 'tool-result'; readonly toolCallId: string; readonly result: unknown }
	| {
			readonly type: 'file';
			readonly mediaType?: string;
			readonly providerMetadata?: { readonly url?: unknown };
	  };

export interface SdkMessage {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content: readonly SdkContent[];
}

export interface SdkTool {
	readonly type: string;
	readonly name: string;
	readonly description?: string;
	readonly inputSchema?: unknown;
}

export type SdkFinishReason =
	'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** How a reply ended. */
export interface SdkEnd {
	readonly finishReason: SdkFinishReason;
	readonly usage?: {
		readonly promptTokens: number;
		readonly completionTokens: number;
		readonly totalTokens: number;
	};
}

export interface SdkResult extends SdkEnd {
	readonly message: SdkMessage;
}

export type SdkChunk =
	| { readonly type: 'text-delta'; readonly delta: string }
	| { readonly type: 'reasoning-delta'; readonly delta: string }
	| {
			readonly type: 'tool-call-delta';
			readonly id: string;
			readonly name: string;
			readonly argumentsDelta: string;
	  }
	| ({ readonly type: 'finish' } & SdkEnd);

/** A chat model, as n8n's agents and chains call it. */
export interface SdkChatModel {
	readonly provider: string;
	readonly modelId: string;
	generate(messages: readonly SdkMessage[], config?: SdkCall): Promise<SdkResult>;
	stream(messages: readonly SdkMessage[], config?: SdkCall): AsyncIterable<SdkChunk>;
	withTools(tools: readonly SdkTool[]): SdkChatModel;
}

/** Settings of a single call. */
export interface SdkCall {
	readonly stop?: readonly string[];
	readonly stopSequences?: readonly string[];
}

/** The part of n8n's SDK for AI nodes that this package uses. */
export interface AiNodeSdk {
	getParametersJsonSchema(tool: { readonly inputSchema: unknown }): JsonObject;
	supplyModel(context: ISupplyDataFunctions, model: SdkChatModel): SupplyData;
}

/** Converts a tool of an agent to a declaration (spec 2.3). */
export function toDeclaration(
	sdk: AiNodeSdk,
	{ name, description = '', inputSchema }: Omit<SdkTool, 'type'>,
): ToolDeclaration {
	const parameters =
		inputSchema === undefined ? undefined : sdk.getParametersJsonSchema({ inputSchema });
	return { type: 'function', function: withoutUndefined({ name, description, parameters }) };
}

/** Loads n8n's SDK for AI nodes. Only where it is used: it takes longer to load than all of this package. */
export function loadAiNodeSdk(): AiNodeSdk {
	return require('@n8n/ai-node-sdk') as AiNodeSdk;
}

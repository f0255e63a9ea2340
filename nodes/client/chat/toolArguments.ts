import { parseJsonObject, type JsonObject } from '../json';
import { readFunction } from './toolCalls';
import type { ToolDeclaration } from './tools';
import { schemaMismatch } from './toolSchema';
import type { ToolCall } from './types';

/** The arguments of a valid call, or the problem to report to the model. */
export type ReadCall = { readonly arguments: JsonObject } | { readonly problem: string };

/**
 * Parses the arguments of a tool call and validates them against the schema of the tool (spec 2.3). Models sometimes
 * invent tools or break the schema, so a problem is a result, not an error, whatever the call looks like.
 */
export function readToolCall(call: ToolCall, tools: readonly ToolDeclaration[]): ReadCall {
	const { name, arguments: text } = readFunction(call.function);
	const tool = tools.find((declared) => declared.function.name === name);
	if (tool === undefined) {
		const names = tools.map((declared) => declared.function.name).join(', ');
		return { problem: `Unknown tool "${name}". Available tools: ${names}` };
	}
	const args = parseJsonObject(text);
	if (args === undefined) return { problem: 'The arguments are not a JSON object' };

	const { parameters } = tool.function;
	const mismatch = parameters === undefined ? undefined : schemaMismatch(parameters, args);
	if (mismatch === undefined) return { arguments: args };
	return { problem: `The arguments do not match the schema of the tool ${mismatch}` };
}

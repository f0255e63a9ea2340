import { parseJsonObject, type JsonObject } from '../json';
import { findMismatch } from './jsonSchema';
import { callProblem, readFunction } from './toolCalls';
import type { ToolDeclaration } from './requestFields';
import type { ToolCall } from './types';

/**
 * Parses the arguments of a tool call and validates them against the schema of the tool (spec 2.3). Models sometimes
 * invent tools or break the schema, so a problem is a result, not an error, whatever the call looks like.
 *
 * @returns The arguments of a valid call, where an integer that a number would round is its text; or the problem to report
 *   to the model.
 */
export function readToolCall(
	call: ToolCall,
	tools: readonly ToolDeclaration[],
): { readonly arguments: JsonObject } | { readonly problem: string } {
	const called = readFunction(call.function);
	const declared = tools.map((tool) => tool.function);
	const problem = callProblem(
		called,
		declared.map(({ name }) => name),
	);
	if (problem !== undefined) return { problem };
	const { parameters = {} } = declared.find(({ name }) => name === called.name)!;
	const sent = parseJsonObject(called.arguments)!;
	const mismatch = findMismatch(parameters, sent);
	const isExact = !/\d{16}/.test(called.arguments);
	return mismatch === undefined
		? { arguments: isExact ? sent : parseJsonObject(called.arguments, true)! }
		: { problem: `The arguments do not match the schema of the tool${mismatch}` };
}

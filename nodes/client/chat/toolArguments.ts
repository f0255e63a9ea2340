import { Validator } from '@cfworker/json-schema';

import { parseJsonObject, type JsonObject } from '../json';
import type { ToolDeclaration } from './tools';
import type { ToolCall } from './types';

/** A call that can be run, or what the model has to be told about it. */
export type ReadCall = { readonly arguments: JsonObject } | { readonly problem: string };

/** Reads the arguments of a call against the declared tools (spec 2.3): a model may get name, JSON or schema wrong. */
export function readToolCall(call: ToolCall, tools: readonly ToolDeclaration[]): ReadCall {
	const { name, arguments: text } = call.function;
	const tool = tools.find((declared) => declared.function.name === name);
	if (tool === undefined) {
		const names = tools.map((declared) => declared.function.name).join(', ');
		return { problem: `There is no tool "${name}". The tools are: ${names}` };
	}
	const args = text.trim() === '' ? {} : parseJsonObject(text);
	if (args === undefined) return { problem: 'The arguments are not a JSON object' };

	const { parameters } = tool.function;
	if (parameters === undefined) return { arguments: args };
	const { valid, errors } = new Validator(parameters, '7', false).validate(args);
	if (valid) return { arguments: args };

	// The first entries only repeat that the whole does not fit.
	const { instanceLocation, error } = errors.at(-1)!;
	return {
		problem: `The arguments do not fit the tool's schema at ${instanceLocation}: ${error}`,
	};
}

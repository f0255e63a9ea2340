import type { Message } from '../messages';
import type { Tool } from '../requestSchema';
import type { ChosenToolCall } from './chooseToolCalls';
import { parametersOf } from './schema';
import { argumentsOf, objectsIn, sinceUser } from './toolResults';

/** Statuses of unfinished asynchronous tasks. */
const UNFINISHED = /^(?:init|queued|pending|processing|running|unknown)$/;
const IDENTIFIER = /(?:^|_)id$|Id$/;

/** Arguments of a tool from the fields of a result; undefined if one is missing, or none is an identifier. */
function argumentsFrom(
	tool: Tool,
	result: Readonly<Record<string, unknown>>,
): ChosenToolCall['arguments'] | undefined {
	const { required } = parametersOf(tool);
	const isOffered = required.every((name) => Object.hasOwn(result, name));
	if (!isOffered || !required.some((name) => IDENTIFIER.test(name))) return undefined;
	return Object.fromEntries(required.map((name) => [name, result[name]]));
}

/**
 * Follow-up calls for asynchronous tasks: an unfinished task in a tool result is passed to the tool that accepts
 * its identifier, such as one that waits for it. Each tool is called once per task.
 */
export function followUpCalls(
	messages: readonly Message[],
	tools: readonly Tool[],
): readonly ChosenToolCall[] {
	const recent = sinceUser(messages);
	const made = recent.flatMap(({ tool_calls }) => tool_calls ?? []);
	const isMade = ({ name, arguments: wanted }: ChosenToolCall) =>
		made.some(({ function: call }) => {
			const given = call.name === name ? argumentsOf(call.arguments) : {};
			return Object.entries(wanted).every(([key, value]) => given[key] === value);
		});
	return recent
		.filter(({ role }) => role === 'tool')
		.flatMap(objectsIn)
		.filter(({ status }) => typeof status === 'string' && UNFINISHED.test(status))
		.flatMap((result) => {
			const calls = tools.flatMap((tool) => {
				const values = argumentsFrom(tool, result);
				return values ? [{ name: tool.function.name, arguments: values }] : [];
			});
			return calls.filter((call) => !isMade(call)).slice(0, 1);
		});
}

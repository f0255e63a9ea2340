import type { Message } from '../messages';
import type { Tool } from '../requestSchema';
import type { ChosenCall } from './chooseCalls';
import { resolveSchema } from './schema';
import { argumentsOf, objectsIn, sinceUser } from './toolResults';

/** What work says of itself while it is under way. */
const UNFINISHED = /^(?:init|queued|pending|processing|running|unknown)$/;
const IDENTIFIER = /(?:^|_)id$|Id$/;

/** The arguments that a result offers a tool; undefined when one is missing, or none says which work it is. */
function offered(
	{ function: { parameters } }: Tool,
	result: Readonly<Record<string, unknown>>,
): ChosenCall['arguments'] | undefined {
	const { properties = {}, required = Object.keys(properties) } = resolveSchema(
		parameters,
		parameters,
	);
	const isOffered = required.every((name) => Object.hasOwn(result, name));
	if (!isOffered || !required.some((name) => IDENTIFIER.test(name))) return undefined;
	return Object.fromEntries(required.map((name) => [name, result[name]]));
}

/**
 * The calls that follow from what tools have answered: work that is under way is handed to the tool that takes its
 * identifier, such as one that waits for it, and to each tool once.
 */
export function followUps(
	messages: readonly Message[],
	tools: readonly Tool[],
): readonly ChosenCall[] {
	const recent = sinceUser(messages);
	const made = recent.flatMap(({ tool_calls }) => tool_calls ?? []);
	const isMade = ({ name, arguments: wanted }: ChosenCall) =>
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
				const values = offered(tool, result);
				return values ? [{ name: tool.function.name, arguments: values }] : [];
			});
			return calls.filter((call) => !isMade(call)).slice(0, 1);
		});
}

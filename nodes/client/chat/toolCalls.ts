import { grouped } from '../concurrency';
import {
	bounded,
	isJsonObject,
	objectOf,
	parseJson,
	parseJsonObject,
	parseLoosely,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import { isBlank, oneLine, shown } from '../values';
import { fitTo } from './jsonSchema';
import { stringOf } from './replyMessage';
import type {
	ChatMessage,
	ReplyMessage,
	ToolCall,
	ToolDeclaration,
	ToolProgressEvent,
} from './types';

/** Far above the ids of services. */
const MAX_ID_CHARACTERS = 1_000;
/** Above the 64 characters of a tool's name (spec 2.3). */
const MAX_NAME_CHARACTERS = 100;
/** The name under which a call without one is sent back. */
const UNNAMED = 'unnamed';

/**
 * Reads the tool calls of a reply (spec 2.3), also where a server does not follow the specification. The ids become
 * unique texts that are not empty, the arguments a text; entries that are not objects are dropped.
 *
 * @param prefix Beginning of the ids of calls without one.
 * @param taken Ids of earlier calls: some models use the same in every round.
 * @returns Each call, with its result if the service has executed it (spec 2.4).
 */
export function readToolCalls(
	{ tool_calls: calls, tool_results: results }: ReplyMessage,
	prefix = 'call',
	taken: readonly string[] = [],
): { readonly call: ToolCall; readonly result?: string }[] {
	/** By id, the last first: calls with the same id have their results in the order of the calls. */
	const executed = grouped(objectsOf(results).reverse(), (result) =>
		idText(result['tool_call_id']),
	);
	const ids = new Map(taken.map((id) => [id, 1]));
	return objectsOf(calls).map((call, index) => {
		const sent = idText(call['id']);
		const id = uniqueId(sent === '' ? `${prefix}_${index + 1}` : sent, ids);
		const result = executed.get(sent)?.pop();
		return {
			call: { ...call, id, type: 'function', function: readFunction(call['function']) },
			...(result === undefined ? {} : { result: shown(result['content'] ?? '') }),
		};
	});
}

export type RepliedCall = ReturnType<typeof readToolCalls>[number];

/**
 * The tool calls of a reply that somebody has to run, and those that have run.
 *
 * @param hasRunAll Whether all have, also those without a result: those of a super assistant (spec 2.7).
 */
export function splitCalls(
	message: ReplyMessage,
	hasRunAll = false,
	...ids: [prefix?: string, taken?: readonly string[]]
) {
	const calls = readToolCalls(message, ...ids);
	const hasRun = ({ result }: RepliedCall) => hasRunAll || result !== undefined;
	const asked = calls.flatMap((each) => (hasRun(each) ? [] : each.call));
	return { asked, ran: calls.filter(hasRun) };
}

/** A tool call in the service's form (spec 2.3). */
export function toolCall(id: string, name: string, args: string): ToolCall {
	return { id, type: 'function', function: { name, arguments: args } };
}

/** The message that sends the result of a tool call back (spec 2.3). */
export function toolMessage(id: string, content: string): ChatMessage {
	return { role: 'tool', tool_call_id: id, content };
}

/** Reads the `function` of a tool call: a missing name is empty, missing arguments and null are `{}`, see `parseArguments`. */
export function readFunction(value: unknown): ToolCall['function'] {
	const called = objectOf(value);
	const { name, arguments: args } = called;
	const text = shown(args ?? '');
	const isNothing = ['', 'null'].includes(text.trim());
	const read = isNothing ? {} : parseArguments(text);
	return {
		...called,
		// A longer name is not one of a declared tool, but it would be repeated in errors and to the model.
		name: stringOf(name).slice(0, MAX_NAME_CHARACTERS),
		// The text as it was sent, if it is an object.
		arguments: read && !parseJsonObject(text) ? JSON.stringify(read) : text,
	};
}

/**
 * Parses the arguments of a call (spec 2.3), see `parseLoosely`, also where the object is the text of a JSON text. Undefined if
 * they are no object.
 */
export function parseArguments(text: string): JsonObject | undefined {
	// Most fragments of one begin in another way.
	if (!/^\s*["{]/.test(text)) return undefined;
	const value = parseLoosely(text);
	const read = typeof value === 'string' ? parseJson(value) : value;
	return isJsonObject(read) ? read : undefined;
}

/** Why a call cannot be one of these tools, to be told to the model, which sometimes invents tools; undefined if it can. */
export function callProblem(
	{ name, arguments: args }: ToolCall['function'],
	names: readonly string[],
): string | undefined {
	if (!names.includes(name))
		return `Unknown tool "${name}". Available tools: ${names.join(', ')}`;
	return parseJsonObject(args) ? undefined : 'The arguments are not a JSON object';
}

/**
 * Parses the arguments of a tool call and validates them against the schema of the tool (spec 2.3). Models sometimes
 * invent tools or break the schema, so a problem is a result, not an error, whatever the call looks like.
 *
 * @returns The arguments of a valid call, without a null for an optional one that must not be null; or the problem to report to
 *   the model.
 */
export function readToolCall(
	{ function: called }: ToolCall,
	tools: readonly ToolDeclaration[],
): { readonly arguments: JsonObject } | { readonly problem: string } {
	const declared = tools.map((tool) => tool.function);
	const names = declared.map(({ name }) => name);
	const problem = callProblem(called, names);
	if (problem !== undefined) return { problem };
	const { parameters = {} } = declared[names.indexOf(called.name)]!;
	const args = parseJsonObject(called.arguments)!;
	const fit = fitTo(parameters, args, 'do not match the schema of the tool');
	return 'value' in fit ? { arguments: fit.value } : { problem: `The arguments ${fit.problem}` };
}

/**
 * Gives each call a result, as the service takes none without (spec 4): one that cannot be run says why. A memory may cut a round:
 * other calls without a result, and results without a call, are left out.
 */
export function closeCalls(
	messages: readonly ChatMessage[],
	names: readonly string[],
): ChatMessage[] {
	return messages.flatMap((message, index) => {
		const { role, tool_calls: calls = [], ...said } = message;
		if (role === 'tool') return [];
		if (calls.length === 0) return message;
		let end = index + 1;
		while (messages[end]?.role === 'tool') end += 1;
		const results = messages.slice(index + 1, end);
		const byId = new Map(results.map((each) => [each.tool_call_id, each]));
		const closed = calls.flatMap((call) => {
			const problem = callProblem(call.function, names);
			const told = problem === undefined ? [] : toolMessage(call.id, errorResult(problem));
			return [byId.get(call.id) ?? told].flat().map((answer) => ({ call, answer }));
		});
		const tool_calls = closed.map(({ call }) => call);
		if (closed.length > 0)
			return [{ ...message, tool_calls }, ...closed.map(({ answer }) => answer)];
		return isBlank(said.content) ? [] : { role, ...said };
	});
}

/** The result of a call that has failed, for the model. */
export function errorResult(error: string): string {
	return JSON.stringify({ error });
}

/** The assistant message that sends a reply back with these of its calls, and all else of it (spec 4); `content` is null without text. */
export function toReplay(message: ReplyMessage, calls: readonly ToolCall[]): ChatMessage {
	const { tool_calls, tool_results, parts, content, ...rest } = message;
	return {
		...rest,
		role: 'assistant',
		content: isBlank(content) ? null : content,
		tool_calls: calls.map(toReplayedCall),
	};
}

/** The service rejects arguments that are not JSON, which become a JSON text, and a call without a name (spec 2.3). */
function toReplayedCall({ function: called, ...call }: ToolCall): ToolCall {
	const { arguments: text } = called;
	const args = parseJson(text) === undefined ? JSON.stringify(text) : text;
	const name = isBlank(called.name) ? UNNAMED : called.name;
	return { ...call, function: { ...called, name, arguments: args } };
}

/** An id as text: some servers send numbers. Empty if there is none, or if it is too long to be one. */
export function idText(id: JsonValue | undefined): string {
	const text = typeof id === 'string' || typeof id === 'number' ? String(id) : '';
	return text.length > MAX_ID_CHARACTERS ? '' : text;
}

/**
 * An id or name with a number, if it is taken.
 *
 * @param taken Those so far, each with the number of the last one that asked for it.
 */
export function uniqueId(id: string, taken: Map<string, number>): string {
	let number = (taken.get(id) ?? 0) + 1;
	const numbered = () => (number === 1 ? id : `${id}_${number}`);
	while (number > 1 && taken.has(numbered())) number += 1;
	taken.set(numbered(), 1).set(id, number);
	return numbered();
}

/** The objects in a list; none if the value is no list. */
export function objectsOf(value: unknown): JsonObject[] {
	return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Parses the `extension` of a stream chunk (spec 2.7). Returns a list, because one chunk can report several tools. */
export function toolProgressEvents({ type: sent, data }: JsonObject): ToolProgressEvent[] {
	const type = stringOf(sent);
	if (type === 'tool_start' && isJsonObject(data))
		return [toolEvent(type, { name: data['tool'], arguments: data['arguments'] })];
	if (type === 'tool_calls' && isJsonObject(data))
		return objectsOf(data['tool_calls']).map((call) => toolEvent(type, call));
	return [{ type, data: data ?? null }];
}

function toolEvent(type: string, fields: JsonObject): ToolProgressEvent {
	const { name, arguments: args, result, status, elapsed } = fields;
	const text = (value: JsonValue = null) => (value === null ? undefined : shown(value));
	return withoutUndefined({
		type,
		tool: stringOf(name),
		arguments: args,
		result: text(result),
		status: text(status),
		elapsed: text(elapsed),
	});
}

/** One line of text for a chat window; empty if the event is of a type that the specification does not list. */
export function progressLine(event: ToolProgressEvent): string {
	const { type, tool = '', arguments: args, status = 'success', elapsed = '' } = event;
	const name = oneLine(tool);
	if (type === 'tool_start') {
		// The line shows the beginning only.
		const text = JSON.stringify(bounded({ args: args ?? {} }, ['args'])['args']);
		return `Running ${name}${text === '{}' ? '' : `: ${oneLine(text)}`}`;
	}
	if (type !== 'tool_calls') return '';
	const end = status === 'success' ? `Finished ${name}` : `${name}: ${oneLine(status)}`;
	return elapsed === '' ? end : `${end} in ${oneLine(elapsed)}`;
}

/** The tools that a super assistant has run, as the calls and results of a body that is not streamed (spec 2.4). */
export function executedCalls(progress: readonly ToolProgressEvent[]) {
	const ran = progress.filter(({ type }) => type === 'tool_calls');
	return {
		tool_calls: ran.map(({ tool = '', arguments: args = {} }, at) =>
			toolCall(`call_${at + 1}`, tool, shown(args)),
		),
		tool_results: ran.map(({ result = '' }, at) => ({
			tool_call_id: `call_${at + 1}`,
			content: result,
		})),
	};
}

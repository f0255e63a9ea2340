import { isJsonObject, parseJsonObject, type JsonObject, type JsonValue } from '../json';
import { jsonText, readToolCalls } from './toolCalls';
import type { ChatCompletion } from './types';

/** A tool progress event in the stream of a super assistant (spec 2.7). */
export interface ToolProgressEvent {
	/** `extension.type`: `tool_start`, `tool_calls`, or one that the specification does not list. */
	readonly type: string;
	readonly tool?: string;
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	/** Duration of the tool call as text, as sent by the service: `1.2s`. */
	readonly elapsed?: string;
	/** `extension.data` of a type that the specification does not list. */
	readonly data?: JsonValue;
	/** Milliseconds since the start of the call. */
	readonly offset_ms: number;
}

type EventFields = Omit<ToolProgressEvent, 'type' | 'offset_ms'>;

/** A tool call that a super assistant has already executed (spec 2.4, 2.7): it must not be run again. */
export interface ExecutedTool {
	readonly id?: string;
	readonly name: string;
	/** Parsed; the original text if it is not a JSON object. */
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	readonly elapsed?: string;
}

/** Maximum length of the tool arguments in a progress line. */
const MAX_SHOWN_CHARACTERS = 120;

/** Parsers for `extension.data`, by `extension.type`. */
const PARSERS: Readonly<Record<string, (data: JsonObject) => EventFields[]>> = {
	tool_start: ({ tool, arguments: args }) => [toolFields(tool, { arguments: args })],
	tool_calls: ({ tool_calls: calls }) =>
		(Array.isArray(calls) ? calls : [])
			.filter(isJsonObject)
			.map(({ name, ...fields }) => toolFields(name, fields)),
};

/** Progress lines by event type; other types are not shown. */
const LINES: Readonly<Record<string, (event: ToolProgressEvent) => string>> = {
	tool_start: ({ tool, arguments: args }) => `Running ${tool}${shownArguments(args)}`,
	tool_calls: ({ tool, status, elapsed }) =>
		[
			status === undefined || status === 'success'
				? `Finished ${tool}`
				: `${tool}: ${status}`,
			elapsed && `in ${elapsed}`,
		]
			.filter(Boolean)
			.join(' '),
};

/**
 * Parses the `extension` of a stream chunk (spec 2.7). Returns a list, because one chunk can report several tools.
 *
 * @param offsetMs Milliseconds since the start of the call.
 */
export function toolProgressEvents(extension: JsonObject, offsetMs: number): ToolProgressEvent[] {
	const type = typeof extension['type'] === 'string' ? extension['type'] : '';
	const data = extension['data'];
	const parse = Object.hasOwn(PARSERS, type) ? PARSERS[type] : undefined;
	const events =
		parse !== undefined && isJsonObject(data) ? parse(data) : [{ data: data ?? null }];
	return events.map((event) => ({ type, ...event, offset_ms: offsetMs }));
}

/** One line of text for a chat window; empty if the event is not shown. */
export function progressLine(event: ToolProgressEvent): string {
	return Object.hasOwn(LINES, event.type) ? LINES[event.type]!(event) : '';
}

/**
 * The tools that a super assistant executed, with their results. In a stream they come from the `tool_calls` events. A
 * non-streamed body has calls and results in two lists, joined by id.
 */
export function executedTools(
	{ choices }: ChatCompletion,
	events: readonly ToolProgressEvent[],
): ExecutedTool[] {
	const finished = events.filter(({ type }) => type === 'tool_calls');
	if (finished.length > 0) {
		return finished.map(({ type, tool = '', offset_ms, ...fields }) => ({
			name: tool,
			...fields,
		}));
	}
	return readToolCalls(choices[0]!.message).map(({ call, result }) => ({
		id: call.id,
		name: call.function.name,
		arguments: parseJsonObject(call.function.arguments) ?? call.function.arguments,
		...(result === undefined ? {} : { result }),
	}));
}

function toolFields(
	tool: JsonValue | undefined,
	{ arguments: args, result, status, elapsed }: JsonObject,
): EventFields {
	return {
		tool: typeof tool === 'string' ? tool : '',
		...(args === undefined ? {} : { arguments: args }),
		...textField('result', result),
		...textField('status', status),
		...textField('elapsed', elapsed),
	};
}

function textField(key: 'result' | 'status' | 'elapsed', value: JsonValue | undefined): object {
	if (value === undefined || value === null) return {};
	return { [key]: jsonText(value) };
}

function shownArguments(args: JsonValue | undefined): string {
	if (args === undefined || args === null) return '';
	const text = JSON.stringify(args);
	if (text === '{}') return '';
	return `: ${text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text}`;
}

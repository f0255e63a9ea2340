import { bounded, isJsonObject, withoutUndefined, type JsonObject, type JsonValue } from '../json';
import { oneLine } from '../values';
import { jsonText, objectsOf } from './toolCalls';

/** A tool progress event in the stream of a super assistant (spec 2.7). */
export interface ToolProgressEvent {
	/** `extension.type`: `tool_start`, `tool_calls`, or one that the specification does not list. */
	readonly type: string;
	readonly tool?: string;
	/** Parsed; the original text if it is not a JSON object. */
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	/** Duration of the tool call as text, as sent by the service: `1.2s`. */
	readonly elapsed?: string;
	/** `extension.data` of a type that the specification does not list. */
	readonly data?: JsonValue;
	/** Milliseconds since the start of the call, see `askAssistant`. */
	readonly offset_ms?: number;
}

type EventFields = Omit<ToolProgressEvent, 'type' | 'offset_ms'>;

interface EventType {
	readonly parse: (data: JsonObject) => EventFields[];
	readonly line: (event: ToolProgressEvent) => string;
}

/** Event types: how `extension.data` is parsed, and the progress line. Other types are not shown. */
const TYPES: ReadonlyMap<string, EventType> = new Map(
	Object.entries<EventType>({
		tool_start: {
			parse: ({ tool, arguments: args }) => [toolFields(tool, { arguments: args })],
			line: ({ tool = '', arguments: args }) =>
				`Running ${oneLine(tool)}${shownArguments(args)}`,
		},
		tool_calls: {
			parse: ({ tool_calls: calls }) =>
				objectsOf(calls).map(({ name, ...fields }) => toolFields(name, fields)),
			line: ({ tool = '', status = 'success', elapsed = '' }) => {
				const name = oneLine(tool);
				const end =
					status === 'success' ? `Finished ${name}` : `${name}: ${oneLine(status)}`;
				return elapsed === '' ? end : `${end} in ${oneLine(elapsed)}`;
			},
		},
	}),
);

/** Parses the `extension` of a stream chunk (spec 2.7). Returns a list, because one chunk can report several tools. */
export function toolProgressEvents(extension: JsonObject): ToolProgressEvent[] {
	const type = typeof extension['type'] === 'string' ? extension['type'] : '';
	const data = extension['data'];
	const known = TYPES.get(type);
	const events = known && isJsonObject(data) ? known.parse(data) : [{ data: data ?? null }];
	return events.map((event) => ({ type, ...event }));
}

/** One line of text for a chat window; empty if the event is not shown. */
export function progressLine(event: ToolProgressEvent): string {
	return TYPES.get(event.type)?.line(event) ?? '';
}

function toolFields(
	tool: JsonValue | undefined,
	{ arguments: args, result, status, elapsed }: JsonObject,
): EventFields {
	const text = (value: JsonValue = null) => (value === null ? undefined : jsonText(value));
	return withoutUndefined({
		tool: typeof tool === 'string' ? tool : '',
		arguments: args,
		result: text(result),
		status: text(status),
		elapsed: text(elapsed),
	});
}

function shownArguments(args: JsonValue | undefined): string {
	if (args === undefined || args === null) return '';
	// The line shows the beginning only.
	const text = JSON.stringify(bounded({ args }, ['args'])['args']);
	return text === '{}' ? '' : `: ${oneLine(text)}`;
}

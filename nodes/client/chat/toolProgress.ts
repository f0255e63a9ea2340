import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** One thing that a super assistant told about its tools while it worked (spec 2.7). */
export interface ToolProgressEvent {
	/** `extension.type`: `tool_start`, `tool_calls`, or one that the specification does not list. */
	readonly type: string;
	readonly tool?: string;
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	/** How long the tool ran, in the service's own words. */
	readonly elapsed?: string;
	/** `extension.data` of a type that the specification does not list. */
	readonly data?: JsonValue;
	/** Milliseconds since the call began. */
	readonly offset_ms: number;
}

/** How `extension.data` of each type reads. */
const READERS: Readonly<
	Record<string, (data: JsonObject) => Omit<ToolProgressEvent, 'type' | 'offset_ms'>[]>
> = {
	tool_start: ({ tool, arguments: args }) => [toolFields(tool, { arguments: args })],
	tool_calls: ({ tool_calls: calls }) =>
		(Array.isArray(calls) ? calls : [])
			.filter(isJsonObject)
			.map(({ name, ...fields }) => toolFields(name, fields)),
};

/**
 * What the `extension` of a stream chunk tells (spec 2.7): a list, because several tools may finish at once.
 *
 * @param offsetMs Milliseconds since the call began.
 */
export function toolProgressEvents(extension: JsonObject, offsetMs: number): ToolProgressEvent[] {
	const type = typeof extension['type'] === 'string' ? extension['type'] : '';
	const data = extension['data'];
	const read = Object.hasOwn(READERS, type) ? READERS[type] : undefined;
	const events = read !== undefined && isJsonObject(data) ? read(data) : [{ data: data ?? null }];
	return events.map((event) => ({ type, ...event, offset_ms: offsetMs }));
}

function toolFields(
	tool: JsonValue | undefined,
	{ arguments: args, result, status, elapsed }: JsonObject,
): Omit<ToolProgressEvent, 'type' | 'offset_ms'> {
	return {
		tool: typeof tool === 'string' ? tool : '',
		...(args === undefined ? {} : { arguments: args }),
		...text('result', result),
		...text('status', status),
		...text('elapsed', elapsed),
	};
}

function text(key: 'result' | 'status' | 'elapsed', value: JsonValue | undefined): object {
	if (value === undefined || value === null) return {};
	return { [key]: typeof value === 'string' ? value : JSON.stringify(value) };
}

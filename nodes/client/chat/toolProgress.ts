import { bounded, isJsonObject, withoutUndefined, type JsonObject, type JsonValue } from '../json';
import { oneLine, shown } from '../values';
import { stringOf } from './replyMessage';
import { objectsOf, toolCall } from './toolCalls';
import type { ToolProgressEvent } from './types';

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

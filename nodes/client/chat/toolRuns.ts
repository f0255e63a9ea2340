import { isJsonObject, parseJsonObject, type JsonValue } from '../json';
import type { ToolProgressEvent } from './toolProgress';
import type { ChatCompletion } from './types';

/** A tool that a super assistant has run by itself (spec 2.4, 2.7): it must not be run again. */
export interface ToolRun {
	readonly id?: string;
	readonly name: string;
	/** Parsed; where they could not be, the text. */
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	readonly elapsed?: string;
}

/**
 * The tools that ran, with what they gave. A stream tells them in its `tool_calls` events; a body has the calls and
 * their results in two lists, which belong together by id.
 */
export function toolRuns(
	{ choices }: ChatCompletion,
	events: readonly ToolProgressEvent[],
): ToolRun[] {
	const told = events.filter(({ type }) => type === 'tool_calls');
	if (told.length > 0) {
		return told.map(({ type, tool = '', offset_ms, ...run }) => ({
			name: tool,
			...run,
		}));
	}
	const { tool_calls: calls = [], tool_results: results } = choices[0]!.message;
	const given = (Array.isArray(results) ? results : []).filter(isJsonObject);
	return calls.map(({ id, function: { name, arguments: args } }) => {
		const result = given.find(({ tool_call_id: callId }) => callId === id)?.['content'];
		return {
			id,
			name,
			arguments: parseJsonObject(args) ?? args,
			...(typeof result === 'string' ? { result } : {}),
		};
	});
}

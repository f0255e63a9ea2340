import type { ToolProgressEvent } from './toolProgress';

/** How much of a tool's arguments a line shows. */
const SHOWN_CHARACTERS = 120;

/** What a person reads about each type of event; a type that is not here is not shown. */
const LINES: Readonly<Record<string, (event: ToolProgressEvent) => string>> = {
	tool_start: ({ tool, arguments: args }) => `Running ${tool}${shown(args)}`,
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

/** The event as a line for a person who watches the assistant work; empty where there is nothing to show. */
export function progressLine(event: ToolProgressEvent): string {
	return Object.hasOwn(LINES, event.type) ? LINES[event.type]!(event) : '';
}

function shown(args: ToolProgressEvent['arguments']): string {
	if (args === undefined || args === null) return '';
	const text = JSON.stringify(args);
	if (text === '{}') return '';
	return `: ${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}`;
}

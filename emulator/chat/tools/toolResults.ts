import { exceedsDepth, isObject, parseJson } from '../../json';
import { capitalize, type Language } from '../generation/language';
import { textOf, type Message } from '../messages';

/** Result of a tool call, labeled with its subject. */
export interface ToolResult {
	readonly label: string;
	readonly text: string;
}

const MAX_CHARACTERS = 2_000;
const MAX_DEPTH = 20;

/** The value of a tool message or of arguments: of JSON, unless it is nested too deeply, or else the text. */
function valueOf(text: string): unknown {
	const value = parseJson(text);
	return value === undefined || exceedsDepth(MAX_DEPTH, value) ? text : value;
}

/** A JSON value as prose: `temperature: 21, sky: clear`. */
function toProse(value: unknown): string {
	if (Array.isArray(value)) return value.map(toProse).join('; ');
	if (isObject(value)) {
		// A completed video: the link is enough.
		if (typeof value['video_url'] === 'string') return `[the video](${value['video_url']})`;
		return Object.entries(value)
			.map(([key, part]) => `${key.replaceAll('_', ' ')}: ${toProse(part)}`)
			.join(', ');
	}
	return String(value);
}

/** Label of a call: its first string argument, or else the name of the tool. */
function labelOf(name: string, argumentsJson: string): string {
	const values = valueOf(argumentsJson);
	const texts = typeof values === 'object' && values !== null ? Object.values(values) : [];
	const text = texts.find((value): value is string => typeof value === 'string');
	return capitalize(text ?? name.replace(/[_-]+/g, ' '));
}

type Values = Readonly<Record<string, unknown>>;

/** Parsed arguments of a call; empty unless they are a JSON object. */
export function argumentsOf(json: string): Values {
	const value = valueOf(json);
	return isObject(value) ? value : {};
}

/** JSON objects in a tool message: one, or a list of them. */
export function objectsIn(message: Message): readonly Values[] {
	return [valueOf(textOf(message))].flat().filter(isObject);
}

/** Messages after the last user message. */
export const sinceUser = (messages: readonly Message[]): readonly Message[] =>
	messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);

/** Number of rounds of tool calls after the last user message. */
export function toolRounds(messages: readonly Message[]): number {
	return sinceUser(messages).filter(({ tool_calls }) => tool_calls?.length).length;
}

/** Results of the tool calls after the last user message, in order (spec 2.3, 4). */
export function toolResults(messages: readonly Message[]): readonly ToolResult[] {
	const recent = sinceUser(messages);
	const calls = recent.flatMap(({ tool_calls }) => tool_calls ?? []);
	const results = new Map<string, ToolResult>();
	for (const message of recent.filter(({ role }) => role === 'tool')) {
		const { name, arguments: asked } = calls.find(
			({ id }) => id === message.tool_call_id,
		)!.function;
		const [{ task_id: taskId } = {}] = objectsIn(message);
		// A later result of the same task replaces the earlier one.
		const key = typeof taskId === 'string' ? taskId : message.tool_call_id!;
		const text = toProse(valueOf(textOf(message))) || 'nothing';
		results.set(key, {
			label: results.get(key)?.label ?? labelOf(name, asked),
			text: text.slice(0, MAX_CHARACTERS).replace(/[.。]$/, ''),
		});
	}
	return [...results.values()];
}

/** Writes the answer from the results of the tool calls. */
export function answerFromResults(
	results: readonly ToolResult[],
	{ results: { one, many } }: Language,
): string {
	const sentences = results.map(({ label, text }) =>
		one.replace('{label}', () => label).replace('{text}', () => text),
	);
	return sentences.length === 1 ? sentences[0]! : [many, ...sentences].join('\n');
}

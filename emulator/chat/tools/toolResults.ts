import { isDeeperThan } from '../../isDeeperThan';
import { capital } from '../brain/capital';
import { textOf, type Message } from '../messages';

/** A tool's answer, and what it was asked. */
export interface ToolResult {
	readonly label: string;
	readonly text: string;
}

const MOST_CHARACTERS = 2_000;
const MOST_DEPTH = 20;

function parsed(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return isDeeperThan(MOST_DEPTH, value) ? text : value;
	} catch {
		return text;
	}
}

/** A value as people say it: `temperature: 21, sky: clear`. */
function spoken(value: unknown): string {
	if (Array.isArray(value)) return value.map(spoken).join('; ');
	if (isValues(value)) {
		// A person wants to see the video, not to read of it.
		if (typeof value['video_url'] === 'string') return `[the video](${value['video_url']})`;
		return Object.entries(value)
			.map(([key, part]) => `${key.replaceAll('_', ' ')}: ${spoken(part)}`)
			.join(', ');
	}
	return String(value);
}

/** What a call was about: its first text argument, or else the tool's name in words. */
function labelOf(name: string, argumentsJson: string): string {
	const values = parsed(argumentsJson);
	const texts = typeof values === 'object' && values !== null ? Object.values(values) : [];
	const text = texts.find((value): value is string => typeof value === 'string');
	return capital(text ?? name.replace(/[_-]+/g, ' '));
}

type Values = Readonly<Record<string, unknown>>;

const isValues = (value: unknown): value is Values =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The arguments of a call; empty for what is no JSON object. */
export function argumentsOf(json: string): Values {
	const value = parsed(json);
	return isValues(value) ? value : {};
}

/** The objects that a tool has answered: one, or a list of them. */
export function objectsIn(message: Message): readonly Values[] {
	return [parsed(textOf(message))].flat().filter(isValues);
}

/** The messages since the user spoke last. */
export const sinceUser = (messages: readonly Message[]): readonly Message[] =>
	messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);

/** How many times the model has asked for tools since the user spoke last. */
export function toolRounds(messages: readonly Message[]): number {
	return sinceUser(messages).filter(({ tool_calls }) => tool_calls?.length).length;
}

/** The tools' answers since the user spoke last, in their order (spec 2.3, 4). */
export function toolResults(messages: readonly Message[]): readonly ToolResult[] {
	const recent = sinceUser(messages);
	const calls = recent.flatMap(({ tool_calls }) => tool_calls ?? []);
	const results = new Map<string, ToolResult>();
	for (const message of recent.filter(({ role }) => role === 'tool')) {
		const { name, arguments: asked } = calls.find(
			({ id }) => id === message.tool_call_id,
		)!.function;
		const [{ task_id: taskId } = {}] = objectsIn(message);
		// What is told of the same work later replaces what was told of it before.
		const key = typeof taskId === 'string' ? taskId : message.tool_call_id!;
		const text = spoken(parsed(textOf(message))) || 'nothing';
		results.set(key, {
			label: results.get(key)?.label ?? labelOf(name, asked),
			text: text.slice(0, MOST_CHARACTERS).replace(/\.$/, ''),
		});
	}
	return [...results.values()];
}

/** The model's answer from what the tools gave back. */
export function answerFromResults(results: readonly ToolResult[]): string {
	const sentences = results.map(({ label, text }) => `${label}: ${text}.`);
	return sentences.length === 1
		? sentences[0]!
		: `Here is what I found.\n${sentences.join('\n')}`;
}

import { requirePublicUrl } from '../requirePublicUrl';
import { HttpError } from '../errors';
import { textOf, type Message } from './messages';

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}

const isEmpty = (message: Message): boolean =>
	Array.isArray(message.content) && message.content.some(({ type }) => type === 'image_url')
		? false
		: textOf(message).trim() === '';

type Rule = (message: Message) => string | undefined;

/** Rules of a message by its role (spec 2.2). Each returns the problem, or undefined. */
const RULES: readonly Rule[] = [
	({ role, tool_calls }) =>
		tool_calls && role !== 'assistant'
			? 'tool_calls is allowed in assistant messages only'
			: undefined,
	({ role, tool_call_id }) =>
		tool_call_id != null && role !== 'tool'
			? 'tool_call_id is allowed in tool messages only'
			: undefined,
	({ role, tool_call_id }) =>
		role === 'tool' && !tool_call_id ? 'tool_call_id is required in a tool message' : undefined,
	({ role, content }) =>
		role === 'tool' && typeof content !== 'string'
			? 'content must be of type string'
			: undefined,
	(message) =>
		message.role !== 'tool' && !message.tool_calls?.length && isEmpty(message)
			? 'content must not be empty'
			: undefined,
	({ tool_calls }) =>
		tool_calls?.some((call) => !isJson(call.function.arguments))
			? 'tool_calls must have arguments that are valid JSON'
			: undefined,
];

/** Requires one tool message per tool call, directly after the assistant message (spec 2.3, 4). */
function requireMatchingToolResults(messages: readonly Message[]): void {
	let open: readonly string[] = [];
	messages.forEach(({ role, tool_calls, tool_call_id }, index) => {
		if (role === 'tool') {
			if (!open.includes(tool_call_id!)) {
				throw new HttpError(
					400,
					`messages[${index}].tool_call_id does not match an open tool call of the preceding assistant message`,
				);
			}
			open = open.filter((id) => id !== tool_call_id);
			return;
		}
		if (open.length > 0) {
			throw new HttpError(
				400,
				`messages[${index}]: a tool message for the tool call ${open[0]} must come first`,
			);
		}
		open = tool_calls?.map(({ id }) => id) ?? [];
	});
	if (open.length > 0) {
		throw new HttpError(400, `messages: there is no tool message for the tool call ${open[0]}`);
	}
}

/**
 * Validates the rules of messages that the JSON schema cannot express (spec 2.2, 2.3).
 * @throws HttpError 400 with the index of the message
 */
export function requireValidMessages(messages: readonly Message[]): void {
	messages.forEach((message, index) => {
		for (const rule of RULES) {
			const problem = rule(message);
			if (problem) throw new HttpError(400, `messages[${index}].${problem}`);
		}
		const { content } = message;
		if (content === null || content === undefined || typeof content === 'string') return;
		content.forEach((part, place) => {
			if (part.type !== 'image_url') return;
			requirePublicUrl(
				part.image_url.url,
				`messages[${index}].content[${place}].image_url.url`,
			);
		});
	});
	requireMatchingToolResults(messages);
}

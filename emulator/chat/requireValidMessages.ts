import { requirePublicUrl } from '../requirePublicUrl';
import { HttpError } from '../errors';
import { parseJson } from '../json';
import { partsOf, type Message } from './messages';

/** Requires one tool message per tool call, directly after the assistant message (spec 2.3, 4). */
function requireMatchingToolResults(messages: readonly Message[]): void {
	let open: readonly string[] = [];
	messages.forEach(({ role, tool_calls, tool_call_id }, index) => {
		const field = `messages[${index}]`;
		if (role === 'tool' && !open.includes(tool_call_id!)) {
			const call = 'an open tool call of the preceding assistant message';
			throw new HttpError(400, `${field}.tool_call_id does not match ${call}`);
		}
		if (role !== 'tool' && open.length > 0) {
			const message = `a tool message for the tool call ${open[0]}`;
			throw new HttpError(400, `${field}: ${message} must come first`);
		}
		const left = open.filter((id) => id !== tool_call_id);
		open = role === 'tool' ? left : (tool_calls ?? []).map(({ id }) => id);
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
		const field = `messages[${index}]`;
		if (message.tool_calls?.some((call) => parseJson(call.function.arguments) === undefined))
			throw new HttpError(400, `${field}.tool_calls must have arguments that are valid JSON`);
		partsOf(message).forEach((part, place) => {
			if (part.type === 'image_url')
				requirePublicUrl(part.image_url.url, `${field}.content[${place}].image_url.url`);
		});
	});
	requireMatchingToolResults(messages);
}

import { checkPublicUrl } from '../checkPublicUrl';
import { ServiceError } from '../errors';
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

/** What a message may hold, by its role (spec 2.2). Each rule says what is wrong, if anything. */
const RULES: readonly Rule[] = [
	({ role, tool_calls }) =>
		tool_calls && role !== 'assistant'
			? 'tool_calls belongs to assistant messages only'
			: undefined,
	({ role, tool_call_id }) =>
		tool_call_id != null && role !== 'tool'
			? 'tool_call_id belongs to tool messages only'
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
			? 'tool_calls must hold arguments that are JSON'
			: undefined,
];

/** Every tool call is answered before the talk goes on, and nothing else is (spec 2.3, 4). */
function checkToolAnswers(messages: readonly Message[]): void {
	let open: readonly string[] = [];
	messages.forEach(({ role, tool_calls, tool_call_id }, index) => {
		if (role === 'tool') {
			if (!open.includes(tool_call_id!)) {
				throw new ServiceError(
					400,
					`messages[${index}].tool_call_id answers no tool call of the assistant message before`,
				);
			}
			open = open.filter((id) => id !== tool_call_id);
			return;
		}
		if (open.length > 0) {
			throw new ServiceError(
				400,
				`messages[${index}]: the tool call ${open[0]} is not answered yet`,
			);
		}
		open = tool_calls?.map(({ id }) => id) ?? [];
	});
	if (open.length > 0) {
		throw new ServiceError(400, `messages: the tool call ${open[0]} is not answered`);
	}
}

/**
 * Checks messages for what their JSON schema cannot say (spec 2.2, 2.3).
 * @throws ServiceError 400 that names the message
 */
export function checkMessages(messages: readonly Message[]): void {
	messages.forEach((message, index) => {
		for (const rule of RULES) {
			const problem = rule(message);
			if (problem) throw new ServiceError(400, `messages[${index}].${problem}`);
		}
		if (!Array.isArray(message.content)) return;
		const parts = message.content as Exclude<Message['content'], string | null | undefined>;
		parts.forEach((part, place) => {
			if (part.type !== 'image_url') return;
			checkPublicUrl(
				part.image_url.url,
				`messages[${index}].content[${place}].image_url.url`,
			);
		});
	});
	checkToolAnswers(messages);
}

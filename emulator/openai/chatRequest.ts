import { EMULATED_CHAT_MODELS } from '../chat/models';
import { isObject } from '../json';

type Json = Readonly<Record<string, unknown>>;

/** What a request of the third-party schema asks for beyond the service's own fields. */
export interface OpenAiOptions {
	/** JSON schema of the answer. */
	readonly schema?: Json;
	/** Number of choices. */
	readonly n: number;
	/** Limit of the answer; one that reaches it has the finish reason `length`. */
	readonly maxTokens: number;
	/** Whether functions were declared in the field that came before tools; they are called in such a field, too. */
	readonly functions?: boolean;
	/** The model that the response names, if the service has no such model. */
	readonly model?: string;
}

const MAX_CHOICES = 8;

const numberOr = (value: unknown, otherwise: number): number =>
	typeof value === 'number' && value >= 1 ? Math.floor(value) : otherwise;

const asTool = (declared: unknown) => ({ type: 'function', function: declared });

/** A message with a role of the service; the result of a tool is a text there. */
function toMessage(message: unknown): unknown {
	if (!isObject(message)) return message;
	const { role, content } = message;
	if (role === 'developer') return { ...message, role: 'system' };
	if (role !== 'tool' || !Array.isArray(content)) return message;
	const texts = content.map((part: unknown) => (isObject(part) ? part['text'] : part));
	return { ...message, content: texts.join('\n') };
}

const nameOf = (tool: unknown): unknown =>
	isObject(tool) && isObject(tool['function']) ? tool['function']['name'] : undefined;

/** The tool that an object in `tool_choice` names is the only one, and must be called. */
function choiceOf({ tool_choice: choice, tools }: Json): Json {
	if (!isObject(choice)) return {};
	const isChosen = (tool: unknown) => nameOf(tool) === nameOf(choice);
	return { tool_choice: 'required', tools: Array.isArray(tools) ? tools.filter(isChosen) : [] };
}

function formatOf({ response_format: format }: Json) {
	if (!isObject(format)) return undefined;
	// Some services take the schema of a JSON object.
	if (isObject(format['schema'])) return format['schema'];
	if (format['type'] !== 'json_schema') return undefined;
	const { schema } = isObject(format['json_schema']) ? format['json_schema'] : {};
	return isObject(schema) ? schema : {};
}

/**
 * Turns a chat request of the third-party schema into one of the service: its rules that are wider than the service's own are
 * read here. The result is validated as any other request.
 */
export function serviceRequest(given: Json): Json {
	const { functions, function_call: called, ...rest } = given;
	const isOld = Array.isArray(functions);
	const body: Json = isOld
		? {
				...rest,
				tools: functions.map(asTool),
				tool_choice: isObject(called) ? asTool(called) : called,
			}
		: given;
	const { stop, temperature, model, messages } = body;
	const schema = formatOf(body);
	const options: OpenAiOptions = {
		...(schema && { schema }),
		...(isOld && { functions: true }),
		n: Math.min(numberOr(body['n'], 1), MAX_CHOICES),
		maxTokens: numberOr(body['max_completion_tokens'] ?? body['max_tokens'], Infinity),
		...(typeof model === 'string' && { model }),
	};
	return {
		...body,
		...choiceOf(body),
		...(Array.isArray(messages) && { messages: messages.map(toMessage) }),
		...(schema && { response_format: { type: 'json_object' } }),
		...(typeof stop === 'string' && { stop: [stop] }),
		...(typeof temperature === 'number' && { temperature: Math.min(temperature, 1) }),
		model: EMULATED_CHAT_MODELS.find(({ code }) => code === model)?.code,
		openai: options,
	};
}

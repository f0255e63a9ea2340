import { finishReason, type Reply } from '../chat/reply';
import { isObject } from '../json';
import { fillTemplate } from '../script/fillTemplate';
import RESPONSE from './response.json';

type Json = Readonly<Record<string, unknown>>;

const list = (value: unknown): readonly Json[] =>
	Array.isArray(value) ? (value as readonly Json[]) : [];

/** Content parts of an input item, in the form of chat messages. */
const contentOf = (content: unknown): unknown =>
	Array.isArray(content)
		? list(content).map(({ type, text, image_url: url }) =>
				type === 'input_image'
					? { type: 'image_url', image_url: { url } }
					: { type: 'text', text },
			)
		: content;

/** The messages of input items; the calls of one round are one message. */
function messagesOf(input: readonly Json[]): readonly Json[] {
	return input.reduce<readonly Json[]>((messages, item) => {
		const { type = 'message', role, content, call_id: id, name, arguments: values } = item;
		if (type === 'function_call_output')
			return [...messages, { role: 'tool', tool_call_id: id, content: item['output'] }];
		if (type === 'message') return [...messages, { role, content: contentOf(content) }];
		if (type !== 'function_call') return messages;

		const call = { id, type: 'function', function: { name, arguments: values } };
		const last = messages.at(-1);
		if (last?.['tool_calls'] === undefined)
			return [...messages, { role: 'assistant', content: null, tool_calls: [call] }];
		return [
			...messages.slice(0, -1),
			{ ...last, tool_calls: [...list(last['tool_calls']), call] },
		];
	}, []);
}

/** Turns a request for a response into one for a chat completion. */
export function chatRequest(body: Json): Json {
	const { model, stream, temperature, input, instructions, tools, text } = body;
	const { tool_choice: choice, max_output_tokens: max_tokens } = body;
	const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
	const system =
		typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
	const { format } = (text ?? {}) as { readonly format?: Json };
	return {
		...{ model, stream, temperature, max_tokens },
		messages: [...system, ...messagesOf(items)],
		...(Array.isArray(tools) && {
			tools: list(tools)
				.filter(({ type }) => type === 'function')
				.map(({ type, ...rest }) => ({ type, function: rest })),
		}),
		tool_choice: isObject(choice) ? { type: 'function', function: choice } : choice,
		...(format?.['type'] === 'json_schema' && {
			response_format: { type: 'json_schema', json_schema: format },
		}),
	};
}

/** The items of a reply: its text and its calls. */
function itemsOf({ id, content, toolCalls }: Reply) {
	const texts = content === null ? [] : [{ id, name: '', text: content, ...RESPONSE.text }];
	const calls = toolCalls.map(({ id: callId, function: { name, arguments: text } }) => ({
		...{ id: callId, name, text },
		...RESPONSE.call,
	}));
	return [...texts, ...calls].map(({ item, ...rest }) => ({
		...rest,
		item: fillTemplate<typeof item>(item, rest),
	}));
}

/** A reply as a response. */
export function responseBody(reply: Reply) {
	const isCut = finishReason(reply) === 'length';
	return fillTemplate(RESPONSE.response, {
		...reply,
		...reply.usage,
		status: isCut ? 'incomplete' : 'completed',
		details: isCut ? { reason: 'max_output_tokens' } : null,
		output: itemsOf(reply).map(({ item }) => item),
	});
}

/** The events of a streamed response; `split` cuts texts into pieces. */
export function* responseEvents(reply: Reply, split: (text: string) => readonly string[]) {
	const response = responseBody(reply);
	const started = { ...response, status: 'in_progress', output: [], usage: null };
	yield { type: 'response.created', response: started };
	for (const [output_index, { item, text, events, ...more }] of itemsOf(reply).entries()) {
		const values = { id: item.id, item, text, started: { ...item, ...more.started } };
		for (const event of events) {
			// An event with a part of the text comes once for each of them.
			for (const piece of 'delta' in event ? split(text) : ['']) {
				yield { ...fillTemplate<typeof event>(event, { ...values, piece }), output_index };
			}
		}
	}
	yield { type: `response.${response.status}`, response };
}

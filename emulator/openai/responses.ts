import { finishReason, type Reply } from '../chat/reply';
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
	const { input, instructions, tools, tool_choice: choice, text, max_output_tokens } = body;
	const items = typeof input === 'string' ? [{ role: 'user', content: input }] : list(input);
	const system =
		typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : [];
	const { format } = (text ?? {}) as { readonly format?: Json };
	return {
		model: body['model'],
		stream: body['stream'],
		temperature: body['temperature'],
		messages: [...system, ...messagesOf(items)],
		...(Array.isArray(tools) && {
			tools: list(tools)
				.filter(({ type }) => type === 'function')
				.map(({ type, ...rest }) => ({ type, function: rest })),
		}),
		tool_choice:
			typeof choice === 'object' && choice !== null
				? { type: 'function', function: choice }
				: choice,
		...(format?.['type'] === 'json_schema' && {
			response_format: { type: 'json_schema', json_schema: format },
		}),
		max_tokens: max_output_tokens,
	};
}

const text = (value: string) => ({
	type: 'output_text',
	text: value,
	annotations: [],
	logprobs: [],
});

/** A reply as a response. */
export function responseBody(reply: Reply) {
	const { id, created, model, content, toolCalls, usage } = reply;
	const isCut = finishReason(reply) === 'length';
	const message = {
		id: `msg_${id}`,
		type: 'message',
		role: 'assistant',
		status: 'completed',
		content: [text(content ?? '')],
	};
	const calls = toolCalls.map((call) => ({
		id: `fc_${call.id}`,
		type: 'function_call',
		call_id: call.id,
		name: call.function.name,
		arguments: call.function.arguments,
		status: 'completed',
	}));
	return {
		...RESPONSE,
		id: `resp_${id}`,
		created_at: created,
		status: isCut ? 'incomplete' : 'completed',
		incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
		model,
		output: [...(content === null ? [] : [message]), ...calls],
		usage: {
			input_tokens: usage.prompt_tokens,
			input_tokens_details: { cached_tokens: 0 },
			output_tokens: usage.completion_tokens,
			output_tokens_details: { reasoning_tokens: 0 },
			total_tokens: usage.total_tokens,
		},
	};
}

/** The events of a streamed response; `split` cuts texts into pieces. */
export function* responseEvents(reply: Reply, split: (text: string) => readonly string[]) {
	const response = responseBody(reply);
	const started = { ...response, status: 'in_progress', output: [], usage: null };
	yield { type: 'response.created', response: started };
	for (const [output_index, item] of response.output.entries()) {
		const place = { item_id: item.id, output_index };
		const empty = { ...item, status: 'in_progress' };
		const isCall = 'arguments' in item;
		yield {
			type: 'response.output_item.added',
			output_index,
			item: isCall ? { ...empty, arguments: '' } : { ...empty, content: [] },
		};
		if (isCall) {
			const kind = 'response.function_call_arguments';
			for (const delta of split(item.arguments))
				yield { type: `${kind}.delta`, ...place, delta };
			yield { type: `${kind}.done`, ...place, arguments: item.arguments };
		} else {
			const [part] = item.content;
			const inPart = { ...place, content_index: 0 };
			yield { type: 'response.content_part.added', ...inPart, part: text('') };
			for (const delta of split(part!.text))
				yield { type: 'response.output_text.delta', ...inPart, delta, logprobs: [] };
			yield { type: 'response.output_text.done', ...inPart, text: part!.text, logprobs: [] };
			yield { type: 'response.content_part.done', ...inPart, part };
		}
		yield { type: 'response.output_item.done', output_index, item };
	}
	yield { type: `response.${response.status}`, response };
}

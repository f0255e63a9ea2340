/** A valid response of the service, cut into the pieces between which a fault can happen. */
export interface Answer {
	readonly isStream: boolean;
	/** The events of a stream, or the two halves of a body. */
	readonly pieces: readonly string[];
}

const ENVELOPE = {
	model: 'chat-m1',
	trace_id: 'trace-1',
	usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

/** A JSON body in two halves. */
export function body(fields: object): Answer {
	const text = JSON.stringify(fields);
	const middle = Math.floor(text.length / 2);
	return { isStream: false, pieces: [text.slice(0, middle), text.slice(middle)] };
}

/** A reply that is not streamed (spec 2.4). */
export function reply(content: string, message: object = {}, more: object = {}): Answer {
	const choice = {
		index: 0,
		message: { role: 'assistant', content, ...message },
		finish_reason: 'stop',
	};
	return body({ choices: [choice], ...ENVELOPE, ...more });
}

/** A chunk of a streamed reply (spec 2.5). */
export function chunk(delta: object, more: object = {}): object {
	return { choices: [{ index: 0, delta }], ...more };
}

/** A streamed reply (spec 2.5): its chunks, the final chunk, and `[DONE]`. */
export function stream(chunks: readonly object[], finishReason = 'stop'): Answer {
	const end = { choices: [{ index: 0, delta: {}, finish_reason: finishReason }], ...ENVELOPE };
	const events = [...chunks, end].map((each) => JSON.stringify(each));
	return { isStream: true, pieces: [...events, '[DONE]'].map(event) };
}

/** One server-sent event. */
export function event(data: string): string {
	return `data: ${data}\n\n`;
}

import type { ServiceSettings } from '../service';
import { finishReason, type Reply, type ToolStep } from './reply';

/** Chunk of a streamed response, with the delay before it is sent. */
export interface TimedChunk {
	readonly delayMs: number;
	readonly chunk: Readonly<Record<string, unknown>>;
}

/** Splits a text into words with their trailing whitespace, and into the clauses of a Chinese one; joined they are the text. */
export const pieces = (text: string): readonly string[] =>
	text === '' ? [] : text.split(/(?<=\s)(?=\S)|(?<=[，。！？；：、])(?=[^\s，。！？；：、])/);

function envelope(reply: Reply, minimal: boolean) {
	const { id, created, model, session, traceId } = reply;
	if (minimal) return session ? { model, session_id: session.id } : {};
	return {
		id,
		object: 'chat.completion.chunk',
		created,
		model,
		session_id: session?.id ?? null,
		trace_id: traceId,
	};
}

/** The deltas of a stream; a scripted one has a delay of its own. */
function* deltas({ reasoning, content, toolCalls, chunks }: Reply) {
	for (const reasoning_content of pieces(reasoning ?? '')) yield { delta: { reasoning_content } };
	for (const chunk of chunks ?? pieces(content ?? '')) {
		const { text, delayMs } = typeof chunk === 'string' ? { text: chunk } : chunk;
		yield { delta: { content: text }, delayMs };
	}
	for (const [index, { function: call, ...rest }] of toolCalls.entries()) {
		const start = { index, ...rest, function: { name: call.name, arguments: '' } };
		yield { delta: { tool_calls: [start] } };
		for (const piece of pieces(call.arguments)) {
			yield { delta: { tool_calls: [{ index, function: { arguments: piece } }] } };
		}
	}
}

/** Tool progress of a super assistant, before and after the tool runs (spec 2.7). */
function* progress(step: ToolStep, { chunkMs, minimal }: ServiceSettings) {
	const { tool, arguments: values, result, durationMs } = step;
	yield {
		delayMs: chunkMs,
		extension: { type: 'tool_start', data: { tool, arguments: values } },
	};

	const call = {
		name: tool,
		arguments: values,
		result,
		status: 'success',
		...(!minimal && { elapsed: `${(durationMs / 1000).toFixed(1)}s` }),
	};
	yield { delayMs: durationMs, extension: { type: 'tool_calls', data: { tool_calls: [call] } } };
}

/** Chunks of a streamed response, without the final `[DONE]` (spec 2.5, 2.7). */
export function* completionChunks(
	reply: Reply,
	settings: ServiceSettings,
	includeUsage: boolean,
): Generator<TimedChunk> {
	const { minimal, chunkMs } = settings;
	const base = envelope(reply, minimal);
	const choice = (delta: Readonly<Record<string, unknown>>) => ({
		...base,
		choices: [{ index: 0, delta, ...(!minimal && { logprobs: null }), finish_reason: null }],
	});

	if (!minimal) yield { delayMs: 0, chunk: choice({ role: 'assistant', content: '' }) };
	for (const step of reply.session?.steps ?? []) {
		for (const { delayMs, extension } of progress(step, settings)) {
			// The specification shows no `choices` in these chunks, but third-party clients expect them.
			yield { delayMs, chunk: { ...(minimal ? base : choice({})), extension } };
		}
	}
	for (const { delta, delayMs = chunkMs } of deltas(reply))
		yield { delayMs, chunk: choice(delta) };

	const usage = includeUsage && { usage: reply.usage };
	const last = {
		index: 0,
		delta: {},
		...(!minimal && { logprobs: null }),
		finish_reason: finishReason(reply),
		...usage,
	};
	const chunk = { ...base, choices: [last], ...(!minimal && usage), ...reply.extras };
	yield { delayMs: chunkMs, chunk };
}

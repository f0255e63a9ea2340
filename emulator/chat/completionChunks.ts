import type { ServiceSettings } from '../service';
import { finishReason, type Reply, type Step } from './reply';

/** A chunk of a streamed answer, and how long the service takes to produce it. */
export interface TimedChunk {
	readonly afterMs: number;
	readonly chunk: Readonly<Record<string, unknown>>;
}

/** Pieces of a text, one word each with the space after it; joined they are the text. */
const pieces = (text: string): readonly string[] => text.split(/(?<=\s)(?=\S)/);

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

function* deltas({ reasoning, content, toolCalls }: Reply) {
	for (const reasoning_content of reasoning ? pieces(reasoning) : []) yield { reasoning_content };
	for (const piece of content ? pieces(content) : []) yield { content: piece };
	for (const [index, { function: call, ...rest }] of toolCalls.entries()) {
		yield { tool_calls: [{ index, ...rest, function: { name: call.name, arguments: '' } }] };
		for (const piece of pieces(call.arguments)) {
			yield { tool_calls: [{ index, function: { arguments: piece } }] };
		}
	}
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;

/** The progress of a super assistant's tool, before and after it runs (spec 2.7). */
function* progress(step: Step, chunkMs: number) {
	const { tool, arguments: values, result, tookMs } = step;
	yield {
		afterMs: chunkMs,
		extension: { type: 'tool_start', data: { tool, arguments: values } },
	};

	const call = {
		name: tool,
		arguments: values,
		result,
		status: 'success',
		elapsed: seconds(tookMs),
	};
	yield { afterMs: tookMs, extension: { type: 'tool_calls', data: { tool_calls: [call] } } };
}

/** An answer as the chunks of a stream, without the closing `[DONE]` (spec 2.5, 2.7). */
export function* completionChunks(
	reply: Reply,
	{ minimal, chunkMs }: ServiceSettings,
	includeUsage: boolean,
): Generator<TimedChunk> {
	const base = envelope(reply, minimal);
	const choice = (delta: Readonly<Record<string, unknown>>) => ({
		...base,
		choices: [{ index: 0, delta, ...(!minimal && { logprobs: null }), finish_reason: null }],
	});

	if (!minimal) yield { afterMs: 0, chunk: choice({ role: 'assistant', content: '' }) };
	for (const step of reply.session?.steps ?? []) {
		for (const { afterMs, extension } of progress(step, chunkMs)) {
			// The specification shows no choices beside an extension; stock clients expect them.
			yield { afterMs, chunk: { ...(minimal ? base : choice({})), extension } };
		}
	}
	for (const delta of deltas(reply)) yield { afterMs: chunkMs, chunk: choice(delta) };

	const usage = includeUsage && { usage: reply.usage };
	const last = {
		index: 0,
		delta: {},
		...(!minimal && { logprobs: null }),
		finish_reason: finishReason(reply),
		...usage,
	};
	const chunk = { ...base, choices: [last], ...(!minimal && usage), ...reply.extras };
	yield { afterMs: chunkMs, chunk };
}

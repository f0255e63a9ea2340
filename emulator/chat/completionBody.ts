import type { ServiceSettings } from '../service';
import type { OpenAiOptions } from '../openai/chatRequest';
import { finishReason, type Reply } from './reply';

function message(reply: Reply, minimal: boolean) {
	const { content, reasoning, toolCalls, session } = reply;
	const steps = session?.steps ?? [];
	const ran = steps.map((step) => ({
		id: step.id,
		type: 'function' as const,
		function: { name: step.tool, arguments: JSON.stringify(step.arguments) },
	}));
	const calls = [...toolCalls, ...ran];
	return {
		role: 'assistant',
		content,
		...(!minimal && { refusal: null }),
		...(reasoning !== undefined && { reasoning_content: reasoning }),
		...(calls.length > 0 && { tool_calls: calls }),
		...(steps.length > 0 && {
			tool_results: steps.map(({ id, result }) => ({ tool_call_id: id, content: result })),
		}),
	};
}

function envelope({ id, created, model, session, traceId }: Reply, minimal: boolean) {
	if (minimal && !session) return {};
	return {
		id,
		object: 'chat.completion',
		created,
		model,
		...(session && { session_id: session.id }),
		...(!minimal && { trace_id: traceId }),
	};
}

/**
 * Body of a non-streamed response (spec 2.4, 2.6).
 * @param options.n number of choices, which are alike
 */
export function completionBody(
	reply: Reply,
	{ minimal }: ServiceSettings,
	{ n = 1, functions = false }: Partial<OpenAiOptions> = {},
) {
	const [call] = reply.toolCalls;
	// The specification shows finish_reason in its tool and reasoning examples only.
	const hasReason = !minimal || reply.toolCalls.length > 0 || reply.reasoning !== undefined;
	return {
		...envelope(reply, minimal),
		choices: Array.from({ length: n }, (_, index) => ({
			index,
			message: {
				...message(reply, minimal),
				...(functions && call && { function_call: call.function }),
			},
			...(!minimal && { logprobs: null }),
			...(hasReason && { finish_reason: finishReason(reply) }),
		})),
		usage: reply.usage,
		...reply.extras,
	};
}

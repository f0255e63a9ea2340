import { HttpError } from '../errors';
import { hasTrigger } from '../triggers';
import { respondAsAssistant } from './assistantResponder';
import { respondAsModel } from './modelResponder';
import { respondAsScripted } from './scriptedResponder';
import { respondAsWorkflow } from './workflowResponder';
import type { App } from './apps';
import { countTokens, firstTokens } from './countTokens';
import type { ChatContext, DraftReply } from './responder';
import { textOf } from './messages';
import type { Reply, TokenUsage } from './reply';

/** Responder by kind of application (spec 1). */
const RESPONDERS: Readonly<Record<App['kind'], (context: ChatContext) => DraftReply>> = {
	application: respondAsModel,
	workflow: respondAsWorkflow,
	assistant: respondAsAssistant,
};

/** Truncates a text before its first stop word (spec 2.1). */
function truncateAtStop(text: string, stop: readonly string[]): string {
	const positions = stop
		.filter(Boolean)
		.map((word) => text.indexOf(word))
		.filter((position) => position >= 0);
	return positions.length > 0 ? text.slice(0, Math.min(...positions)) : text;
}

/** Token usage: the prompt includes setting, history and knowledge; the completion includes reasoning (spec 2.4). */
function usageOf(
	{ body }: ChatContext,
	{ extraInput }: DraftReply,
	written: readonly string[],
): TokenUsage {
	const calls = body.messages.flatMap(({ tool_calls }) => tool_calls ?? []);
	const read = [...body.messages.map(textOf), ...calls.map((call) => call.function.arguments)];
	const prompt_tokens = countTokens(read.join('\n')) + countTokens(extraInput);
	const completion_tokens = countTokens(written.join(''));
	return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/**
 * Creates the reply to a validated chat request.
 * @throws HttpError 400 or 409
 */
export function createReply(context: ChatContext): Reply {
	const { body, binding, service, scripted } = context;
	const { finishReason, usage, chunks } = scripted ?? {};
	const draft = scripted
		? respondAsScripted(context, scripted)
		: (binding.app ? RESPONDERS[binding.app.kind] : respondAsModel)(context);
	if (body.messages.some((message) => hasTrigger(textOf(message), 'forbiddenAnswer'))) {
		throw new HttpError(409, 'Content moderation failed: the answer contains sensitive words.');
	}
	const { reasoning, toolCalls = [], extras = {}, session } = draft;
	const hasText = toolCalls.length === 0 || (scripted !== undefined && draft.content !== '');
	const { maxTokens = Infinity, model = binding.model.code } = body.openai ?? {};
	const whole = truncateAtStop(draft.content, body.stop ?? []);
	const begun = firstTokens(whole, maxTokens);
	const isCut = hasText && begun !== whole;
	const content = hasText ? begun : null;
	const written = [content ?? '', reasoning ?? '', ...toolCalls.map((c) => c.function.arguments)];
	return {
		id: service.nextId('chatcmpl-'),
		traceId: service.nextId('trace-'),
		created: Math.floor(service.clock.now() / 1000),
		model,
		content,
		...(reasoning !== undefined && { reasoning }),
		toolCalls,
		usage: { ...usageOf(context, draft, written), ...usage },
		...((isCut || finishReason !== undefined) && { finishReason: finishReason ?? 'length' }),
		...(chunks && { chunks }),
		extras,
		...(session && { session }),
	};
}

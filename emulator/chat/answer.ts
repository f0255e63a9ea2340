import { ServiceError } from '../errors';
import { hasTrigger } from '../triggers';
import { answerAsAssistant } from './answerAsAssistant';
import { answerAsModel } from './answerAsModel';
import { answerAsWorkflow } from './answerAsWorkflow';
import type { App } from './apps';
import type { Ask, Draft } from './ask';
import { textOf } from './messages';
import type { Reply, Usage } from './reply';

/** Who answers, by what `app_code` names (spec 1). */
const RESPONDERS: Readonly<Record<App['kind'], (ask: Ask) => Draft>> = {
	application: answerAsModel,
	workflow: answerAsWorkflow,
	assistant: answerAsAssistant,
};

/** Tokens, at four characters each. */
const tokens = (text: string): number => Math.ceil(text.length / 4);

/** Cuts a text before the first stop word in it (spec 2.1). */
function stopAt(text: string, stop: readonly string[]): string {
	const places = stop.filter(Boolean).map((word) => text.indexOf(word));
	const found = places.filter((place) => place >= 0);
	return found.length > 0 ? text.slice(0, Math.min(...found)) : text;
}

/** The request counts with everything the model read, the response with its thoughts (spec 2.4). */
function usageOf({ body }: Ask, { alsoRead }: Draft, written: readonly string[]): Usage {
	const calls = body.messages.flatMap(({ tool_calls }) => tool_calls ?? []);
	const read = [...body.messages.map(textOf), ...calls.map((call) => call.function.arguments)];
	const prompt_tokens = tokens(read.join('\n')) + tokens(alsoRead);
	const completion_tokens = tokens(written.join(''));
	return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/**
 * Answers a checked chat request.
 * @throws ServiceError 400 or 409, as the responder finds
 */
export function answer(ask: Ask): Reply {
	const { body, binding, service } = ask;
	const draft = (binding.app ? RESPONDERS[binding.app.kind] : answerAsModel)(ask);
	if (body.messages.some((message) => hasTrigger(textOf(message), 'forbiddenAnswer'))) {
		throw new ServiceError(409, 'Content moderation failed: the answer holds sensitive words.');
	}
	const { reasoning, toolCalls = [], extras = {}, session } = draft;
	const content = toolCalls.length > 0 ? null : stopAt(draft.content, body.stop ?? []);
	const written = [content ?? '', reasoning ?? '', ...toolCalls.map((c) => c.function.arguments)];
	return {
		id: service.nextId('chatcmpl-'),
		traceId: service.nextId('trace-'),
		created: Math.floor(service.clock.now() / 1000),
		model: binding.model.code,
		content,
		...(reasoning !== undefined && { reasoning }),
		toolCalls,
		usage: usageOf(ask, draft, written),
		extras,
		...(session && { session }),
	};
}

import { accumulateTokenUsage, type IExecuteFunctions } from 'n8n-workflow';

import { type Fallback, sendChat, type SendChatOptions } from '../../client/chat/sendChat';
import { askForJson, type JsonFormat } from '../../client/chat/jsonReply';
import { usageOf } from '../../client/chat/result';
import type { ChatCompletion, ChatRequest } from '../../client/chat/types';
import type { HttpPort } from '../../client/ports';
import { n8nClock } from '../run/clock';
import { mentionOnce } from '../run/hints';
import { trace } from '../run/trace';

/**
 * Custom data that executions can be filtered by in n8n's list, the attribute of the span, and the field of the reply that
 * both come from.
 */
const FIELDS = [
	['agent_video_model', 'gen_ai.response.model', 'model'],
	['agent_video_session', 'gen_ai.conversation.id', 'session_id'],
] as const;

const INSTEAD = 'Remove what it ignores, or use the Super Assistant node';

/**
 * Sends a chat request, see `sendChat`; in a JSON format also the attempts to repair the reply, see `askForJson`. Each call
 * is reported by itself, and a fallback that has answered is named in the panel.
 *
 * @throws InputError and ServiceError as `sendChat`.
 */
export async function sendAndReport(
	context: IExecuteFunctions,
	http: HttpPort,
	request: ChatRequest,
	format: JsonFormat | undefined,
	options: Omit<SendChatOptions, 'onFallback'>,
): Promise<ChatCompletion> {
	return await askForJson(request, format, async (each) => {
		const reply = await sendChat(n8nClock(context), http, each, {
			...options,
			onFallback: (fallback) => {
				reportFallback(context, fallback);
			},
		});
		reportCall(context, reply, request);
		return reply;
	});
}

/**
 * Adds the tokens of a call to the node's token count in n8n and to its span, and the model and session to the execution's
 * custom data and to the span.
 *
 * @param request What was sent: a hint says what a super assistant has ignored of it (spec 2.1, 2.7).
 */
export function reportCall(
	context: IExecuteFunctions,
	completion: ChatCompletion,
	{ model, tools, messages = [] }: Partial<ChatRequest> = {},
): void {
	const earlier = messages.length > 1 && 'all messages before the last one';
	const ignored = [model && 'Model', tools && 'the tools', earlier].filter(Boolean).join(', ');
	// Only the replies of super assistants have both (spec 2.4, 2.5).
	if (ignored !== '' && completion.session_id && completion.model)
		mentionOnce(context, `A super assistant has answered. It ignores: ${ignored}. ${INSTEAD}`);
	const usage = usageOf(completion);
	if (usage !== undefined)
		accumulateTokenUsage(context, usage.prompt_tokens, usage.completion_tokens);
	const said = FIELDS.map(([key, attribute, field]) => {
		const value = completion[field];
		const text = typeof value === 'string' ? value : '';
		if (text !== '') setCustomData(context, key, text);
		return [attribute, text] as const;
	});
	trace(context, {
		'gen_ai.usage.input_tokens': usage?.prompt_tokens,
		'gen_ai.usage.output_tokens': usage?.completion_tokens,
		...Object.fromEntries(said),
	});
}

/** Says in the panel which fallback has answered. */
function reportFallback(context: IExecuteFunctions, { answered_by, failed }: Fallback): void {
	const { code, error } = failed[0]!;
	mentionOnce(context, `${answered_by} has answered instead of ${code}. ${code}: ${error}`);
}

/** Values are cut to n8n's maximum of 255 characters. Does nothing in an n8n without custom data. */
export function setCustomData(
	context: Partial<IExecuteFunctions>,
	key: string,
	value: string,
): void {
	context.customData?.set(key, value.slice(0, 255));
}

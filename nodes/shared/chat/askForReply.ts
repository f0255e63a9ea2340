import { withJson, type JsonFormat } from '../../client/chat/jsonReply';
import { usageOf } from '../../client/chat/result';
import { sendChat, type Chat, type SendOptions } from '../../client/chat/sendChat';
import type { ChatCompletion, ChatRequest, Taker } from '../../client/chat/types';
import { readCall } from '../form/callOptions';
import type { Run } from '../run/run';
import { showReply, type SendText } from './chatStream';

/** What a form says about its calls, and who else takes part in them. */
interface AskOptions extends Pick<SendOptions, 'fallbacks' | 'call'> {
	readonly streaming: string;
	readonly options: Parameters<typeof readCall>[1];
	readonly format: JsonFormat | undefined;
	readonly sendText: SendText | undefined;
}

/**
 * Asks for a reply, in a JSON format also for the repair of one. A live chat shows it. Each call is reported by itself, and
 * a fallback that has answered is named in the panel.
 *
 * @returns The reply as it was sent: `judge` tells what it is.
 * @throws InputError and ServiceError as `sendChat`.
 */
export async function askForReply(
	run: Run,
	request: ChatRequest,
	taker: Taker,
	{ streaming, options, format, sendText, fallbacks, call }: AskOptions,
): Promise<ChatCompletion> {
	const send = sendChat(run.clock, run.service().http, {
		...readCall(run, options),
		stream: streaming !== 'off',
		onDelta: showReply(sendText, {
			reasoning: streaming === 'reasoning',
			tools: taker === 'assistant',
		}),
		fallbacks,
		onFallback: (answerer, [first]) => {
			const { code, error } = first!;
			const text = `${answerer} has answered instead of ${code}. ${code}: ${error}`;
			run.mention(text);
		},
		call,
	});
	const chat: Chat = async (each) => reportCall(run, await send(each), request);
	return await withJson(chat, format, taker)(request);
}

const INSTEAD = 'Remove what it ignores, or use the Super Assistant node';

/**
 * Adds the tokens of a call to the node's token count in n8n and to its span, and the model and session to the execution's
 * custom data and to the span.
 *
 * @param request What was sent: a hint says what a super assistant has ignored of it (spec 2.1, 2.7).
 * @returns The reply.
 */
function reportCall(
	run: Run,
	completion: ChatCompletion,
	{ model, tools, messages }: ChatRequest,
): ChatCompletion {
	const earlier = messages.length > 1 && 'all messages before the last one';
	const ignored = [model && 'Model', tools && 'the tools', earlier].filter(Boolean).join(', ');
	// Only the replies of super assistants have both (spec 2.4, 2.5).
	if (ignored !== '' && completion.session_id && completion.model)
		run.mention(`A super assistant has answered. It ignores: ${ignored}. ${INSTEAD}`);
	const usage = usageOf(completion);
	if (usage !== undefined) run.countTokens(usage.prompt_tokens, usage.completion_tokens);
	const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
	const sender = textOf(completion.model);
	const session = textOf(completion.session_id);
	// Executions can be filtered by them in n8n's list.
	run.setCustomData('agent_video_model', sender);
	run.setCustomData('agent_video_session', session);
	run.trace({
		'gen_ai.usage.input_tokens': usage?.prompt_tokens,
		'gen_ai.usage.output_tokens': usage?.completion_tokens,
		'gen_ai.response.model': sender,
		'gen_ai.conversation.id': session,
	});
	return completion;
}

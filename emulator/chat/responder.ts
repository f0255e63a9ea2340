import type { ScriptedAnswer } from '../script/script';
import type { EmulatedService } from '../service';
import { parseQuestion, type Question } from './generation/question';
import type { Message, MessageToolCall } from './messages';
import { runMatching, type PluginRun } from './plugins/plugins';
import type { Extras, Reply } from './reply';
import type { ChatBody } from './requestSchema';
import type { Binding } from './resolveBinding';

/** Input of a responder: the request and its environment. */
export interface ChatContext {
	readonly body: ChatBody;
	readonly binding: Binding;
	/** Name of the calling account, which owns its sessions. */
	readonly owner: string;
	/** Origin of the service, for links to generated files. */
	readonly origin: string;
	readonly service: EmulatedService;
	/** Scripted answer to the request, if any. */
	readonly scripted?: ScriptedAnswer | undefined;
}

/** Output of a responder, before stop words and token usage are applied. */
export interface DraftReply {
	readonly content: string;
	/** Tool calls for the client to run; if there are any, `content` is not sent. */
	readonly toolCalls?: readonly MessageToolCall[];
	readonly reasoning?: string;
	readonly extras?: Extras;
	readonly session?: NonNullable<Reply['session']>;
	/** Input besides the messages, counted in `prompt_tokens` (spec 2.4). */
	readonly extraInput: string;
}

/** Parses the question in the messages, with the settings of the request and the application (spec 2.1). */
export function readQuestion(
	{ body, binding: { app }, service: { settings, clock, timesAsked } }: ChatContext,
	messages: readonly Message[],
	knowledge: readonly string[] = [],
): Question {
	const { temperature = app?.temperature ?? 0.7, top_p = 1 } = body;
	const { frequency_penalty = 0, presence_penalty = 0 } = body;
	return parseQuestion(messages, {
		setting: app?.setting ?? '',
		knowledge,
		isJson: body.response_format?.type === 'json_object',
		seed: settings.seed,
		repeat: timesAsked,
		nowMs: clock.now(),
		sampling: [temperature, top_p, frequency_penalty, presence_penalty],
	});
}

/** Runs the plugins or skills of the bound application that match the question. */
export function runPlugins(
	{ binding: { app }, origin, service: { settings } }: ChatContext,
	question: Question,
): readonly PluginRun[] {
	return runMatching(app?.plugins ?? [], { question, origin, seed: settings.seed });
}

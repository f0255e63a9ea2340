import type { Service } from '../service';
import { questionOf, type Question } from './brain/question';
import type { Message, ToolCall } from './messages';
import type { PluginRun } from './plugins/plugin';
import { PLUGINS } from './plugins/plugins';
import type { Extras, Reply } from './reply';
import type { ChatBody } from './requestSchema';
import type { Binding } from './resolveBinding';

/** Everything a responder needs to answer one request. */
export interface Ask {
	readonly body: ChatBody;
	readonly binding: Binding;
	/** The account that asks; sessions belong to it. */
	readonly owner: string;
	/** The service's own address, for links to generated files. */
	readonly origin: string;
	readonly service: Service;
}

/** What a responder comes up with. */
export interface Draft {
	readonly content: string;
	/** Calls for the caller to run; with any, the content is not sent. */
	readonly toolCalls?: readonly ToolCall[];
	readonly reasoning?: string;
	readonly extras?: Extras;
	readonly session?: NonNullable<Reply['session']>;
	/** What the model read besides the messages; it is billed (spec 2.4). */
	readonly alsoRead: string;
}

/** The question in some messages, under the request's and the application's settings (spec 2.1). */
export function readQuestion(
	{ body, binding: { app }, service: { settings } }: Ask,
	messages: readonly Message[],
	knowledge: readonly string[] = [],
): Question {
	const { temperature, top_p = 1, frequency_penalty = 0, presence_penalty = 0 } = body;
	return questionOf(messages, {
		setting: app?.setting ?? '',
		knowledge,
		seed: settings.seed,
		temperature: temperature ?? app?.temperature ?? 0.7,
		variety: [top_p, frequency_penalty, presence_penalty],
	});
}

/** A plugin that was used, and what came of it. */
export interface UsedPlugin extends PluginRun {
	readonly name: string;
	readonly thought: string;
}

/** Runs those of the bound application's plugins or skills that the question calls for. */
export function usePlugins(
	{ binding: { app }, origin, service: { settings, clock } }: Ask,
	question: Question,
): readonly UsedPlugin[] {
	const enabled = PLUGINS.filter(({ name }) => app?.plugins.includes(name));
	return enabled.flatMap(({ name, thought, use }) => {
		const run = use({ question, origin, seed: settings.seed, nowMs: clock.now() });
		return run ? [{ name, thought, ...run }] : [];
	});
}

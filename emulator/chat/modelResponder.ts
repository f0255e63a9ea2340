import { moderate } from '../moderate';
import { readQuestion, runPlugins, type ChatContext, type DraftReply } from './responder';
import type { Question } from './generation/question';
import { languageOf } from './generation/language';
import { writeJson } from './generation/writeJson';
import { writeText } from './generation/writeText';
import { textOf, type MessageToolCall } from './messages';
import { imageName, type PluginRun } from './plugins/plugins';
import type { Extras } from './reply';
import { retrieve, type Retrieval } from './retrieve';
import { requireSupportedEffort, isThinkingEnabled, writeReasoning } from './thinking';
import { chooseToolCalls } from './tools/chooseToolCalls';
import { followUpCalls } from './tools/followUps';
import { answerFromResults, toolResults, toolRounds, type ToolResult } from './tools/toolResults';

/**
 * Searches the knowledge bases of the bound application; undefined if it has none.
 * @throws HttpError 409 if a hit contains the forbidden word
 */
function searchKnowledge({ body, binding: { app } }: ChatContext): Retrieval | undefined {
	if (!app || app.knowledge.length === 0) return undefined;
	const last = body.messages.findLast(({ role }) => role === 'user');
	const retrieval = retrieve(last ? textOf(last).slice(0, 4_000) : '', app.knowledge);
	moderate('the retrieved knowledge', retrieval.hits.map(({ text }) => text).join('\n'));
	return retrieval;
}

/** The tool that the answer must be given with, as agents with an output parser demand it. */
const ANSWER_TOOL = /\bMUST use the `([\w-]+)` tool\b/;

/** Tool calls of this round, with identifiers (spec 2.3, 4). */
function requestToolCalls(
	{ body, binding: { model }, service }: ChatContext,
	question: Question,
	known: string,
): readonly MessageToolCall[] {
	const { tools: given = [], tool_choice = 'auto', messages } = body;
	if (given.length === 0 || tool_choice === 'none' || model.ignoresTools) return [];

	const name = ANSWER_TOOL.exec(question.instructions)?.[1];
	const answerTool = given.find((tool) => tool.function.name === name);
	const tools = given.filter((tool) => tool !== answerTool);
	const matched = chooseToolCalls(question.text, tools, {
		round: toolRounds(messages),
		required: tool_choice === 'required',
		nowMs: service.clock.now(),
	});
	const calls = matched.length > 0 ? matched : followUpCalls(messages, tools);
	const chosen = calls.map((call) => [call.name, JSON.stringify(call.arguments)] as const);
	if (chosen.length === 0 && answerTool) {
		const { name, parameters: schema = {} } = answerTool.function;
		chosen.push([name, writeJson(question, { schema, known })]);
	}
	return chosen.map(([name, text]) => ({
		id: service.nextId('call_'),
		type: 'function',
		function: { name, arguments: text },
	}));
}

const proseOf = (results: readonly ToolResult[]): string =>
	results.map(({ label, text }) => `\n${label}: ${text}`).join('');

function writeContent(
	context: ChatContext,
	question: Question,
	results: readonly ToolResult[],
	plugins: readonly PluginRun[],
): string {
	const { response_format, openai } = context.body;
	const schema = openai?.schema ?? question.format;
	if (schema) return writeJson(question, { schema, known: proseOf(results) });
	const isJson = response_format?.type === 'json_object';
	if (results.length > 0) {
		const answer = answerFromResults(results, languageOf(question.text));
		return isJson ? JSON.stringify({ answer, results }) : answer;
	}
	if (isJson) return writeJson(question);
	if (plugins.length > 0) return plugins.map(({ content }) => content).join('\n\n');
	if (question.images.length === 0) return writeText(question);
	// The image recognition plugin is not enabled (spec 2.2).
	const { and, unseen } = languageOf(question.text);
	const names = question.images.map(imageName).join(and);
	return `${unseen.replace('{names}', () => names)} ${writeText(question)}`;
}

/** Extra response fields of an application (spec 2.6). */
function extrasOf(
	{ binding: { app } }: ChatContext,
	question: Question,
	retrieval: Retrieval | undefined,
	plugins: readonly PluginRun[],
): Extras {
	const chain = plugins.map(({ name, thought, input }) => ({
		plugin_name: name,
		thought,
		plugin_input: input,
	}));
	return {
		...(retrieval && {
			knowledge_base: {
				search_hit: retrieval.hits.length > 0,
				first_similarity: retrieval.firstSimilarity,
			},
		}),
		...(app?.suggestsQuestions && {
			suggested_questions: languageOf(question.text)
				.questions.filter((text) => text !== question.text)
				.slice(0, 3),
		}),
		...(chain.length > 0 && { agent: { status: 'success', chain, need_show_plugin: true } }),
	};
}

/**
 * Responder of a model, with or without an application (spec 2.1 to 2.6).
 * @throws HttpError 400 for an unsupported reasoning effort, 409 for forbidden knowledge
 */
export function respondAsModel(context: ChatContext): DraftReply {
	const { body, binding } = context;
	requireSupportedEffort(body, binding);
	const retrieval = searchKnowledge(context);
	const knowledge = (retrieval?.hits ?? []).map(({ text }) => text);
	const question = readQuestion(context, body.messages, knowledge);
	const results = toolResults(body.messages);
	const toolCalls = requestToolCalls(context, question, proseOf(results));
	const plugins = toolCalls.length > 0 ? [] : runPlugins(context, question);
	const toolNames = toolCalls.map((call) => call.function.name);
	return {
		content: writeContent(context, question, results, plugins),
		toolCalls,
		...(isThinkingEnabled(body, binding) && {
			reasoning: writeReasoning(question, body.reasoning_effort, toolNames),
		}),
		extras: extrasOf(context, question, retrieval, plugins),
		extraInput: [
			binding.app?.setting,
			...knowledge,
			body.tools?.length && JSON.stringify(body.tools),
		]
			.filter(Boolean)
			.join('\n'),
	};
}

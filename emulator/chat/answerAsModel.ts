import { ServiceError } from '../errors';
import { hasTrigger } from '../triggers';
import { readQuestion, usePlugins, type Ask, type Draft, type UsedPlugin } from './ask';
import type { Question } from './brain/question';
import { writeJson } from './brain/writeJson';
import { writeText } from './brain/writeText';
import { textOf, type ToolCall } from './messages';
import { imageName } from './plugins/imageName';
import type { Extras } from './reply';
import { retrieve, type Retrieval } from './retrieve';
import { checkEffort, thinks, thoughts } from './thinking';
import { chooseCalls } from './tools/chooseCalls';
import { followUps } from './tools/followUps';
import { answerFromResults, toolResults, toolRounds } from './tools/toolResults';

function search({ body, binding: { app } }: Ask): Retrieval | undefined {
	if (!app || app.knowledge.length === 0) return undefined;
	const last = body.messages.findLast(({ role }) => role === 'user');
	const found = retrieve(last ? textOf(last).slice(0, 4_000) : '', app.knowledge);
	if (found.hits.some(({ text }) => hasTrigger(text, 'forbiddenQuestion'))) {
		throw new ServiceError(
			409,
			'Content moderation failed: the retrieved knowledge holds sensitive words.',
		);
	}
	return found;
}

/** The tool calls of this round, with identifiers (spec 2.3, 4). */
function askForTools({ body, service }: Ask, { text }: Question): readonly ToolCall[] {
	const { tools = [], tool_choice = 'auto', messages } = body;
	if (tools.length === 0 || tool_choice === 'none') return [];

	const asked = chooseCalls(text, tools, {
		round: toolRounds(messages),
		required: tool_choice === 'required',
		nowMs: service.clock.now(),
	});
	const calls = asked.length > 0 ? asked : followUps(messages, tools);
	return calls.map((call) => ({
		id: service.nextId('call_'),
		type: 'function',
		function: { name: call.name, arguments: JSON.stringify(call.arguments) },
	}));
}

/** Without the plugin that looks at images the model knows their addresses only (spec 2.2). */
function unseen({ images }: Question): string {
	const names = images.map(imageName).join(' and ');
	return `I cannot look at the image ${names} here: that takes an application with image recognition.`;
}

function compose(ask: Ask, question: Question, used: readonly UsedPlugin[]): string {
	const { messages, response_format } = ask.body;
	const results = toolResults(messages);
	const isJson = response_format?.type === 'json_object';
	if (results.length > 0) {
		const answer = answerFromResults(results);
		return isJson ? JSON.stringify({ answer, results }) : answer;
	}
	if (isJson) return writeJson(question);
	if (used.length > 0) return used.map(({ content }) => content).join('\n\n');
	if (question.images.length > 0) return `${unseen(question)} ${writeText(question)}`;
	return writeText(question);
}

const QUESTIONS = [
	'Which aspect ratio fits best?',
	'What makes a good video prompt?',
	'How long does a video take?',
	'Can I use my own pictures?',
] as const;

/** What an application adds to its answer (spec 2.6). */
function extrasOf(
	{ binding: { app } }: Ask,
	question: Question,
	found: Retrieval | undefined,
	used: readonly UsedPlugin[],
): Extras {
	const chain = used.map(({ name, thought, input }) => ({
		plugin_name: name,
		thought,
		plugin_input: input,
	}));
	return {
		...(found && {
			knowledge_base: {
				search_hit: found.hits.length > 0,
				first_similarity: found.firstSimilarity,
			},
		}),
		...(app?.suggestsQuestions && {
			suggested_questions: QUESTIONS.filter((text) => text !== question.text).slice(0, 3),
		}),
		...(chain.length > 0 && { agent: { status: 'success', chain, need_show_plugin: true } }),
	};
}

/**
 * The answer of a model by itself or of an application (spec 2.1 to 2.6).
 * @throws ServiceError 400 for a reasoning effort the model does not take, 409 for forbidden knowledge
 */
export function answerAsModel(ask: Ask): Draft {
	const { body, binding } = ask;
	checkEffort(body, binding);
	const found = search(ask);
	const knowledge = (found?.hits ?? []).map(({ text }) => text);
	const question = readQuestion(ask, body.messages, knowledge);
	const toolCalls = askForTools(ask, question);
	const used = toolCalls.length > 0 ? [] : usePlugins(ask, question);
	const toolNames = toolCalls.map((call) => call.function.name);
	return {
		content: compose(ask, question, used),
		toolCalls,
		...(thinks(body, binding) && {
			reasoning: thoughts(question, body.reasoning_effort, toolNames),
		}),
		extras: extrasOf(ask, question, found, used),
		alsoRead: [
			binding.app?.setting,
			...knowledge,
			body.tools?.length && JSON.stringify(body.tools),
		]
			.filter(Boolean)
			.join('\n'),
	};
}

import { APPS } from './apps';
import { respondAsAssistant } from './assistantResponder';
import { readQuestion, runPlugins, type ChatContext, type DraftReply } from './responder';
import { capitalize } from './generation/language';
import { writeJson } from './generation/writeJson';
import { writeVideoPrompt } from './generation/writeText';

const SHOTS = ['Opening', 'Middle', 'Ending'] as const;

/**
 * Responder of a workflow: the output of its end node (spec 2.1). That is the answer of the super assistant in its agent node
 * (spec 9), or a storyboard of three shots, after what its plugin sees in the images (spec 2.2).
 */
export function respondAsWorkflow(context: ChatContext): DraftReply {
	const { app } = context.binding;
	const assistant = APPS.find(({ code }) => code === app?.assistant);
	if (assistant !== undefined) {
		// The session of the node is its own.
		const { session_id: _session, ...body } = context.body;
		const inNode = { ...context, body, binding: { ...context.binding, app: assistant } };
		const { content, extraInput } = respondAsAssistant(inNode);
		return { content, extraInput };
	}
	const question = readQuestion(context, context.body.messages);
	const storyboard = capitalize(question.topic);
	const shots = SHOTS.map((shot, turn) => ({ shot, prompt: writeVideoPrompt(question, turn) }));
	const seen = runPlugins(context, question).map(({ content }) => content);
	const lines = shots.map(({ shot, prompt }) => `${shot}: ${prompt}`);
	const isJson = context.body.response_format?.type === 'json_object';
	return {
		content: isJson
			? writeJson(question, { unasked: { storyboard, shots } })
			: [...seen, `Storyboard: ${storyboard}`, ...lines].join('\n'),
		extraInput: app?.setting ?? '',
	};
}

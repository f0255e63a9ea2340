import { readQuestion, type ChatContext, type DraftReply } from './responder';
import { capitalize } from './generation/words';
import { writeVideoPrompt } from './generation/videoPrompt';

const SHOTS = ['Opening', 'Middle', 'Ending'] as const;

/** Responder of the demo workflow: the output of its end node, a storyboard of three shots (spec 2.1). */
export function respondAsWorkflow(context: ChatContext): DraftReply {
	const question = readQuestion(context, context.body.messages);
	const lines = SHOTS.map((shot, turn) => `${shot}: ${writeVideoPrompt(question, turn)}`);
	return {
		content: [`Storyboard: ${capitalize(question.topic)}`, ...lines].join('\n'),
		extraInput: context.binding.app?.setting ?? '',
	};
}

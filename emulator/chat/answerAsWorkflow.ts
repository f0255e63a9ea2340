import { readQuestion, type Ask, type Draft } from './ask';
import { capital } from './brain/capital';
import { videoPrompt } from './brain/videoPrompt';

const SHOTS = ['Opening', 'Middle', 'Ending'] as const;

/** The end node's output of the demo workflow: a storyboard of three shots (spec 2.1). */
export function answerAsWorkflow(ask: Ask): Draft {
	const question = readQuestion(ask, ask.body.messages);
	const lines = SHOTS.map((shot, turn) => `${shot}: ${videoPrompt(question, turn)}`);
	return {
		content: [`Storyboard: ${capital(question.topic)}`, ...lines].join('\n'),
		alsoRead: ask.binding.app?.setting ?? '',
	};
}

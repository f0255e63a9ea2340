import { answerWell } from '../faults/acts';
import type { Operation } from '../faults/operations';
import type { Script } from '../support/scriptedServer';
import type { Exchange } from './exchange';
import type { Attack } from './service';

/** Sends the valid responses in order, and the attack in place of those after `goodBefore`. */
export function attackScript(
	{ answers, goodBefore }: Operation,
	{ act, count = Infinity }: Attack,
	server: Pick<Exchange, 'time' | 'insidePort'>,
): Script {
	let sent = 0;
	let index = 0;
	return (response, request) => {
		const answer = answers[Math.min(sent, answers.length - 1)]!;
		if (sent >= goodBefore && index < count) {
			act({ response, request, answer, index: index++, ...server });
			return;
		}
		sent++;
		answerWell(response, answer);
	};
}

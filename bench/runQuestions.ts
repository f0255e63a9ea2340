import { step } from '../lab/services/step';
import { startLab, type Lab } from './lab/startLab';
import type { Answer, Question } from './question';
import { startServer } from './server/startServer';

/** A question with what came out, or why nothing did. */
export interface Finding {
	readonly question: Question;
	readonly seconds: number;
	readonly outcome: Answer | { readonly failure: string };
}

/**
 * Answers the questions one after another, against one server. One that fails does not keep the others from being
 * answered.
 *
 * @param onStart Given what ends all that has been started, safe to call at any time.
 */
export async function runQuestions(
	questions: readonly Question[],
	quick: boolean,
	onStart: (stop: () => Promise<void>) => void,
): Promise<readonly Finding[]> {
	const server = await startServer();
	let shared: Promise<Lab> | undefined;
	const lab = () => (shared ??= startLab(server.url));
	let stopping: Promise<void> | undefined;
	const stopAll = async () => {
		await (await shared?.catch(() => undefined))?.stop();
		await server.stop();
	};
	const stop = () => (stopping ??= stopAll());
	onStart(stop);
	try {
		const findings: Finding[] = [];
		for (const question of questions) {
			const startMs = Date.now();
			const outcome = await step(question.title, (say) =>
				question.run({ quick, server, lab, say }),
			).catch((error: unknown) => ({ failure: String(error) }));
			findings.push({
				question,
				seconds: Math.round((Date.now() - startMs) / 1000),
				outcome,
			});
		}
		return findings;
	} finally {
		await stop();
	}
}

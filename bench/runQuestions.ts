import { step } from '../lab/services/step';
import { startInstance, type N8nInstance } from './n8n/startInstance';
import type { Bench, Question, Result } from './question';
import { startServer } from './server/startServer';

/** A benchmark with its result, or with the reason for its failure. */
export interface QuestionResult {
	readonly question: Question;
	readonly seconds: number;
	readonly outcome: Result | { readonly failure: string };
}

/**
 * Runs the benchmarks one after another against one server. The failure of one does not stop the others.
 *
 * @param onStart Receives a function that stops all that was started; it may be called at any time.
 * @param profiles Folder for a CPU profile of the n8n that the benchmarks share.
 */
export async function runQuestions(
	questions: readonly Question[],
	{ quick, guard }: Pick<Bench, 'quick' | 'guard'>,
	onStart: (stop: () => Promise<void>) => void,
	profiles?: string,
): Promise<readonly QuestionResult[]> {
	const server = await startServer();
	let shared: Promise<N8nInstance> | undefined;
	const n8n = () => (shared ??= startInstance(server.url, profiles));
	let stopping: Promise<void> | undefined;
	const stopAll = async () => {
		await (await shared?.catch(() => undefined))?.stop();
		await server.stop();
	};
	const stop = () => (stopping ??= stopAll());
	onStart(stop);
	try {
		const results: QuestionResult[] = [];
		for (const question of questions) {
			const startMs = Date.now();
			const outcome = await step(question.title, (onProgress) =>
				question.run({ quick, guard, server, n8n, onProgress }),
			).catch((error: unknown) => ({ failure: String(error) }));
			results.push({
				question,
				seconds: Math.round((Date.now() - startMs) / 1000),
				outcome,
			});
		}
		return results;
	} finally {
		await stop();
	}
}

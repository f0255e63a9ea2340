import type { ServerResponse } from 'node:http';

import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import type { Script, SeenRequest } from '../support/scriptedServer';
import { answerWell } from './acts';
import type { Answer } from './answers';
import { recordOutput } from './leaks';
import type { Operation } from './operations';

/** Time that jumps, and everything that this process has printed. */
export interface Observed {
	readonly time: FakeTime;
	readonly printed: readonly unknown[];
}

/** Runs something in fake time, with average intervals and delays, so that times are predictable. */
export async function observe<T>(run: (observed: Observed) => Promise<T>): Promise<T> {
	const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
	const output = recordOutput();
	try {
		return await withFakeTimers(async (time) => await run({ time, printed: output.printed }));
	} finally {
		output.stop();
		random.mockRestore();
	}
}

/** A credential with two secrets: the key, and the value of an extra header. */
export const credentialOf = (baseUrl: string, [apiKey, value]: readonly [string, string]) => ({
	baseUrl,
	apiKey,
	extraHeaders: { header: [{ name: 'X-Gateway-Key', value }] },
});

/** What answers a request in place of the valid response; `index` counts those before it. */
type Bad = (response: ServerResponse, request: SeenRequest, answer: Answer, index: number) => void;

/** Sends the valid responses of an operation in order, and after the good ones this number of bad ones. */
export function interrupt({ answers, goodBefore }: Operation, count: number, bad: Bad): Script {
	let sent = 0;
	let index = 0;
	return (response, request) => {
		const answer: Answer = answers[Math.min(sent, answers.length - 1)]!;
		if (sent >= goodBefore && index < count) {
			bad(response, request, answer, index++);
			return;
		}
		sent++;
		answerWell(response, answer);
	};
}

import { Running } from '../../lab/services/Running';
import { startNginx } from '../../lab/services/startNginx';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer';
import { withFakeTimers } from '../support/fakeTimers';
import { answerWell, type World } from './acts';
import type { Answer } from './answers';
import type { Fault } from './faults';
import { placesOf, recordOutput } from './leaks';
import { WAYS, type Operation, type Outcome, type Way } from './operations';

export const KEY = 'sk-0f4e-very-secret';
const GATEWAY_KEY = 'gw-9d1c-quite-hidden';

/** What was observed of an operation under a fault. */
export interface Seen {
	readonly outcome: Outcome;
	/** Requests to the service, counted from the fault; all requests sent when no server listens. */
	readonly requests: number;
	/** Bodies of the requests that the service may have processed. */
	readonly done: readonly string[];
	/** Authorization headers of the requests to the service. */
	readonly keys: readonly (string | undefined)[];
	readonly atOther: ScriptedServer['requests'];
	readonly passedMs: number;
	/** Places where the key was found. */
	readonly leaks: readonly string[];
}

/** Starts the servers of the matrix: the service, an nginx in front of it, and a second host. */
export async function startServers() {
	const running = new Running();
	let script: Script = () => undefined;
	const service = running.keep(
		await startScriptedServer((...args) => {
			script(...args);
		}),
	);
	const other = running.keep(
		await startScriptedServer((response) => {
			response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Another host</h1>');
		}),
	);
	const nginx = await startNginx(service.port).catch(async (error: unknown) => {
		await running.stop();
		throw error;
	});
	running.keep(nginx);
	const nginxUrl = `http://127.0.0.1:${nginx.port}`;
	return {
		nginxUrl,
		/** Makes the service send this response to every request. */
		answer: (answer: Answer) => {
			script = (response) => {
				answerWell(response, answer);
			};
		},
		stop: async () => {
			await running.stop();
		},
		run: async (operation: Operation, fault: Fault, way: Way): Promise<Seen> => {
			service.requests.length = 0;
			other.requests.length = 0;
			return await withFakeTimers(async (time) => {
				const world: World = { time, nginxUrl, otherUrl: other.url };
				const observed: Observed = { requests: 0, done: [] };
				script = respondWith(operation, fault, world, observed);
				const baseUrl = fault.address?.(world) ?? service.url;
				// Average intervals and delays, so that the times are predictable.
				const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
				const output = recordOutput();
				const credential = {
					baseUrl,
					apiKey: KEY,
					extraHeaders: { header: [{ name: 'X-Gateway-Key', value: GATEWAY_KEY }] },
				};
				const outcome = await operation.run({ credential, ...WAYS[way] }).finally(() => {
					output.stop();
					random.mockRestore();
				});
				return {
					outcome,
					requests:
						fault.isUnreachable === true ? time.sentRequests() : observed.requests,
					done: observed.done,
					keys: service.requests.map(({ headers }) => headers.authorization),
					atOther: [...other.requests],
					passedMs: time.passedMs(),
					leaks: [KEY, GATEWAY_KEY].flatMap((secret) =>
						placesOf(secret, {
							output: outcome,
							console: output.printed,
							'another host': other.requests,
						}),
					),
				};
			});
		},
	};
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

interface Observed {
	requests: number;
	readonly done: string[];
}

/** Sends the valid responses in order, with the fault after `goodBefore` of them. */
function respondWith(
	{ answers, goodBefore }: Operation,
	{ act, count = 1, mayBeDone = true }: Fault,
	world: World,
	observed: Observed,
): Script {
	let sent = 0;
	let faulty = 0;
	return (response, { body }) => {
		const answer: Answer = answers[Math.min(sent, answers.length - 1)]!;
		if (sent >= goodBefore) observed.requests++;
		const isFaulty = act !== undefined && sent >= goodBefore && faulty < count;
		if (!isFaulty || mayBeDone) observed.done.push(JSON.stringify(body));
		if (isFaulty) {
			faulty++;
			act(response, answer, world);
			return;
		}
		sent++;
		answerWell(response, answer);
	};
}

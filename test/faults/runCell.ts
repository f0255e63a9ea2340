import { Running } from '../../lab/services/Running';
import { startNginx } from '../../lab/services/startNginx';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer';
import { withFakeTimers } from '../support/fakeTimers';
import { answerWell, type World } from './acts';
import type { Answer } from './answers';
import type { Fault } from './faults';
import { listen, placesOf } from './leaks';
import { WAYS, type Operation, type Outcome, type Way } from './operations';

export const KEY = 'sk-0f4e-very-secret';

/** What was seen of an operation under a fault. */
export interface Seen {
	readonly outcome: Outcome;
	/** Requests at the service from the fault on, or those that went nowhere. */
	readonly requests: number;
	/** Bodies of the requests that the service may have carried out. */
	readonly done: readonly string[];
	/** What the requests at the service had for a key. */
	readonly keys: readonly (string | undefined)[];
	readonly atOther: ScriptedServer['requests'];
	readonly passedMs: number;
	/** Where the key was found. */
	readonly leaks: readonly string[];
}

/** The servers of the matrix: the service, an nginx before it, another host. */
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
		/** Lets the service give this answer to everybody. */
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
				const book: Book = { requests: 0, done: [] };
				script = playing(operation, fault, world, book);
				const baseUrl = fault.address?.(world) ?? service.url;
				const console = listen();
				const outcome = await operation
					.run({ credential: { baseUrl, apiKey: KEY }, ...WAYS[way] })
					.finally(() => {
						console.stop();
					});
				return {
					outcome,
					requests: fault.isUnreachable === true ? time.sentRequests() : book.requests,
					done: book.done,
					keys: service.requests.map(({ headers }) => headers.authorization),
					atOther: [...other.requests],
					passedMs: time.passedMs(),
					leaks: placesOf(KEY, {
						output: outcome,
						console: console.heard,
						'another host': other.requests,
					}),
				};
			});
		},
	};
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

interface Book {
	requests: number;
	readonly done: string[];
}

/** Good answers in turn, and the fault in between. */
function playing(
	{ answers, goodBefore }: Operation,
	{ act, count = 1, mayBeDone }: Fault,
	world: World,
	book: Book,
): Script {
	let given = 0;
	let struck = 0;
	return (response, { body }) => {
		const answer: Answer = answers[Math.min(given, answers.length - 1)]!;
		if (given >= goodBefore) book.requests++;
		const strikes = act !== undefined && given >= goodBefore && struck < count;
		if (!strikes || mayBeDone) book.done.push(JSON.stringify(body));
		if (strikes) {
			struck++;
			act(response, answer, world);
			return;
		}
		given++;
		answerWell(response, answer);
	};
}

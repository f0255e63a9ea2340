import { Running } from '../../lab/services/Running';
import { startNginx } from '../../lab/services/startNginx';
import {
	startScriptedServer,
	type Script,
	type ScriptedServer,
	type SeenRequest,
} from '../support/scriptedServer';
import { answerWell } from './acts';
import type { Answer } from './answers';
import type { Fault } from './faults';
import { placesOf } from './leaks';
import { credentialOf, interrupt, observe, type Observed } from './observe';
import { WAYS, type Operation, type Outcome, type Way } from './operations';

export const KEY = 'sk-0f4e-very-secret';
const SECRETS = [KEY, 'gw-9d1c-quite-hidden'] as const;

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

/** Starts the service of a cell and a second host, and an nginx in front of the service. */
export async function startServers({ hasNginx = true } = {}) {
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
	let nginxUrl = '';
	if (hasNginx) {
		const nginx = await startNginx(service.port).catch(async (error: unknown) => {
			await running.stop();
			throw error;
		});
		nginxUrl = `http://127.0.0.1:${running.keep(nginx).port}`;
	}

	/** Runs an operation under a fault; others may run at the same time. */
	async function runIn(
		{ time, printed }: Observed,
		operation: Operation,
		{ address, act, count = 1, mayBeDone = true, isUnreachable = false }: Fault,
		way: Way,
	): Promise<Seen> {
		service.requests.length = 0;
		other.requests.length = 0;
		const world = { time, nginxUrl, otherUrl: other.url };
		const undone: SeenRequest[] = [];
		script = interrupt(
			operation,
			act === undefined ? 0 : count,
			(response, request, answer) => {
				if (!mayBeDone) undone.push(request);
				act!(response, answer, world);
			},
		);
		const credential = credentialOf(address?.(world) ?? service.url, SECRETS);
		const outcome = await operation.run({ credential, ...WAYS[way] });
		const passedMs = time.passedMs();
		const places = { output: outcome, console: printed, 'another host': other.requests };
		return {
			outcome,
			requests: isUnreachable
				? time.sentRequests()
				: service.requests.length - operation.goodBefore,
			done: service.requests
				.filter((request) => !undone.includes(request))
				.map(({ body }) => JSON.stringify(body)),
			keys: service.requests.map(({ headers }) => headers.authorization),
			atOther: [...other.requests],
			passedMs,
			leaks: SECRETS.flatMap((secret) => placesOf(secret, places)),
		};
	}

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
		runIn,
		run: async (operation: Operation, fault: Fault, way: Way): Promise<Seen> =>
			await observe(async (observed) => await runIn(observed, operation, fault, way)),
	};
}

export type Servers = Awaited<ReturnType<typeof startServers>>;

import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import { LoggerProxy } from 'n8n-workflow';

import { credentialOf, observe } from '../faults/observe';
import { WAYS, type Circumstances, type Outcome, type Way } from '../faults/operations';
import { Running } from '../../lab/services/Running';
import type { FakeTime } from '../support/fakeTimers';
import { imitateNetwork } from '../support/imitatedNetwork';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer';

/** A key with characters that base64 and URLs encode. */
export const KEY = 'sk-0f4e/very+secret=7';
/** The value of an extra header of the credential. */
export const GATEWAY_KEY = 'gw+9d1c/quite/hidden=3';

/** Imitated public addresses: every connection ends at this machine. */
const SERVICE = '93.184.216.34';
const FILE_HOST = '93.184.216.36';

/** What was observed of an operation under an attack. */
export interface Seen {
	readonly outcome: Outcome;
	readonly toService: ScriptedServer['requests'];
	readonly toFileHost: ScriptedServer['requests'];
	/** Contacted addresses that are neither the service's nor the file host's. */
	readonly strangers: readonly string[];
	/** Everything that the nodes printed or logged. */
	readonly printed: readonly unknown[];
	readonly passedMs: number;
	/** Bytes that the servers sent. */
	readonly sentBytes: number;
	/** CPU time of the process. */
	readonly cpuMs: number;
	/** Growth of the memory at its peak. */
	readonly grownBytes: number;
}

/** Answers the requests to the service and to the file host. */
export interface Scripts {
	service(time: FakeTime, fileUrl: string): Script;
	files?(time: FakeTime): Script;
}

interface Runs {
	readonly run: (circumstances: Circumstances) => Promise<Outcome>;
}

/** Starts a service and a file host. */
export async function startHostileServers() {
	const running = new Running();
	const nothing: Script = (response) => {
		response.destroy();
	};
	const scripts = { service: nothing, files: nothing };
	let sentBytes = 0;
	const counting =
		(name: keyof typeof scripts): Script =>
		(response, ...rest) => {
			const { socket } = response;
			const before = socket?.bytesWritten ?? 0;
			socket?.once('close', () => (sentBytes += socket.bytesWritten - before));
			scripts[name](response, ...rest);
		};
	const service = running.keep(await startScriptedServer(counting('service')));
	const files = running.keep(await startScriptedServer(counting('files')));
	const baseUrl = `http://api.example.com:${service.port}`;
	const fileUrl = `http://cdn.example.com:${files.port}`;

	return {
		stop: async () => {
			await running.stop();
		},
		run: async ({ run }: Runs, given: Scripts, way: Way): Promise<Seen> => {
			service.requests.length = 0;
			files.requests.length = 0;
			sentBytes = 0;
			const network = imitateNetwork();
			network.resolve('api.example.com', [SERVICE]);
			network.resolve('cdn.example.com', [FILE_HOST]);
			network.resolve('other.example.net', ['93.184.216.37']);
			// Judged by its first answer, it must not be contacted at its second one (DNS rebinding).
			network.resolve('rebind.example.net', [FILE_HOST], ['127.0.0.1']);
			const logged = recordLog();
			const memory = watchMemory();
			const cpu = process.cpuUsage();
			try {
				return await observe(async ({ time, printed }) => {
					scripts.service = given.service(time, fileUrl);
					scripts.files = given.files?.(time) ?? nothing;
					const credential = credentialOf(baseUrl, [KEY, GATEWAY_KEY]);
					const outcome = await run({ credential, ...WAYS[way] });
					return {
						outcome,
						toService: [...service.requests],
						toFileHost: [...files.requests],
						strangers: network.contacted.filter(
							(address) => ![SERVICE, FILE_HOST].includes(address),
						),
						printed: [...printed, ...logged.lines],
						passedMs: time.passedMs(),
						sentBytes,
						cpuMs: process.cpuUsage(cpu).user / 1_000,
						grownBytes: memory.grownBytes(),
					};
				});
			} finally {
				memory.stop();
				logged.stop();
				network.restore();
			}
		},
	};
}

export type HostileServers = Awaited<ReturnType<typeof startHostileServers>>;

/** Records what nodes and n8n's engine log, at every level. */
function recordLog() {
	const lines: unknown[] = [];
	const record = (...line: unknown[]) => {
		lines.push(line);
	};
	// Nodes have the second one in their context.
	const spies = [LoggerProxy, Container.get(Logger)].flatMap((logger) =>
		(['debug', 'info', 'warn', 'error'] as const).map((level) =>
			jest.spyOn(logger, level).mockImplementation(record as never),
		),
	);
	return {
		lines,
		stop: () => {
			spies.forEach((spy) => {
				spy.mockRestore();
			});
		},
	};
}

/** Measures the memory of this process in real time. */
function watchMemory() {
	const used = () => {
		const { heapUsed, external } = process.memoryUsage();
		return heapUsed + external;
	};
	const startBytes = used();
	let peakBytes = startBytes;
	const look = () => {
		peakBytes = Math.max(peakBytes, used());
	};
	const timer = setInterval(look, 20);
	return {
		grownBytes: () => {
			look();
			return peakBytes - startBytes;
		},
		stop: () => {
			clearInterval(timer);
		},
	};
}

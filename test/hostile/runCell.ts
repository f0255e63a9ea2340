import { LoggerProxy } from 'n8n-workflow';

import { recordOutput } from '../faults/leaks';
import { WAYS, type Circumstances, type Outcome, type Way } from '../faults/operations';
import { Running } from '../../lab/services/Running';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer';
import { hostileNetwork, startTrap } from './network';

/** A key with characters that base64 and URLs encode. */
export const KEY = 'sk-0f4e/very+secret=7';
/** The value of an extra header of the credential. */
export const GATEWAY_KEY = 'gw+9d1c/quite/hidden=3';

/** What was observed of an operation under an attack. */
export interface Seen {
	readonly outcome: Outcome;
	readonly toService: ScriptedServer['requests'];
	readonly toFileHost: ScriptedServer['requests'];
	/** Number of connections to the server that must not be contacted. */
	readonly toInside: number;
	/** Contacted addresses of other hosts. */
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

/** The servers as an attack knows them. */
export interface Hosts {
	readonly time: FakeTime;
	/** The file host under a public name. */
	readonly fileUrl: string;
	readonly insidePort: number;
}

/** Answers the requests to the service and to the file host. */
export interface Scripts {
	service(hosts: Hosts): Script;
	files?(hosts: Hosts): Script;
}

interface Runs {
	readonly run: (circumstances: Circumstances) => Promise<Outcome>;
}

/** Starts a service, a file host, and a server that must not be contacted; all of them are on this machine. */
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
	const inside = running.keep(await startTrap());

	return {
		stop: async () => {
			await running.stop();
		},
		run: async ({ run }: Runs, given: Scripts, way: Way): Promise<Seen> => {
			service.requests.length = 0;
			files.requests.length = 0;
			inside.connections = 0;
			sentBytes = 0;
			const network = hostileNetwork();
			const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
			const output = recordOutput();
			const logged = recordLog();
			const memory = watchMemory();
			const cpu = process.cpuUsage();
			try {
				return await withFakeTimers(async (time) => {
					const hosts: Hosts = {
						time,
						fileUrl: `http://cdn.example.com:${files.port}`,
						insidePort: inside.port,
					};
					scripts.service = given.service(hosts);
					scripts.files = given.files?.(hosts) ?? nothing;
					const credential = {
						baseUrl: `http://api.example.com:${service.port}`,
						apiKey: KEY,
						extraHeaders: {
							header: [{ name: 'X-Gateway-Key', value: GATEWAY_KEY }],
						},
					};
					const outcome = await run({ credential, ...WAYS[way] });
					return {
						outcome,
						toService: [...service.requests],
						toFileHost: [...files.requests],
						toInside: inside.connections,
						strangers: network.strangers(),
						printed: [...output.printed, ...logged.lines],
						passedMs: time.passedMs(),
						sentBytes,
						cpuMs: process.cpuUsage(cpu).user / 1_000,
						grownBytes: memory.grownBytes(),
					};
				});
			} finally {
				memory.stop();
				logged.stop();
				output.stop();
				random.mockRestore();
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
	const spies = (['debug', 'info', 'warn', 'error'] as const).map((level) =>
		jest.spyOn(LoggerProxy, level).mockImplementation(record as never),
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

import type { AddressInfo } from 'node:net';
import type { Clock } from './clock';
import { createServer } from './createServer';
import { createService, type ServiceOptions } from './createService';
import type { FaultQueue } from './faults/faultQueue';
import type { Journal } from './journal';
import type { TaskStore } from './video/tasks';

export interface EmulatorOptions extends ServiceOptions {
	/** 0, the default, takes any free port. */
	readonly port?: number;
	/** The address to listen on; by default only this machine can reach it. */
	readonly host?: string;
	/** Takes one line for each request. */
	readonly log?: (line: string) => void;
}

/** A running emulator. */
export interface Emulator {
	/** The base URL, for example `http://127.0.0.1:8787`. */
	readonly url: string;
	readonly port: number;
	readonly clock: Clock;
	readonly journal: Journal;
	/** What goes wrong on demand: `faults.add({ kind: 'reset', path: '/v1/videos/tasks' })`. */
	readonly faults: FaultQueue;
	/** The accepted video tasks, with what the model's rules made of each request. */
	readonly tasks: TaskStore;
	/** Ends open connections and frees the port. */
	stop(): Promise<void>;
}

/**
 * Starts the service on this machine.
 * @throws Error with code `EADDRINUSE` when the port is taken
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
	const { host = '127.0.0.1', port = 0 } = options;
	const service = createService(options);
	const server = createServer(service, options.log);
	await server.listen({ host, port });

	const address = server.server.address() as AddressInfo;
	const { clock, journal, faults, tasks } = service;
	const name = host.includes(':') ? `[${host}]` : host;
	return {
		url: `http://${name}:${address.port}`,
		port: address.port,
		clock,
		journal,
		faults,
		tasks,
		stop: () => server.close(),
	};
}

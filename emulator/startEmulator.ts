import type { AddressInfo } from 'node:net';
import { createServer, type ServerOptions } from './createServer';
import { createService, type EmulatedService, type ServiceOptions } from './service';

export interface EmulatorOptions extends ServiceOptions, ServerOptions {
	/** Default 0, which selects a free port. */
	readonly port?: number;
	/** Address to listen on. Default `127.0.0.1`, reachable from this machine only. */
	readonly host?: string;
}

/** A running emulator. Fault injection: `faults.add({ kind: 'reset', path: '/v1/videos/tasks' })`. */
export interface Emulator extends Pick<EmulatedService, 'clock' | 'journal' | 'faults' | 'tasks'> {
	/** The base URL, for example `http://127.0.0.1:8787`. */
	readonly url: string;
	readonly port: number;
	/** Closes all connections and the port. */
	stop(): Promise<void>;
}

/**
 * Starts the emulator.
 * @throws Error with code `EADDRINUSE` if the port is in use
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
	const { host = '127.0.0.1', port = 0 } = options;
	const service = createService(options);
	const server = createServer(service, options);
	await server.listen({ host, port });

	const address = server.server.address() as AddressInfo;
	const name = host.includes(':') ? `[${host}]` : host;
	return {
		...service,
		url: `http://${name}:${address.port}`,
		port: address.port,
		stop: () => server.close(),
	};
}

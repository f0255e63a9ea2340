import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server on this machine that must not be contacted; it counts connections, also those that send nothing. */
export interface Trap {
	readonly port: number;
	connections: number;
	stop: () => Promise<void>;
}

/** Starts a server whose content only this machine may read. */
export async function startTrap(): Promise<Trap> {
	const server = createServer((_request, response) => {
		response.end('a secret of the network');
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const trap: Trap = {
		port: (server.address() as AddressInfo).port,
		connections: 0,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
	server.on('connection', () => trap.connections++);
	return trap;
}

// cspell:ignore localdomain
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { imitateNetwork, type ImitatedNetwork } from '../support/imitatedNetwork';

/** Imitated public addresses. Nothing is sent to them: every connection ends at this machine. */
const PUBLIC: Readonly<Record<string, string>> = {
	'api.example.com': '93.184.216.34',
	'sub.api.example.com': '93.184.216.35',
	'cdn.example.com': '93.184.216.36',
	'other.example.net': '93.184.216.37',
};
/** Names that lead to this machine, or also to it. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
	'inside.example.net': ['127.0.0.1'],
	'mixed.example.net': ['93.184.216.36', '127.0.0.1'],
	'mapped.example.net': ['::ffff:127.0.0.1'],
	'vault.default.svc': ['127.0.0.1'],
	'vault.corp': ['127.0.0.1'],
	'router.home.arpa': ['127.0.0.1'],
	'localhost.localdomain': ['127.0.0.1'],
	localhost: ['127.0.0.1'],
};

/** Imitates DNS: the service and the file host are on the Internet, other names lead to this machine. */
export function hostileNetwork(): ImitatedNetwork & { strangers(): string[] } {
	const network = imitateNetwork();
	for (const [name, address] of Object.entries(PUBLIC)) network.resolve(name, [address]);
	for (const [name, addresses] of Object.entries(INSIDE)) network.resolve(name, addresses);
	// Judged by its first answer, it must not be contacted at its second one (DNS rebinding).
	network.resolve('rebind.example.net', [PUBLIC['cdn.example.com']!], ['127.0.0.1']);
	const hosts = [PUBLIC['api.example.com']!, PUBLIC['cdn.example.com']!];
	return {
		...network,
		/** The contacted addresses that are neither the service's nor the file host's. */
		strangers: () => network.contacted.filter((address) => !hosts.includes(address)),
	};
}

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

import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** The wanted TCP port of the loopback address if it is free, else (and for 0) one that the system picks. */
export async function freePort(wanted = 0): Promise<number> {
	const server = createServer();
	try {
		server.listen(wanted, '127.0.0.1');
		await once(server, 'listening');
		return (server.address() as AddressInfo).port;
	} catch (error) {
		if (wanted === 0) throw error;
		return await freePort();
	} finally {
		server.close();
	}
}

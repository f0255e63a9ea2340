import { once } from 'node:events';
import { createServer } from 'node:net';

/** The ports that freePort picks from: below those that the system gives to outgoing connections. */
const FIRST_PORT = 10_000;
const PORTS = 22_000;
/** Ports per process. */
const BLOCK = 100;

let next = Math.floor(Math.random() * BLOCK);

/**
 * Finds a free TCP port of the loopback address for a server that is started next.
 *
 * Each process picks from a block of its own: a server may take seconds to listen, and until then another process would
 * find the same port free.
 *
 * @param wanted Returned if it is not 0.
 * @throws Error if `wanted` is taken.
 */
export async function freePort(wanted = 0): Promise<number> {
	if (wanted > 0) {
		if (await isFree(wanted)) return wanted;
		throw new Error(
			`Port ${wanted} is already in use. Choose another port, or stop the program that uses it.`,
		);
	}
	const firstOfBlock = FIRST_PORT + (process.pid % (PORTS / BLOCK)) * BLOCK;
	for (let tries = 0; tries < BLOCK; tries++) {
		const port = firstOfBlock + (next++ % BLOCK);
		if (await isFree(port)) return port;
	}
	throw new Error(`No TCP port from ${firstOfBlock} to ${firstOfBlock + BLOCK - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
	const server = createServer();
	try {
		server.listen(port, '127.0.0.1');
		await once(server, 'listening');
		return true;
	} catch {
		return false;
	} finally {
		server.close();
	}
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import axios from 'axios';

// Chooses the password before jest's workers inherit it.
import '../../../lab/n8n/owner';
import { startN8n, type N8n } from '../../../lab/n8n/startN8n';
import { Running } from '../../../lab/services/Running';

/** Environment variable with the address of the server below; jest's workers inherit it. */
const ADDRESS = 'E2E_SHARED_N8N';

const running = new Running();

/**
 * Starts a server that gives each jest worker an n8n with default settings. The n8n is started at the first request and
 * kept for all test files of that worker: a start takes six seconds. A worker runs one file at a time, so no two files
 * use the same n8n at once.
 */
export async function serveSharedN8n(): Promise<void> {
	const byWorker = new Map<string, Promise<N8n>>();
	const n8nOf = (worker: string) => {
		const n8n = byWorker.get(worker) ?? startN8n().then((started) => running.keep(started));
		byWorker.set(worker, n8n);
		// The next file tries again.
		n8n.catch(() => byWorker.delete(worker));
		return n8n;
	};
	const server = createServer(({ url = '' }, response) => {
		// A connection that is kept may be closed at the moment of the next request.
		response.setHeader('Connection', 'close');
		n8nOf(url).then(
			({ url: address }) => response.end(address),
			(error: unknown) => response.writeHead(500).end(String(error)),
		);
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	running.keep({
		stop: () => {
			server.close();
			server.closeAllConnections();
			return Promise.resolve();
		},
	});
	process.env[ADDRESS] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Stops the server and every n8n that it has started. */
export async function stopSharedN8n(): Promise<void> {
	await running.stop();
}

/**
 * The address of this worker's n8n.
 *
 * @throws Error with the end of n8n's log when it does not start.
 */
export async function sharedN8nUrl(): Promise<string> {
	const url = `${process.env[ADDRESS]}/${process.env['JEST_WORKER_ID']}`;
	const { status, data } = await axios.get<string>(url, {
		proxy: false,
		responseType: 'text',
		validateStatus: () => true,
	});
	if (status !== 200) throw new Error(data);
	return data;
}

import type { FastifyInstance } from 'fastify';
import { HttpError } from './errors';

const LOOPBACK = /^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The host name of a Host header in lower case, without its port; empty if it is malformed. */
function hostName(header = ''): string {
	const url = `http://${header}`;
	return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
}

/**
 * Rejects requests for another host (RFC 9110, 421). A web page whose name is pointed to this machine (DNS rebinding) would
 * otherwise read the journal in its visitor's browser: for the browser, the emulator would be a part of that page.
 *
 * Accepted are loopback names, the address of the connection, and `allowed`.
 */
export function addHostCheck(server: FastifyInstance, allowed: readonly string[]): void {
	const names = new Set(allowed.map(hostName));
	server.addHook('onRequest', async ({ headers, socket }) => {
		const name = hostName(headers.host);
		const address = (socket.localAddress ?? '').replace(/^::ffff:/, '');
		if (LOOPBACK.test(name) || names.has(name) || name.replace(/[[\]]/g, '') === address)
			return;
		const advice = 'Start the emulator with --allow-host to accept it.';
		throw new HttpError(421, `Unknown host "${name}". ${advice}`);
	});
}

/** Rejects compressed bodies, which would be taken for broken JSON. */
export function addEncodingCheck(server: FastifyInstance): void {
	server.addHook('onRequest', async ({ headers }) => {
		if ((headers['content-encoding'] ?? 'identity') !== 'identity')
			throw new HttpError(415, 'Send the body without Content-Encoding.');
	});
}

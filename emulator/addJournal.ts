import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findCaller } from './accounts';
import { isTooDeep } from './json';
import type { JournalEntry } from './journal';
import type { EmulatedService } from './service';

/** Maximum number of characters of a path in the journal. */
const MAX_PATH = 2_048;

/** The account name behind a request; keys are never recorded. */
function identityOf({ headers: { authorization } }: FastifyRequest): string {
	if (authorization === undefined) return 'none';
	return findCaller(authorization)?.account.name ?? 'unknown';
}

function logLine({ time, method, path, status, identity }: JournalEntry, tookMs: number): string {
	const clock = new Date(time).toISOString().slice(11, 19);
	return `${clock} ${method} ${path} ${status ?? 'no response'} ${tookMs} ms ${identity}`;
}

/** Records every request in the journal, and logs one line per request when its connection closes. */
export function addJournal(
	server: FastifyInstance,
	{ journal, clock }: EmulatedService,
	log?: (line: string) => void,
): void {
	server.addHook('onRequest', async (request, reply) => {
		const [path = '/'] = request.url.split('?');
		if (path.startsWith('/__emulator/')) return;
		const entry: JournalEntry = {
			time: clock.now(),
			method: request.method,
			path: path.slice(0, MAX_PATH),
			identity: identityOf(request),
			authorized: request.headers.authorization !== undefined,
		};
		journal.record(entry, request);
		reply.raw.once('close', () => log?.(logLine(entry, clock.now() - entry.time)));
	});
	server.addHook('preValidation', async (request) => {
		const { body, headers } = request;
		if (body === undefined) return;
		const kept = isTooDeep(body) ? '(nested too deeply)' : body;
		const size = Number(headers['content-length'] ?? JSON.stringify(kept).length);
		journal.keepBody(request, kept, size);
	});
	server.addHook('onSend', async (request, reply) => {
		const entry = journal.find(request);
		if (entry) entry.status = reply.statusCode;
	});
}

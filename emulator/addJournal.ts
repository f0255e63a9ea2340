import type { FastifyInstance, FastifyRequest } from 'fastify';
import { identify } from './identities';
import { isTooDeep } from './isDeeperThan';
import type { JournalEntry } from './journal';
import type { Service } from './service';

function identityOf({ headers: { authorization } }: FastifyRequest): string {
	if (authorization === undefined) return 'none';
	return identify(authorization)?.account.name ?? 'unknown';
}

function logLine({ time, method, path, status, identity }: JournalEntry, tookMs: number): string {
	const clock = new Date(time).toISOString().slice(11, 19);
	return `${clock} ${method} ${path} ${status ?? 'no answer'} ${tookMs} ms ${identity}`;
}

/** Keeps the journal, and logs one line for each request once its answer has gone out. */
export function addJournal(
	server: FastifyInstance,
	{ journal, clock }: Service,
	log?: (line: string) => void,
): void {
	server.addHook('onRequest', async (request, reply) => {
		const [path = '/'] = request.url.split('?');
		if (path.startsWith('/__emulator/')) return;
		const entry: JournalEntry = {
			time: clock.now(),
			method: request.method,
			path,
			identity: identityOf(request),
			authorized: request.headers.authorization !== undefined,
		};
		journal.record(entry, request);
		reply.raw.once('close', () => log?.(logLine(entry, clock.now() - entry.time)));
	});
	server.addHook('preValidation', async (request) => {
		const entry = journal.find(request);
		if (entry === undefined || request.body === undefined) return;
		entry.body = isTooDeep(request.body) ? '(nested too deeply)' : request.body;
	});
	server.addHook('onSend', async (request, reply) => {
		const entry = journal.find(request);
		if (entry) entry.status = reply.statusCode;
	});
}

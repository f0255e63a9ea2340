import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { Service } from '../service';
import { isAnswerFault, strikeAnswer } from './answerFaults';
import { strikeBody, type Connection } from './bodyFaults';
import type { BodyFault } from './fault';

async function* buffers(payload: unknown): AsyncGenerator<Buffer> {
	if (payload instanceof Readable) {
		for await (const chunk of payload) yield Buffer.from(chunk as string | Uint8Array);
		return;
	}
	if (payload !== null && payload !== undefined)
		yield Buffer.from(payload as string | Uint8Array);
}

const connectionOf = ({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply): Connection => ({
	flush() {
		if (!raw.headersSent) raw.flushHeaders();
	},
	close: () => void socket.destroy(),
	reset: () => void socket.resetAndDestroy(),
});

/** Lets the faults on demand strike the requests that they match. */
export function addFaults(server: FastifyInstance, { faults, journal, clock }: Service): void {
	const inBody = new WeakMap<FastifyRequest, BodyFault>();

	server.addHook('preValidation', async (request, reply) => {
		const entry = journal.find(request);
		const fault = entry && faults.take({ ...entry, body: request.body });
		if (!entry || !fault) return;

		entry.fault = fault.kind;
		if (isAnswerFault(fault)) {
			await strikeAnswer(fault, { request, reply, clock });
			return;
		}
		inBody.set(request, fault);
	});
	server.addHook('onSend', async (request, reply, payload: unknown) => {
		const fault = inBody.get(request);
		if (!fault) return payload;

		if (fault.kind === 'contentType') reply.header('content-type', fault.type);
		const connection = connectionOf(request, reply);
		return Readable.from(strikeBody(buffers(payload), fault, connection), {
			objectMode: false,
		});
	});
}

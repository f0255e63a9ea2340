import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import type { EmulatedService } from '../service';
import { isResponseFault, applyResponseFault } from './responseFaults';
import { applyBodyFault } from './bodyFaults';
import type { BodyFault } from './fault';

/** A response payload as a stream of buffers. */
async function* buffers(payload: unknown): AsyncGenerator<Buffer> {
	if (payload instanceof Readable) {
		for await (const chunk of payload) yield Buffer.from(chunk as string | Uint8Array);
		return;
	}
	if (payload !== null && payload !== undefined)
		yield Buffer.from(payload as string | Uint8Array);
}

/** Fault injection: applies pending faults to the requests that they match. */
export function addFaultInjection(
	server: FastifyInstance,
	{ faults, journal, clock, scripts }: EmulatedService,
): void {
	const bodyFaults = new WeakMap<FastifyRequest, BodyFault>();

	server.addHook('preValidation', async (request, reply) => {
		const entry = journal.find(request);
		const queued = entry && faults.take({ ...entry, body: request.body });
		const fault = queued ?? scripts.find(request)?.reply.fault;
		if (!entry || !fault) return;

		entry.fault = fault.kind;
		if (isResponseFault(fault)) {
			await applyResponseFault(fault, { request, reply, clock, cleared: faults.cleared });
			return;
		}
		bodyFaults.set(request, fault);
	});
	server.addHook('onSend', async (request, reply, payload: unknown) => {
		const fault = bodyFaults.get(request);
		if (!fault) return payload;
		if (fault.kind === 'holdBody') {
			await faults.cleared;
			return payload;
		}

		if (fault.kind === 'contentType') reply.header('content-type', fault.type);
		const changed = applyBodyFault(fault, buffers(payload), reply.raw);
		return Readable.from(changed, { objectMode: false });
	});
}

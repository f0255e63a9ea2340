import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EmulatorClock } from '../clock';
import { errorBody } from '../errors';
import TEXTS from '../httpMessages.json';
import { fillTemplate } from '../script/fillTemplate';
import type { ScriptedReply } from '../script/script';
import type { Handlers, ResponseFault, ResponseFaults } from './fault';

/** A response with a status: a text body is sent as it is, any other as JSON; without one, the service's error body with `text`. */
export function sendStatus(
	reply: FastifyReply,
	{
		status = 200,
		headers = {},
		text = `Fault: ${status}`,
		...answer
	}: Pick<ScriptedReply, 'status' | 'headers' | 'text' | 'body'>,
): FastifyReply {
	const body = answer.body ?? errorBody(status, text);
	const isText = typeof body === 'string';
	return reply
		.type(isText ? 'text/plain; charset=utf-8' : 'application/json')
		.code(status)
		.headers(headers)
		.send(isText ? body : JSON.stringify(body));
}

interface Exchange {
	readonly request: FastifyRequest;
	readonly reply: FastifyReply;
	readonly clock: EmulatorClock;
	/** Resolves when the faults are cleared. */
	readonly cleared: Promise<unknown>;
}

/** Effect of each kind of fault, applied before the service handles the request. */
const HANDLERS: Handlers<ResponseFaults, [Exchange], unknown> = {
	delay: ({ ms }, { clock }) => clock.sleep(ms),
	hold: (_fault, { cleared }) => cleared,
	status: (fault, { reply }) => sendStatus(reply, fault),
	rateLimit({ retryAfterSeconds, asDate }, { reply, clock }) {
		const date = new Date(clock.now() + retryAfterSeconds * 1000).toUTCString();
		return reply
			.code(429)
			.header('retry-after', asDate ? date : String(retryAfterSeconds))
			.send(errorBody(429, 'Call-frequency limit exceeded. Retry later.'));
	},
	html: ({ status = 502 }, { reply }) =>
		reply
			.code(status)
			.type('text/html; charset=utf-8')
			.send(fillTemplate(TEXTS.gatewayPage, { status })),
	redirect: ({ location, status = 302 }, { reply }) => reply.redirect(location, status),
	reset(_fault, { request, reply }) {
		reply.hijack();
		request.raw.socket.resetAndDestroy();
	},
	stall(_fault, { reply }) {
		reply.hijack();
	},
};

/** Whether a fault replaces or delays the whole response, rather than changing its body. */
export function isResponseFault(fault: { readonly kind: string }): fault is ResponseFault {
	return Object.hasOwn(HANDLERS, fault.kind);
}

/** Replaces or delays a response. */
export async function applyResponseFault(fault: ResponseFault, target: Exchange): Promise<void> {
	const act = HANDLERS[fault.kind] as (fault: ResponseFault, target: Exchange) => unknown;
	await act(fault, target);
}

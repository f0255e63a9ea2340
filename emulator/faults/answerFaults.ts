import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock';
import { errorBody } from '../errors';
import type { AnswerFault } from './fault';

const PAGE = (status: number): string =>
	`<!DOCTYPE html>\n<html><head><title>${status}</title></head>` +
	`<body><center><h1>${status} Bad Gateway</h1></center><hr></body></html>\n`;

interface Target {
	readonly request: FastifyRequest;
	readonly reply: FastifyReply;
	readonly clock: Clock;
}

type Acts = {
	readonly [Kind in AnswerFault['kind']]: (
		fault: Extract<AnswerFault, { kind: Kind }>,
		target: Target,
	) => unknown;
};

/** What each kind does with a request before the service sees it. */
const ACTS: Acts = {
	delay: ({ ms }, { clock }) => clock.sleep(ms),
	status({ status, body, headers = {} }, { reply }) {
		const text = body ?? errorBody(status, `Fault: ${status}`);
		reply.type(typeof text === 'string' ? 'text/plain; charset=utf-8' : 'application/json');
		return reply
			.code(status)
			.headers(headers)
			.send(typeof text === 'string' ? text : JSON.stringify(text));
	},
	rateLimit({ retryAfterSeconds, asDate }, { reply, clock }) {
		const date = new Date(clock.now() + retryAfterSeconds * 1000).toUTCString();
		return reply
			.code(429)
			.header('retry-after', asDate ? date : String(retryAfterSeconds))
			.send(errorBody(429, 'The call-frequency limit was hit.'));
	},
	html: ({ status = 502 }, { reply }) =>
		reply.code(status).type('text/html; charset=utf-8').send(PAGE(status)),
	redirect: ({ location, status = 302 }, { reply }) => reply.redirect(location, status),
	reset(_fault, { request, reply }) {
		reply.hijack();
		request.raw.socket.resetAndDestroy();
	},
	stall(_fault, { reply }) {
		reply.hijack();
	},
};

/** Whether a fault strikes before the answer rather than in its body. */
export function isAnswerFault(fault: { readonly kind: string }): fault is AnswerFault {
	return Object.hasOwn(ACTS, fault.kind);
}

/** Lets a fault strike instead of the answer, or before it. */
export async function strikeAnswer(fault: AnswerFault, target: Target): Promise<void> {
	const act = ACTS[fault.kind] as (fault: AnswerFault, target: Target) => unknown;
	await act(fault, target);
}

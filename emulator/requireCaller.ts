import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from './errors';
import { identify, type Caller } from './identities';
import { isTooDeep } from './isDeeperThan';

/**
 * Who sent a request (spec 5).
 * @throws ServiceError 401 without a key that the service knows
 */
export function callerOf({ headers: { authorization } }: FastifyRequest): Caller {
	const caller = identify(authorization);
	if (caller) return caller;
	throw new ServiceError(
		401,
		authorization === undefined
			? 'Authentication failed: send the header Authorization: Bearer <API_KEY>.'
			: 'Authentication failed: the API key is wrong.',
	);
}

/** Refuses strangers before their body is read, and takes null as "not given" in the body's fields. */
export function requireCaller(server: FastifyInstance): void {
	server.addHook('onRequest', async (request) => {
		callerOf(request);
	});
	server.addHook('preValidation', async (request) => {
		const { body } = request;
		if (isTooDeep(body)) {
			throw new ServiceError(400, 'The body is nested too deeply.');
		}
		if (typeof body !== 'object' || body === null || Array.isArray(body)) return;
		request.body = Object.fromEntries(
			Object.entries(body).filter(([, value]) => value !== null),
		);
	});
}

/** @throws ServiceError 406 when the account has no credit left (spec 5) */
export function requireCredit({ account }: Caller): void {
	if (!account.hasCredit) throw new ServiceError(406, 'The account credit is insufficient.');
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { HttpError } from './errors';
import { findCaller, type Caller } from './accounts';
import { isObject, isTooDeep } from './json';
import type { EmulatedService } from './service';

/**
 * Authenticates a request by its `Authorization` header (spec 5).
 * @throws HttpError 401 for a missing header or an unknown key
 */
export function authenticate({ headers: { authorization } }: FastifyRequest): Caller {
	const caller = findCaller(authorization);
	if (caller) return caller;
	const isMissing = authorization === undefined;
	const problem = isMissing
		? 'send the header Authorization: Bearer <API_KEY>'
		: 'the API key is wrong';
	throw new HttpError(401, `Authentication failed: ${problem}.`);
}

/**
 * Adds the hooks of the API endpoints: authentication before the body is read, and removal of fields
 * that are null, so that null means "not set".
 */
export function requireAuthentication(server: FastifyInstance, { scripts }: EmulatedService): void {
	server.addHook('onRequest', async (request) => {
		// A scripted response, which is chosen by the body, needs no key.
		if (!scripts.covers(request.routeOptions.url ?? '')) authenticate(request);
	});
	server.addHook('preValidation', async (request) => {
		authenticate(request);
		const { body } = request;
		if (isTooDeep(body)) throw new HttpError(400, 'The body is nested too deeply.');
		if (!isObject(body)) return;
		request.body = Object.fromEntries(
			Object.entries(body).filter(([, value]) => value !== null),
		);
	});
}

/** @throws HttpError 406 if the account has no credit (spec 5) */
export function requireCredit({ account }: Caller): void {
	if (!account.hasCredit) throw new HttpError(406, 'The account credit is insufficient.');
}

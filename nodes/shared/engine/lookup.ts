import type { IExecuteFunctions, RequestHelperFunctions } from 'n8n-workflow';

/**
 * The addresses of a host, by n8n's resolver; empty if it has none.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/node-execution-context/utils/request-helpers/factory.js
 * Without it, as in n8n 2.20, and from 2.30 on where its SSRF protection is off: undefined; only the name of the host is judged.
 */
export async function lookup(
	context: IExecuteFunctions,
	host: string,
): Promise<readonly string[] | undefined> {
	const helpers: Partial<RequestHelperFunctions> = context.helpers;
	const filter = helpers.getSecureEgressFilter?.();
	const resolve = filter?.createSecureLookup();
	if (resolve === undefined) return undefined;
	return await new Promise((done) => {
		resolve(host, { all: true }, (error, found) => {
			const list = error !== null || typeof found === 'string' ? [] : found;
			done(list.map(({ address }) => address));
		});
	});
}

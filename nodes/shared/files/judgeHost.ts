import type { IExecuteFunctions, RequestHelperFunctions } from 'n8n-workflow';

import { hostOf, isPrivateAddress, isPrivateUrl } from '../../client/http/publicUrl';

/** A name that never resolves (RFC 6761); the dot at its end keeps the domain of the machine off. */
const UNRESOLVED = 'unresolved.invalid.';

/**
 * Judges the host of a URL by all addresses that it resolves to, before a connection is opened.
 *
 * The options that are returned make http: connect to the judged address, also if the name resolves to another one a
 * moment later (DNS rebinding). With https: the certificate proves the name: a private host has none for it, and an
 * address in place of the name would be wrong for a proxy. Behind a proxy the proxy resolves the name.
 *
 * @returns `private`, or options for the agent of n8n's request.
 */
export async function judgeHost(
	context: IExecuteFunctions,
	url: string,
): Promise<'private' | { readonly host?: string }> {
	if (isPrivateUrl(url)) return 'private';
	const addresses = await lookUp(context, hostOf(url));
	if (addresses?.some(isPrivateAddress)) return 'private';
	if (addresses === undefined || new URL(url).protocol === 'https:') return {};
	const [first = UNRESOLVED] = addresses;
	return { host: addresses.find((address) => !address.includes(':')) ?? first };
}

/** The addresses of a host, by n8n's resolver; none where it does not resolve. An older n8n gives nodes no resolver. */
async function lookUp(context: IExecuteFunctions, host: string): Promise<string[] | undefined> {
	const helpers: Partial<RequestHelperFunctions> = context.helpers;
	const resolve = helpers.getSecureEgressFilter?.().createSecureLookup();
	if (resolve === undefined) return undefined;
	return await new Promise((done) => {
		resolve(host, { all: true }, (error, found) => {
			const list = typeof found === 'string' ? [] : found;
			done(error === null ? list.map(({ address }) => address) : []);
		});
	});
}

import { HttpError } from './errors';

/** The problem with a reference URL, judged by its syntax alone; undefined for a valid one. */
function problemOf(address: string): string | undefined {
	if (!URL.canParse(address) || /^data:/i.test(address))
		return 'must be a public URL; base64 is not supported';
	const { protocol, hostname } = new URL(address);
	if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
	// `.invalid` never resolves (RFC 2606), so it stands for unreachable hosts.
	if (/(^|\.)invalid$/.test(hostname)) return `cannot be reached: ${hostname}`;
	return undefined;
}

/**
 * Rejects a URL that the service could not fetch (spec 2.2, 2.8).
 * The emulator fetches nothing; local and private hosts count as public.
 * @param field field name for the message, for example `images[0]`
 * @throws HttpError 400
 */
export function requirePublicUrl(address: string, field: string): void {
	const problem = problemOf(address);
	if (problem) throw new HttpError(400, `${field} ${problem}`);
}

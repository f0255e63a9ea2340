import { ServiceError } from './errors';

/** What is wrong with a reference address, judged by its form alone; undefined when nothing is. */
function flaw(address: string): string | undefined {
	if (!URL.canParse(address)) return 'must be a public URL; base64 is not supported';

	const { protocol, hostname } = new URL(address);
	if (protocol === 'data:') return 'must be a public URL; base64 is not supported';
	if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
	// The top-level domain that never resolves stands for hosts out of reach.
	if (/(^|\.)invalid$/.test(hostname)) return `cannot be reached: ${hostname}`;
	return undefined;
}

/**
 * Refuses an address that the service could not fetch (spec 2.2, 2.8).
 * The emulator fetches nothing; hosts on its own machine and network count as public.
 * @param field the field's name for the message, for example `images[0]`
 * @throws ServiceError 400
 */
export function checkPublicUrl(address: string, field: string): void {
	const problem = flaw(address);
	if (problem) throw new ServiceError(400, `${field} ${problem}`);
}

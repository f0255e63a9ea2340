import { InputError } from '../errors';

const invalid = (problem: string, hint: string) => new InputError('Base URL', problem, hint);

/**
 * Normalizes the base URL of the service (spec 4), the part before `/v1/…`. White space, trailing slashes and a trailing
 * `/v1` are removed, so that every usual spelling works.
 *
 * @throws InputError if it is missing, is not an absolute http(s) URL, or has a user name, a query or a fragment.
 */
export function normalizeBaseUrl(text: string | undefined): string {
	const trimmed = text?.trim() ?? '';
	if (trimmed === '')
		throw invalid('is empty', 'Enter the URL of the service, e.g. https://api.example.com');

	const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
	if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
		throw invalid(
			'is not a valid URL',
			'Start it with https:// (or http://), e.g. https://api.example.com',
		);
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		throw invalid(
			'contains a user name, a query or a fragment',
			'Remove user names, "?" and "#": enter only scheme, host, port and path',
		);
	}
	// The lookbehind makes a run of slashes be tried once, from its beginning.
	return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/, '').replace(/\/v1$/, '');
}

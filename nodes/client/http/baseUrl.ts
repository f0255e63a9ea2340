import { InputError } from '../errors';

const FIELD = 'Base URL';

/**
 * The address below which the service's `/v1/…` paths lie, without a trailing slash (spec 4).
 *
 * A trailing slash and a trailing `/v1` are taken off, so that every usual way to write it works.
 *
 * @throws InputError when it is missing, is not an absolute http(s) URL, or carries a user name, a query or a fragment.
 */
export function normalizeBaseUrl(text: string | undefined): string {
	const trimmed = text?.trim() ?? '';
	if (trimmed === '') {
		throw new InputError(
			FIELD,
			'is empty',
			'Enter the address of the service, e.g. https://api.example.com',
		);
	}

	const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
	if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
		throw new InputError(
			FIELD,
			'is not a web address',
			'Start it with https:// (or http://), e.g. https://api.example.com',
		);
	}
	if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
		throw new InputError(
			FIELD,
			'has a part that does not belong there',
			'Leave out user names, "?" and "#": only scheme, host, port and path',
		);
	}
	return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

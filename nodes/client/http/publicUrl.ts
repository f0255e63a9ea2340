import ipaddr from 'ipaddr.js';

import { rejectMistakes } from '../errors';

/**
 * Names of private networks: reserved ones (RFC 6761, 6762, 8375), and those that are common in companies and clusters. No host
 * has an empty part: DNS would be asked for it again and again.
 */
const LOCAL_NAMES =
	/(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|home\.arpa|lan|svc|test|invalid)?$|\.\./;
/** Everything else of IPv6 is not on the Internet. */
const IPV6_INTERNET = ipaddr.IPv6.parseCIDR('2000::/3');
/** IPv4 addresses for hosts that have IPv6 only (RFC 6052). */
const DNS64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/** The host of a URL: a name in lower case, or an IP address without brackets. */
export function hostOf(url: string): string {
	return new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/**
 * Whether the host of a URL is local or on a private network. Decided by the name or IP address alone, without DNS.
 *
 * @param url A valid absolute URL.
 */
export function isPrivateUrl(url: string): boolean {
	const host = hostOf(url);
	if (ipaddr.isValid(host)) return isPrivateAddress(host);
	return !host.includes('.') || LOCAL_NAMES.test(host);
}

/** Whether an IP address is not one of the Internet. An IPv6 address that contains an IPv4 address counts as that. */
export function isPrivateAddress(text: string): boolean {
	const address = ipaddr.process(text);
	if (!(address instanceof ipaddr.IPv6)) return address.range() !== 'unicast';
	if (address.match(DNS64)) return isPrivateAddress(address.toByteArray().slice(12).join('.'));
	return !address.match(IPV6_INTERNET) || address.range() !== 'unicast';
}

/**
 * Tells whether a URL is one of the service, or on a host that a person has named.
 *
 * @param named Hosts, with their port or for any; `*.` stands for the names below one.
 */
export function knownHosts(baseUrl: string, named: readonly string[]): (url: string) => boolean {
	const own = new URL(baseUrl);
	return (text) => {
		if (!URL.canParse(text)) return false;
		const { origin, protocol, hostname, port } = new URL(text);
		// A URL is read without the port that its protocol has by default.
		const withPort = `${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`;
		const isNamed = (name: string) =>
			[hostname, withPort].includes(name) ||
			(name.startsWith('*.') && hostname.endsWith(name.slice(1)));
		return origin === own.origin || (/^https?:$/.test(protocol) && named.some(isNamed));
	};
}

/** How a URL is judged. */
export interface PublicUrlOptions {
	/** Label of the field that contains the URL. */
	readonly field: string;
	/** Whether private addresses are valid too, because the service itself is on a private network. */
	readonly allowPrivate: boolean;
}

/**
 * Validates a URL that the service will fetch (spec 2.2, 2.8: publicly reachable, no base64) and trims it.
 *
 * @throws InputError if it is not an http(s) URL, or points to a private network and `allowPrivate` is off.
 */
export function checkPublicUrl(text: string, { field, allowPrivate }: PublicUrlOptions): string {
	const url = text.trim();
	// Behind a backslash some read another host than others.
	const isValid = URL.canParse(url) && /^https?:\/\/[^/?#\\]+(?:[/?#]|$)/i.test(url);
	rejectMistakes(field, [
		[url === '', 'has no URL', 'Enter a URL, or leave the entry out'],
		[/^data:/i.test(url), 'is a data: URL', FILE_HINT],
		[/[\s,;|]https?:\/\//i.test(url), 'has more than one URL', LIST_HINT],
		[!isValid, 'is not a valid URL', 'Start it with https:// or http://'],
		[
			isValid && !allowPrivate && isPrivateUrl(url),
			'points to a private network, which the service cannot reach',
			'Use a publicly reachable URL',
		],
	]);
	return url;
}

const LIST_HINT =
	'Enter one URL, or an expression that returns a list of them; an empty list means no file. Within a URL write %2C for a comma, and %20 for a space';
const FILE_HINT =
	'The service does not accept file contents: use the URL of the file, or binary data of the item';

/** Characters: parsing a megabyte takes 40 ms, most of it for memory. */
const MAX_BASE_URL = 2_000;

/** An endpoint at the end of a base URL, pasted with it. */
const ENDPOINT = /(?:\/chat\/completions|\/videos\/(?:generations|tasks))\/*$/;

const VERSION = /\/v\d[a-z0-9]*(?:\/|$)/;

/**
 * Normalizes the base URL of the service (spec 4): the part before `/chat/…`, which ends with `/v1` unless it has a version,
 * such as `/api/v3`. White space, trailing slashes and a pasted endpoint are removed, so that every usual spelling works.
 *
 * @throws InputError if it is missing, is not an absolute http(s) URL, or has a user name, a query or a fragment.
 */
export function normalizeBaseUrl(text: string | undefined): string {
	const trimmed = text?.trim() ?? '';
	const isShort = trimmed.length <= MAX_BASE_URL;
	const url = new URL(isShort && URL.canParse(trimmed) ? trimmed : 'invalid:');
	const { username, password, search, hash } = url;
	rejectMistakes('Base URL', [
		[trimmed === '', 'is empty', 'Enter the URL of the service, e.g. https://api.example.com'],
		[
			!['http:', 'https:'].includes(url.protocol),
			'is not a valid URL',
			'Start it with https:// (or http://), e.g. https://api.example.com',
		],
		[
			[username, password, search, hash].some((part) => part !== ''),
			'contains a user name, a query or a fragment',
			'Remove user names, "?" and "#": enter only scheme, host, port and path',
		],
	]);
	// The lookbehind makes a run of slashes be tried once, from its beginning.
	const path = url.pathname.replace(ENDPOINT, '').replace(/(?<!\/)\/+$/, '');
	// A whole address that was pasted is used as it is.
	const isWhole = VERSION.test(path) || ENDPOINT.test(url.pathname);
	return `${url.origin}${path}${isWhole ? '' : '/v1'}`;
}

import ipaddr from 'ipaddr.js';

import { InputError } from '../errors';

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|lan|home|test|invalid)$/;

/**
 * Whether the host of a URL is local or on a private network. Decided by the name or IP address alone, without DNS.
 *
 * @param url A valid absolute URL.
 */
export function isPrivateUrl(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
	if (!ipaddr.isValid(host)) return !host.includes('.') || LOCAL_NAMES.test(host);
	return ipaddr.process(host).range() !== 'unicast';
}

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
	if (/^data:/i.test(url)) {
		throw new InputError(
			field,
			'is a data: URL',
			'The service does not accept file contents: use the URL of the file, or binary data of the item',
		);
	}
	if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
		throw new InputError(field, 'is not a valid URL', 'Start it with https:// or http://');
	}
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			field,
			'points to a private network, which the service cannot reach',
			'Use a publicly reachable URL',
		);
	}
	return url;
}

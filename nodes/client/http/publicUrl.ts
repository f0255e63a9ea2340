import ipaddr from 'ipaddr.js';

import { InputError } from '../errors';

const LOCAL_NAMES = /(^|\.)(localhost|local|internal|lan|home|test|invalid)$/;

/**
 * Whether the host of a URL can be reached only from its own machine or network. Judged by its form: no name is looked up.
 */
export function isPrivateUrl(url: string): boolean {
	const host = new URL(url).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
	if (!ipaddr.isValid(host)) return !host.includes('.') || LOCAL_NAMES.test(host);
	return ipaddr.process(host).range() !== 'unicast';
}

export interface PublicUrlOptions {
	/** Name of the field that holds the URL. */
	readonly field: string;
	/** Whether the service itself is on a private network, and so reaches what is there. */
	readonly allowPrivate: boolean;
}

/**
 * A URL that the service can fetch (spec 2.2, 2.8: publicly reachable, no base64), without white space around it.
 *
 * @throws InputError when it is no http(s) URL, or leads to a private network that the service is not in.
 */
export function checkPublicUrl(text: string, { field, allowPrivate }: PublicUrlOptions): string {
	const url = text.trim();
	if (/^data:/i.test(url)) {
		throw new InputError(
			field,
			'is a data: URL',
			'The service takes addresses only: use the address of the file, or the binary data of the item',
		);
	}
	if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
		throw new InputError(field, 'is not a web address', 'Start it with https:// or http://');
	}
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			field,
			'leads to a private network, where the service cannot fetch it',
			'Use an address that is open to the internet',
		);
	}
	return url;
}

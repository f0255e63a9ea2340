import type { ICredentialDataDecryptedObject } from 'n8n-workflow';

import { rejectMistakes } from '../../client/errors';
import { normalizeBaseUrl } from '../../client/http/baseUrl';
import { shown } from '../../client/values';
import { keyMask } from './maskKey';

/** A header name of RFC 9110. It begins with a letter or digit, so that `__proto__` is none. */
const HEADER_NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]*$/i;
/** Headers that the node or the connection sets. */
const RESERVED =
	/^(authorization|host|accept(-encoding)?|connection|content-.*|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
/** Names that n8n's HTTP client, axios, takes for its groups of headers, or leaves out. */
const NOT_SENT = /^(common|constructor|delete|get|head|patch|post|prototype|put|query)$/i;

const KEY_HINT =
	'Enter the key alone, without the word Bearer, as the console of the service shows it';
const APP_CODE_HINT =
	'Enter it in the form API_KEY-APP_CODE, or switch off API Key Ends With an App Code in the credential';

const text = (value: unknown) => shown(value ?? '').trim();

/**
 * Reads the credential, whose expressions are evaluated.
 *
 * @returns `hasApp`: whether the key ends with the app code of every chat (spec 4). `headers`: the extra headers of every
 *   request to the service. `mask` masks the key and the values of the headers.
 * @throws InputError when the base URL, the key or an extra header is missing or malformed.
 */
export function readCredential(data: ICredentialDataDecryptedObject) {
	const baseUrl = normalizeBaseUrl(data['baseUrl'] as string | undefined);
	const key = text(data['apiKey']);
	const hasApp = data['keyIncludesApp'] === true;
	rejectMistakes('API Key', [
		[key === '', 'is empty', KEY_HINT],
		[/[^\x21-\x7e]/.test(key), 'contains a space or a special character', KEY_HINT],
		[hasApp && !/.-./.test(key), 'does not end with an app code', APP_CODE_HINT],
	]);
	const headers = readHeaders(data['extraHeaders']);
	return { baseUrl, key, hasApp, headers, mask: keyMask(key, hasApp, Object.values(headers)) };
}

function readHeaders(rows: unknown): Readonly<Record<string, string>> {
	const { header = [] } = (rows ?? {}) as {
		readonly header?: readonly Record<string, unknown>[];
	};
	const entries = header.map((row) => [text(row['name']), text(row['value'])] as const);
	const names = entries.map(([name]) => name.toLowerCase());
	entries.forEach(([name, value], index) => {
		rejectMistakes(`Extra Headers in the credential: row ${index + 1}`, [
			[!HEADER_NAME.test(name), 'has no valid name', 'Use letters, digits and hyphens'],
			[RESERVED.test(name), `has the name ${name}, which n8n sets itself`, 'Remove the row'],
			[
				NOT_SENT.test(name),
				`has the name ${name}, which n8n cannot send`,
				'Use another name',
			],
			[names.indexOf(names[index]!) !== index, `repeats the name ${name}`, 'Remove the row'],
			[value === '', `has no value for ${name}`, 'Enter it, or remove the row'],
			[/[^\t -~]/.test(value), `has a special character in its value`, 'Use ASCII only'],
		]);
	});
	return Object.fromEntries(entries);
}

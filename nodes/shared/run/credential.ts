import type {
	ICredentialDataDecryptedObject,
	IDataObject,
	ILoadOptionsFunctions,
} from 'n8n-workflow';
import { hash } from 'node:crypto';

import { rejectMistakes } from '../../client/errors';
import { normalizeBaseUrl } from '../../client/http/publicUrl';
import { objectOf, type JsonObject } from '../../client/json';
import { shown } from '../../client/values';
import { CREDENTIAL, type NodeContext } from './nodeContext';
import { maskOf, MIN_SECRET_CHARACTERS } from './secrets';

/** A header name of RFC 9110. It begins with a letter or digit, so that `__proto__` is none. */
const HEADER_NAME = /^[a-z0-9][a-z0-9!#$%&'*+.^_`|~-]*$/i;
/** Headers that the node or the connection sets. */
const RESERVED =
	/^(authorization|host|accept(-encoding)?|connection|content-.*|expect|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;
/** Names that n8n's HTTP client, axios, takes for its groups of headers, or leaves out. */
const NO_HEADER = /^(common|constructor|delete|get|head|patch|post|prototype|put|query)$/i;

const KEY_HINT =
	'Enter the key alone, without the word Bearer, as the console of the service shows it';
const APP_CODE_HINT =
	'Enter it in the form API_KEY-APP_CODE, or switch off API Key Ends With an App Code in the credential';

const trimmedText = (value: unknown) => shown(value ?? '').trim();

/**
 * Reads the credential, whose expressions are evaluated.
 *
 * @returns `hasApp`: whether the key ends with the app code of every chat (spec 4). `headers`: the extra headers of every
 *   request to the service. `fileHosts`: see `knownHosts`. `mask`: hides the key and the values of secret headers. `keys`: the
 *   key, and everything that may be the API key in it, the longest first.
 * @throws InputError when the base URL, the key or an extra header is missing or malformed.
 */
export function readCredential(data: ICredentialDataDecryptedObject) {
	const baseUrl = normalizeBaseUrl(data['baseUrl'] as string | undefined);
	const key = trimmedText(data['apiKey']);
	const hasApp = data['keyIncludesApp'] === true;
	rejectMistakes('API Key', [
		[key === '', 'is empty', KEY_HINT],
		[/[^\x21-\x7e]/.test(key), 'contains a space or a special character', KEY_HINT],
		[hasApp && !/.-./.test(key), 'does not end with an app code', APP_CODE_HINT],
	]);
	const { headers, hidden } = readHeaders(data['extraHeaders']);
	// Both parts may contain hyphens: everything before any of them may be the API key.
	const hyphens = hasApp ? [...key.matchAll(/-/g)] : [];
	const starts = hyphens.map(({ index }) => key.slice(0, index)).toReversed();
	const keys = [key, ...starts].filter(({ length }) => length >= MIN_SECRET_CHARACTERS);
	// A URL may have been pasted. A host is read as that of a URL, with a protocol that leaves out no port of the web.
	const entered = trimmedText(data['fileHosts']).split(/[\s,]+/);
	const urls = entered.map((each) => each.replace(/^(https?:\/\/)?/i, 'ftp://'));
	const fileHosts = urls.flatMap((url) => (URL.canParse(url) ? new URL(url).host : []));
	const mask = maskOf([...keys.map((each) => ['API Key', each] as const), ...hidden]);
	return { baseUrl, key, hasApp, headers, fileHosts, mask, keys };
}

function readHeaders(rows: unknown) {
	const { header = [] } = objectOf(rows) as { header?: readonly JsonObject[] };
	const entries = header.map(
		(row) => [trimmedText(row['name']), trimmedText(row['value'])] as const,
	);
	const names = entries.map(([name]) => name.toLowerCase());
	entries.forEach(([name, value], index) => {
		const named = `has the name ${name}`;
		rejectMistakes(`Extra Headers in the credential: row ${index + 1}`, [
			[!HEADER_NAME.test(name), 'has no valid name', 'Use letters, digits and hyphens'],
			[RESERVED.test(name), `${named}, which n8n sets itself`, 'Remove the row'],
			[NO_HEADER.test(name), `${named}, which n8n cannot send`, 'Use another name'],
			[names.indexOf(names[index]!) !== index, `repeats the name ${name}`, 'Remove the row'],
			[value === '', `has no value for ${name}`, 'Enter it, or remove the row'],
			[/[^\t -~]/.test(value), `has a special character in its value`, 'Use ASCII only'],
		]);
	});
	// The first word may be a scheme, such as Basic.
	const hidden = entries
		.filter((_entry, index) => header[index]!['secret'] !== false)
		.flatMap(([name, value]) =>
			[value, value.replace(/^\S+\s+/, '')].map((each) => [name, each] as const),
		);
	return { headers: Object.fromEntries(entries), hidden };
}

/**
 * Name of the account behind a credential: the host of its base URL and a hash of its API key and extra headers. The service
 * has no ID of accounts, so another key counts as another account. So does another header: it may name the tenant, and a task
 * that is polled for another tenant would be lost.
 */
export function accountOf({ baseUrl, key, headers }: ReturnType<typeof readCredential>): string {
	const { host } = new URL(baseUrl);
	const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
	return `${host} ${hash('sha256', JSON.stringify([host, key, ...sent.sort()]), 'base64url')}`;
}

/** Whether a row of a table belongs to the account: a person may have cleared the cell after the API key was changed. */
export function isOwn({ account: owner }: IDataObject, account: string): boolean {
	return [account, '', null, undefined].includes(owner as string | null);
}

const LISTS = { chatModels: 'Chat Models', videoModels: 'Video Models' } as const;

/**
 * The model codes of a list in the credential: a chat model with its display name, a video model with the row of the table
 * that it behaves like.
 *
 * @throws InputError when a row has no code, or the code of another row.
 */
export async function readModelCodes(
	context: NodeContext | ILoadOptionsFunctions,
	list: keyof typeof LISTS,
) {
	const data = await context.getCredentials(CREDENTIAL, 0);
	const { model = [] } = objectOf(data[list]) as { model?: readonly JsonObject[] };
	// An expression can make anything of a value.
	const rows = model.map((row) => ['code', 'name', 'like'].map((each) => trimmedText(row[each])));
	return rows.map(([code = '', name = '', like = ''], index) => {
		const first = rows.findIndex((row) => row[0] === code);
		const repeats = `has the code ${code}, as row ${first + 1} has`;
		rejectMistakes(`${LISTS[list]} in the credential: row ${index + 1}`, [
			[code === '', 'has no code', 'Enter it, or remove the row'],
			[first !== index, repeats, 'Remove one of the two rows'],
		]);
		return { code, name: name || code, like };
	});
}

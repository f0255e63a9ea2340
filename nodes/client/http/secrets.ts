import type { Secrets } from '../ports';

/** Shorter secrets are not masked: they may be ordinary words of a reply. */
export const MIN_SECRET_CHARACTERS = 8;

/** What services and proxies write for a character: its hexadecimal code between these. */
const ESCAPES = [
	['%', ''],
	['%25', ''],
	['\\u00', ''],
	['&#x', ';'],
] as const;
/** The characters that they write so: those that a URL does not take, all but letters and digits, or all. */
const ESCAPED = [/[^\w.~-]/g, /\W/g, /./g] as const;

/**
 * The API key and other secrets that are sent: some services and proxies quote the headers of a request. Finds each as it is,
 * URL-encoded, escaped for JSON or HTML by hexadecimal codes, in hexadecimal, and within any base64 text, such as that of
 * `Bearer <key>`.
 *
 * @param named Names and values, in ASCII as any header.
 */
export function secretsOf(named: readonly (readonly [name: string, secret: string])[]): Secrets {
	// The longest first: of two that match, it counts.
	const rows = named
		.filter(([, { length }]) => length >= MIN_SECRET_CHARACTERS)
		.toSorted(([, one], [, other]) => other.length - one.length)
		.flatMap(([name, secret]) =>
			[...new Set(spellingsOf(secret))].map((text) => [text, `[masked: ${name}]`] as const),
		);
	return {
		mask: (text) => rows.reduce((masked, [secret, by]) => masked.replaceAll(secret, by), text),
	};
}

function spellingsOf(secret: string): readonly string[] {
	const escaped = (which: RegExp, before = '', after = '') => {
		const hex = (each: string) => each.charCodeAt(0).toString(16).padStart(2, '0');
		return [hex, (each: string) => hex(each).toUpperCase()].map((code) =>
			secret.replace(which, (each) => before + code(each) + after),
		);
	};
	const inBase64 = [0, 1, 2].map((offset) => base64(secret, offset));
	return [
		secret,
		secret.replaceAll('/', '\\/'),
		...ESCAPES.flatMap((around) => ESCAPED.flatMap((which) => escaped(which, ...around))),
		...escaped(/./g),
		...inBase64,
		...inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
	];
}

/** The base64 characters that depend on the secret alone, where it begins `offset` bytes after a group of three. */
function base64(secret: string, offset: number): string {
	const end = Math.floor((4 * (offset + secret.length)) / 3);
	return btoa('\0'.repeat(offset) + secret).slice(Math.ceil((4 * offset) / 3), end);
}

/** Of a port that knows no secrets. */
export const NO_SECRETS: Secrets = { mask: (text) => text };

/** A copy of JSON with the secrets masked in all its texts and names of fields: for what tells of an error, and for visitors. */
export function maskIn<T>(value: T, secrets: Secrets): T {
	if (typeof value === 'string') return secrets.mask(value) as T;
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map((each) => maskIn<unknown>(each, secrets)) as T;
	const masked = Object.entries(value).map(([name, each]) => [
		secrets.mask(name),
		maskIn<unknown>(each, secrets),
	]);
	return Object.fromEntries(masked) as T;
}

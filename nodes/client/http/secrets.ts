import { ServiceError } from '../errors';
import { withoutUndefined } from '../json';
import type { Secrets } from '../ports';

/** Shorter secrets are not masked: they may be ordinary words of a reply. */
const MIN_CHARACTERS = 8;
/** A longer secret is masked in parts: its pattern would be too large to compile. */
const PARTS = /[^]{1,1000}/g;

/**
 * The API key and other secrets that are sent: some services and proxies quote the headers of a request. Finds each as it
 * is, with any of its characters URL-encoded or escaped for JSON or HTML, in hexadecimal, and within any base64 text, such
 * as that of `Bearer <key>`.
 *
 * @param named Names and values, in ASCII as any header.
 */
export function secretsOf(named: readonly (readonly [name: string, secret: string])[]): Secrets {
	// The longest first: of two that match, it counts.
	const secrets = named
		.flatMap(([name, secret]) =>
			[...secret.matchAll(PARTS)].map(([part]) => [name, part] as const),
		)
		.filter(([, { length }]) => length >= MIN_CHARACTERS)
		.toSorted(([, one], [, other]) => other.length - one.length);
	const rows = secrets.map(([name, secret]) => {
		const coded = codesOf(secret).map((code) => patternOf(code));
		const pattern = [patternOf(secret, true), ...coded].join('|');
		return [new RegExp(pattern, 'g'), `[masked: ${name}]`] as const;
	});
	const forms = secrets.flatMap(([, secret]) => [secret, ...codesOf(secret)]);
	const longest = Math.max(0, ...forms.map(({ length }) => length));
	const firsts = new Set(forms.map(([first]) => first));
	return {
		mask: (text) => rows.reduce((masked, [pattern, by]) => masked.replace(pattern, by), text),
		tailOf(text) {
			for (let at = Math.max(0, text.length - longest); at < text.length; at++) {
				if (!firsts.has(text[at])) continue;
				const tail = text.slice(at);
				if (forms.some((form) => form.startsWith(tail))) return tail.length;
			}
			return 0;
		},
	};
}

/** A secret in hexadecimal and in base64. */
function codesOf(secret: string): readonly string[] {
	const hex = secret.replace(/./gs, (character) => hexOf(character));
	return [hex, hex.toUpperCase(), ...[0, 1, 2].map((offset) => base64(secret, offset))];
}

/** The base64 characters that depend on the secret alone, where it begins `offset` bytes after a group of three. */
function base64(secret: string, offset: number): string {
	const end = Math.floor((4 * (offset + secret.length)) / 3);
	return btoa('\0'.repeat(offset) + secret).slice(Math.ceil((4 * offset) / 3), end);
}

const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');

/** A pattern for the ways to write each character of a text, a letter or digit only if `anyCharacter` says so. */
function patternOf(text: string, anyCharacter = false): string {
	return text.replace(/[^]/g, (character) => {
		const isWord = /[A-Za-z0-9]/.test(character);
		if (isWord && !anyCharacter) return character;
		const hex = hexOf(character);
		const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
		const inBase64url = { '+': '-', '/': '_' }[character] ?? '';
		const spellings = [
			// As it is, a special character also behind backslashes.
			isWord ? character : `\\\\{0,3}[\\x${hex}${inBase64url}]`,
			// In a URL, also in a URL within a URL.
			`%(?:25){0,2}${anyCase}`,
			// In JSON, also in JSON within JSON, and in JavaScript.
			`\\\\{1,3}(?:u00|u\\{0{0,4}|x)${anyCase}\\}?`,
			// In HTML, by its number or its name.
			`&(?:amp;)?#(?:[xX]0{0,6}${anyCase}|0{0,6}${character.charCodeAt(0)});?`,
			...(isWord ? [] : ['&[a-z]{2,8};']),
		];
		return `(?:${spellings.join('|')})`;
	});
}

/** Of a port that knows no secrets. */
export const NO_SECRETS: Secrets = { mask: (text) => text, tailOf: () => 0 };

/** Fields whose texts people read. Everything else is data: changed, it would name something else. */
const TEXTS =
	/^(content|reasoning(_content)?|text|refusal|result|output|(error_|service_)?(message|reason|error)|detail|\w*prompt)$/;

const ID = /(^|_)id$/;

/**
 * A copy of a value from outside with its secrets masked.
 *
 * @param field The field that has the value, and secrets in texts only. Undefined for what tells of an error: all of it is
 *   text, and an identifier with a secret is left out.
 * @throws ServiceError when a secret is in an ID, a URL or other data.
 */
export function maskIn<T>(value: T, secrets: Secrets, field?: string): T {
	if (typeof value === 'string') {
		const masked = secrets.mask(value);
		if (masked === value || field === undefined || TEXTS.test(field)) return masked as T;
		const problem = `The service has put a secret into the field ${field}`;
		const serviceMessage = `${field}: ${masked}`;
		const details = { serviceMessage, isServiceForm: true, outcomeUnknown: true };
		throw new ServiceError('protocol', problem, 'seeDetails', details);
	}
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value))
		return value.map((each) => maskIn<unknown>(each, secrets, field)) as T;
	const entries = Object.entries(value).map(([name, each]: [string, unknown]) => {
		const masked = maskIn(each, secrets, field && name);
		const isLost = field === undefined && ID.test(name) && masked !== each;
		return [maskIn(name, secrets, field && 'name'), isLost ? undefined : masked] as const;
	});
	return withoutUndefined(Object.fromEntries(entries)) as T;
}

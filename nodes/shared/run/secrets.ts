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

/** What ends a text that was cut, see `shorten`. */
const CUT = '…';
/** Fewer characters of a secret before a cut are not masked. */
const MIN_BEGUN = 4;
/** How many cuts of a text are looked at, the last ones: one of ours has few, and a reply may have any number. */
const MAX_CUTS = 100;

/** The text with the name of each secret in its place. */
export type Mask = (text: string) => string;

/** Of one who knows no secrets. */
export const NO_MASK: Mask = (text) => text;

/**
 * Masks the API key and other secrets that are sent: some services and proxies quote the headers of a request. Finds each as it
 * is, URL-encoded, escaped for JSON or HTML by hexadecimal codes, in hexadecimal, and within any base64 text, such as that of
 * `Bearer <key>`; also the beginning of one, where the text is cut.
 *
 * @param named Names and values, in ASCII as any header.
 */
export function maskOf(named: readonly (readonly [name: string, secret: string])[]): Mask {
	// The longest first: of two that match, it counts.
	const rows = named
		.filter(([, { length }]) => length >= MIN_SECRET_CHARACTERS)
		.toSorted(([, one], [, other]) => other.length - one.length)
		.flatMap(([name, secret]) =>
			[...new Set(spellingsOf(secret))].map((text) => [text, `[masked: ${name}]`] as const),
		);
	return (text) => {
		let rest = rows.reduce((masked, [secret, by]) => masked.replaceAll(secret, by), text);
		// From the end: no text is built again for each cut.
		const behind: string[] = [];
		for (let left = MAX_CUTS; left > 0; left--) {
			const at = rest.lastIndexOf(CUT);
			if (at <= 0) break;
			const before = rest.slice(0, at);
			const found = rows.find(([secret]) => begunIn(before, secret) >= MIN_BEGUN);
			behind.unshift(found?.[1] ?? '', rest.slice(at));
			rest = found === undefined ? before : before.slice(0, -begunIn(before, found[0]));
		}
		return rest + behind.join('');
	};
}

/** How many characters of the beginning of a secret the text ends with; not all of them. */
export function begunIn(text: string, secret: string): number {
	let begun = Math.min(secret.length - 1, text.length);
	while (begun > 0 && !text.endsWith(secret.slice(0, begun))) begun--;
	return begun;
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

/** A copy of JSON, masked in all its texts and names of fields: for what tells of an error, and for visitors. */
export function maskIn<T>(value: T, mask: Mask): T {
	if (typeof value === 'string') return mask(value) as T;
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map((each) => maskIn<unknown>(each, mask)) as T;
	const masked = Object.entries(value).map(([name, each]) => [
		mask(name),
		maskIn<unknown>(each, mask),
	]);
	return Object.fromEntries(masked) as T;
}

import { valueOf, type Settled } from '../concurrency';
import type { HttpPort } from '../ports';

/** Shorter secrets are not masked: they may be ordinary words of a reply. */
const MIN_KEY_CHARACTERS = 8;
/** Maximum length of one character in an escaped form, e.g. `&#x0000002f;`. */
const MAX_ESCAPE_CHARACTERS = 12;

/**
 * Masks the API key and other secrets in everything that comes back from the service or a proxy: some quote the headers of the request.
 * Finds it as it is, URL-encoded, escaped for JSON or HTML, in hexadecimal, and within any base64 text, such as that of
 * `Bearer <key>`. Does not find it in two events of a stream, half in each.
 *
 * @param key In ASCII, as any header.
 * @param hasApp Whether the key has the form `<API_KEY>-<APP_CODE>` (spec 4). Both parts may contain hyphens, so that
 *   everything before any of them may be the API key, and is masked as well.
 * @param others Values of headers. Without its first word a value is masked as well: that may be a scheme, such as `Basic`.
 * @returns `text` masks a text; `body` masks a body, whose chunks may split the key anywhere: it holds back the end of an
 *   unfinished line.
 */
export function keyMask(key: string, hasApp = false, others: readonly string[] = []) {
	const hyphens = hasApp ? [...key.matchAll(/-/g)] : [];
	const keys = [key, ...hyphens.map(({ index }) => key.slice(0, index))];
	const values = others.flatMap((value) => [value, value.replace(/^\S+\s+/, '')]);
	// The longest first: of two that match, the first one in the pattern counts.
	const secrets = [...keys, ...values].sort((one, other) => other.length - one.length);
	const forms = secrets.filter(({ length }) => length >= MIN_KEY_CHARACTERS).flatMap(formsOf);
	// `$^` matches nothing.
	const pattern = new RegExp(forms.map(patternOf).join('|') || '$^', 'g');
	const maxHeld = Math.max(0, ...forms.map(({ length }) => length)) * MAX_ESCAPE_CHARACTERS;
	const mask = (text: string) => text.replace(pattern, '***');

	async function* body(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
		const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
		let held = '';
		let end: Settled<undefined> = { value: undefined };
		try {
			for await (const chunk of chunks) {
				const text = mask(held + decoder.decode(chunk, { stream: true }));
				const line = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
				const heldFrom = Math.max(line, text.length - maxHeld);
				held = text.slice(heldFrom);
				yield encoder.encode(text.slice(0, heldFrom));
			}
		} catch (error) {
			end = { error };
		}
		yield encoder.encode(held + decoder.decode());
		valueOf(end);
	}
	return { text: mask, body };
}

/** Masks the bodies of a port, and the addresses that it redirects to. */
export function withMask(http: HttpPort, mask: ReturnType<typeof keyMask>): HttpPort {
	return async (request) => {
		const { status, headers, body } = await http(request);
		const { location } = headers;
		const masked = location && { location: mask.text(location) };
		return { status, headers: { ...headers, ...masked }, body: mask.body(body) };
	};
}

/** A key as it is, in hexadecimal and in base64. */
function formsOf(key: string): readonly string[] {
	const hex = key.replace(/./gs, (character) => hexOf(character));
	return [key, hex, hex.toUpperCase(), ...[0, 1, 2].map((offset) => base64(key, offset))];
}

/** The base64 characters that depend on the key alone, where it begins `offset` bytes after a group of three. */
function base64(key: string, offset: number): string {
	const bits = 8 * (offset + key.length);
	return btoa('\0'.repeat(offset) + key).slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
}

const hexOf = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');

/** A pattern for a text whose special characters may be escaped. */
function patternOf(text: string): string {
	return text.replace(/[^A-Za-z0-9]/g, (each) => `(?:${spellingsOf(each).join('|')})`);
}

/** Patterns for the ways to write a special character. */
function spellingsOf(character: string): readonly string[] {
	const hex = hexOf(character);
	const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
	const inBase64url = { '+': '-', '/': '_' }[character] ?? '';
	return [
		// As it is, or behind backslashes.
		`\\\\{0,3}[\\x${hex}${inBase64url}]`,
		// In a URL.
		`%${anyCase}`,
		// In JSON, also in JSON within JSON.
		`\\\\{1,3}u00${anyCase}`,
		// In HTML, by its number or its name.
		`&#(?:[xX]0{0,6}${anyCase}|0{0,6}${character.charCodeAt(0)});`,
		'&[a-z]{2,8};',
	];
}

/** Shorter secrets are not masked: they may be ordinary words of a reply. */
const MIN_KEY_CHARACTERS = 8;
/** Maximum length of one character in an escaped form, e.g. `&#x0000002f;`. */
const MAX_ESCAPE_CHARACTERS = 12;

/**
 * Masks the API key and other secrets in everything that comes back from the service or a proxy: some quote the headers of the request.
 * Finds it as it is, URL-encoded, escaped for JSON or HTML, in hexadecimal, and within any base64 text, such as that of
 * `Bearer <key>`. Does not find it in two events of a stream, half in each.
 *
 * @param hasApp Whether the key has the form `<API_KEY>-<APP_CODE>` (spec 4). Both parts may contain hyphens, so that
 *   everything before any of them may be the API key, and is masked as well.
 * @param others Values of headers. Without its first word a value is masked as well: that may be a scheme, such as `Basic`.
 * @returns `text` masks a text. `body` starts a body, whose chunks may split the key anywhere: `feed` masks the next bytes,
 *   and holds back the end of an unfinished line; `end` returns what is held back.
 */
export function keyMask(key: string, hasApp = false, others: readonly string[] = []) {
	const hyphens = hasApp ? [...key.matchAll(/-/g)] : [];
	const keys = [key, ...hyphens.map(({ index }) => key.slice(0, index))];
	const values = others.flatMap((value) => [value, value.replace(/^\S+\s+/, '')]);
	// The longest first: of two that match, the first one in the pattern counts.
	const secrets = [...keys, ...values].sort((one, other) => other.length - one.length);
	const forms = secrets.filter(({ length }) => length >= MIN_KEY_CHARACTERS).flatMap(formsOf);
	// `$^` matches nothing.
	const pattern = new RegExp(forms.map(escapedForms).join('|') || '$^', 'g');
	const maxHeld = Math.max(0, ...forms.map(({ length }) => length)) * MAX_ESCAPE_CHARACTERS;
	const mask = (text: string) => text.replace(pattern, '***');

	function body() {
		let held = '';
		return {
			feed(chunk: Uint8Array): Uint8Array {
				const text = mask(held + Buffer.from(chunk).toString('latin1'));
				const tail = text.slice(text.length - maxHeld);
				held = tail.slice(Math.max(tail.lastIndexOf('\n'), tail.lastIndexOf('\r')) + 1);
				return Buffer.from(text.slice(0, text.length - held.length), 'latin1');
			},
			end: (): Uint8Array => Buffer.from(held, 'latin1'),
		};
	}
	return { text: mask, body };
}

/** A key as it is, in hexadecimal and in base64. */
function formsOf(key: string): readonly string[] {
	const bytes = Buffer.from(key);
	const inBase64 = [0, 1, 2].map((offset) => base64(bytes, offset));
	const hex = bytes.toString('hex');
	return [bytes.toString('latin1'), hex, hex.toUpperCase(), ...inBase64];
}

/** The base64 characters that depend on the key alone, where it begins `offset` bytes after a group of three. */
function base64(key: Uint8Array, offset: number): string {
	const bytes = Buffer.concat([Buffer.alloc(offset), key]);
	const bits = 8 * bytes.length;
	return bytes.toString('base64').slice(Math.ceil((8 * offset) / 6), Math.floor(bits / 6));
}

/** A pattern for a text in which each special character may be escaped for a URL, JSON or HTML, or be that of base64url. */
function escapedForms(text: string): string {
	return text.replace(/[^A-Za-z0-9]/g, (character) => {
		const code = character.charCodeAt(0);
		const digits = code.toString(16).padStart(2, '0');
		const hex = digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
		const itself = `[\\x${digits}${{ '+': '-', '/': '_' }[character] ?? ''}]`;
		return `(?:\\\\{0,3}${itself}|%${hex}|\\\\{1,3}u00${hex}|&#(?:[xX]0{0,6}${hex}|0{0,6}${code});|&[a-z]{2,8};)`;
	});
}

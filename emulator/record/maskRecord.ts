import { maskIn, maskOf, type Mask } from '../../nodes/shared/run/secrets';
import { isObject, parseJson } from '../json';
import type { ScriptedEvent } from '../script/script';

const NAME = 'key';
const MASKED = `[masked: ${NAME}]`;
/** A word in the name of a header, a parameter or a field whose value is a secret. */
const SECRET_WORD =
	/^(?:auth|authorization|cookie|credentials?|(?:api|access|private)?key|pass|passwd|password|pwd|secret|sig|signature|token)$/i;
/** Between the words of `X-Auth`, `api_key`, `apiKey` and `OSSAccessKeyId`. */
const WORD_END = /[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
/** What looks like a key, wherever it stands. */
const ANY_KEY = /\bBearer\s+[\w.-]+|\b(?:sk|ak|pk|key)[-_][\w-]{12,}/g;
/** A parameter of a URL, and what stands before the host. */
const PARAMETER = /((?:[?&;]|\\u0026)([\w.-]{1,50})=)[^&\s"'<>#\\]+/g;
const USER = /(:\/\/)[^/\s"'@]{1,200}@/g;
/** Characters of a key before its app code. */
const MIN_KEY = 16;

const isSecretName = (name: string): boolean =>
	name.split(WORD_END).some((word) => SECRET_WORD.test(word));

/** The secrets in a header, a parameter or a field: also the single values of cookies, and a key without its app code. */
function secretsIn(value: string): readonly string[] {
	const key = value.replace(/^\w+ +/, '');
	const cookies = key.split(/; */).map((cookie) => cookie.slice(cookie.indexOf('=') + 1));
	const ends = [...key.matchAll(/-/g)].flatMap(({ index }) => (index < MIN_KEY ? [] : index));
	return [value, key, ...cookies, ...ends.map((end) => key.slice(0, end))];
}

/** The texts in the fields of a body that are named like secrets. */
function secretFields(value: unknown, isSecret = false): readonly string[] {
	if (typeof value === 'string') return isSecret ? [value] : [];
	if (Array.isArray(value)) return value.flatMap((item) => secretFields(item, isSecret));
	if (!isObject(value)) return [];
	return Object.entries(value).flatMap(([name, part]) => secretFields(part, isSecretName(name)));
}

/** A copy of a body, where the fields that are named like secrets have none. */
function withoutFields(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutFields);
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, part]) => {
			const isSecret = typeof part === 'string' && part !== '' && isSecretName(name);
			return [name, isSecret ? MASKED : withoutFields(part)];
		}),
	);
}

/** Texts that come one after another, masked as one: those that a secret spans become the first of them. */
function maskPieces(pieces: readonly string[], mask: Mask): readonly string[] {
	const masked = mask(pieces.join(''));
	let [first, start] = [0, 0];
	while (first < pieces.length && masked.startsWith(pieces[first]!, start))
		start += pieces[first++]!.length;
	let [last, end] = [pieces.length, masked.length];
	while (last > first + 1 && end - pieces[last - 1]!.length >= start) {
		const piece = pieces[last - 1]!;
		if (masked.slice(end - piece.length, end) !== piece) break;
		end -= piece.length;
		last--;
	}
	return pieces.map((piece, index) =>
		index < first || index >= last ? piece : index === first ? masked.slice(start, end) : '',
	);
}

type Leaf = readonly [path: string, text: string];

/** The texts of a value, with their places. */
function leavesOf(value: unknown, path = ''): readonly Leaf[] {
	if (typeof value === 'string') return [[path, value]];
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, part]) => leavesOf(part, `${path}/${name}`));
}

/** A copy of a value with other texts, in the order of {@link leavesOf}. */
function withLeaves(value: unknown, texts: string[]): unknown {
	if (typeof value === 'string') return texts.shift();
	if (Array.isArray(value)) return value.map((item) => withLeaves(item, texts));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([name, part]) => [name, withLeaves(part, texts)]),
	);
}

/** Masks events: a secret may be split over the texts that they have in one place. */
function maskEvents(events: readonly ScriptedEvent[], mask: Mask): readonly ScriptedEvent[] {
	const parsed = events.map(({ raw = '' }) => {
		const data = /^data: ?(.*)$/m.exec(raw)?.[1] ?? '';
		return { data, value: withoutFields(parseJson(data) ?? data) };
	});
	const places = new Map<string, string[]>();
	for (const [path, text] of parsed.flatMap(({ value }) => leavesOf(value)))
		places.set(path, [...(places.get(path) ?? []), text]);
	const masked = new Map<string, string[]>();
	for (const [path, texts] of places) masked.set(path, [...maskPieces(texts, mask)]);
	return events.map((event, index) => {
		const { data, value } = parsed[index]!;
		const texts = leavesOf(value).map(([path]) => masked.get(path)!.shift()!);
		const changed = withLeaves(value, texts);
		const isSame = JSON.stringify(changed) === JSON.stringify(parseJson(data) ?? data);
		const text = typeof changed === 'string' ? changed : JSON.stringify(changed);
		const raw = isSame ? event.raw : event.raw?.replace(data, () => text);
		return { ...event, ...(raw !== undefined && { raw: mask(raw) }) };
	});
}

/** Collects the secrets of requests, and hides them in what is recorded. */
export function createRecordMask() {
	const secrets = new Set<string>();
	let known: Mask = (text) => text;
	const mask: Mask = (text) =>
		known(text)
			.replace(PARAMETER, (whole, start: string, name: string) =>
				isSecretName(name) ? start + MASKED : whole,
			)
			.replace(USER, `$1${MASKED}@`)
			.replace(ANY_KEY, MASKED);
	return {
		/** Adds the secrets of a request: in its headers and parameters, and in the fields of its body. */
		learn(named: readonly (readonly [name: string, value: string])[], body: unknown): void {
			const sent = named.filter(([name]) => isSecretName(name)).map(([, value]) => value);
			for (const text of [...sent, ...secretFields(body)].flatMap(secretsIn))
				secrets.add(text);
			// Those in other than ASCII have no other spellings.
			const isAscii = (text: string) => /^[\x20-\x7e]+$/.test(text);
			const others = [...secrets].filter((text) => !isAscii(text) && text.trim() !== '');
			const spelled = maskOf([...secrets].filter(isAscii).map((text) => [NAME, text]));
			known = (text) =>
				others.reduce((all, one) => all.replaceAll(one, MASKED), spelled(text));
		},
		maskText: mask,
		maskBytes: (bytes: Buffer): Buffer => Buffer.from(mask(bytes.toString('latin1')), 'latin1'),
		maskEvents: (events: readonly ScriptedEvent[]) => maskEvents(events, mask),
		maskValue: <T>(value: T): T => maskIn(withoutFields(value) as T, mask),
	};
}

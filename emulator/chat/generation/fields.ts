import { bare } from '../../json';
import { toChinese } from './dictionary';
import FIELDS from './fields.json';
import WORDS_BEFORE from './wordsBefore.json';
import { LANGUAGES, match, restOf } from './language';
import type { Question } from './question';

const VALUE = '(?:["“\']([^"”\']+)["”\']|([\\p{L}\\p{N}_-]+(?:\\s+\\p{Lu}[\\p{L}\\p{N}_-]*)*))';

/** Words of the name of a field: `orderId` → `order`, `Id`. */
const wordsOf = (name: string): readonly string[] =>
	name.split(/[^\p{L}\p{N}]+|(?<=[a-z])(?=[A-Z])/u).filter(Boolean);

/** Value after a name in the text: `from Paris`, `city: Paris`, `title "Good day"`, `主题是“午餐”`. */
export function namedValue(name: string, text: string): string | undefined {
	const words = wordsOf(name);
	if (words.length === 0) return undefined;
	const chinese = words.flatMap(toChinese).join('|');
	const [, quoted, plain] =
		new RegExp(`\\b${words.join('[ _-]?')}\\b\\s*(?:is\\b|=|:)?\\s*${VALUE}`, 'iu').exec(
			text,
		) ??
		new RegExp(`(?:${chinese || '(?!)'})\\s*[是为:：]\\s*${VALUE}`, 'iu').exec(text) ??
		[];
	return quoted ?? plain?.split(/\s+(?=\p{Ll})/u)[0];
}

/** Number after or before a word of a name in the text, unless it begins a list: `total: $210`, `总额 ¥300`, `45 minutes`. */
export function namedNumber(name: string, text: string): string | undefined {
	const words = wordsOf(name).flatMap((word) => [word, ...toChinese(word)]);
	const any = `(?<!\\p{Script=Latin})(?:${words.join('|') || '(?!)'})`;
	const number = '(\\d+(?:,\\d{3})*(?:\\.\\d+)?)(?![.,]?\\d|\\s*[,，、+]\\s*\\d|\\s+and\\s\\d)';
	const after = `${any}(?:\\s|is\\b|of\\b|[为是=:：$€£¥￥])*${number}`;
	const found = new RegExp(`${after}|(?<![\\w.-])(\\d+(?:\\.\\d+)?)[ -]?${any}`, 'iu').exec(text);
	return found?.slice(1).find(Boolean);
}

/** Words that stand before a value, by a word of the name of its field. */
const BEFORE: Readonly<Record<string, string>> = bare(WORDS_BEFORE);

/** A value, and the text between it and the one before. */
type Found = Readonly<Record<'value' | 'before', string>>;

/** Values of a field such as `email` or `姓名` by its form; none for a field or a text that has none. */
function valuesIn(text: string, name: string): readonly Found[] {
	// Chinese does not separate words: a name such as 发票号 has that of the field in it.
	const isNamed = ([names]: readonly string[]) =>
		match(`(?=\\p{Script=Han})(?:${names!})`, name) ??
		[name, ...wordsOf(name)].some((word) => match(`^(?:${names!})(?:e?s)?$`, word));
	const form = FIELDS.find(isNamed)?.[1];
	if (form === undefined) return [];
	// Names begin with a capital letter.
	const found = text.matchAll(new RegExp(form, form.includes('Lu}') ? 'gu' : 'giu'));
	let end = 0;
	return [...found].map((one) => {
		const before = text.slice(end, one.index);
		end = one.index + one[0].length;
		return { value: one.slice(1).find(Boolean) ?? one[0], before };
	});
}

/** The value of a field by its form: of several the one behind the name of the field, or the first. */
export function fieldIn(text: string, name: string, kind = name): string | undefined {
	const found = valuesIn(text, kind);
	const words = wordsOf(name.replace(/date|email|日期|时间/giu, ' '));
	const either = `${words.join('[ _-]?') || '(?!)'}|${BEFORE[words.join(' ').toLowerCase()] ?? '(?!)'}`;
	const own = new RegExp(`(?<!\\p{Script=Latin})(?:${either})`, 'iu');
	return (found.find(({ before }) => own.test(before)) ?? found[0])?.value;
}

/** Answers a request to extract fields, one a line; undefined for any other request. */
export function extractFields({ text }: Pick<Question, 'text'>): string | undefined {
	for (const { extract, find, notFound } of LANGUAGES) {
		const order = match(extract, text);
		const [asked, list] = order ?? match(find, text) ?? [];
		if (asked === undefined) continue;
		const start = text.indexOf(asked);
		const content = restOf(text, start, start + asked.length);
		const names = list!.split(/\s*(?:,|、|，|\band\b|和|与)\s*(?:the\s+)?/).filter(Boolean);
		const known = names.map((name) => {
			const values = valuesIn(content, name).map(({ value }) => value);
			const isList = values.length > 1 && (/\Bs$/.test(name) || /所有|全部/.test(asked));
			return isList ? values.join(', ') : fieldIn(content, name);
		});
		// What a question names may have no form: that is not a request to extract it.
		if (!content.trim() || !(order ?? known.some(Boolean))) continue;
		return names
			.map((name, i) => `${name}: ${known[i] ?? namedValue(name, content) ?? notFound}`)
			.join('\n');
	}
	return undefined;
}

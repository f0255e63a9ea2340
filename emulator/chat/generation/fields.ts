import { contentOf } from './classify';
import { toChinese } from './dictionary';
import FIELDS from './fields.json';
import { LANGUAGES, match } from './language';
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

/** Value of a field such as `email` or `姓名` by its form; undefined for a field or a text that has none. */
export function fieldIn(text: string, name: string): string | undefined {
	const isNamed = ([names]: readonly string[]) =>
		[name, ...wordsOf(name)].some((word) => match(`^(?:${names!})$`, word));
	const form = FIELDS.find(isNamed)?.[1];
	if (form === undefined) return undefined;
	// Names begin with a capital letter.
	const found = new RegExp(form, form.includes('Lu}') ? 'u' : 'iu').exec(text);
	return found?.slice(1).find(Boolean) ?? found?.[0];
}

/** Answers a request to extract fields, one a line; undefined for any other request. */
export function extractFields({ text }: Pick<Question, 'text'>): string | undefined {
	const content = contentOf(text);
	for (const { extract, notFound } of LANGUAGES) {
		const list = content === text ? undefined : match(extract, text)?.[1];
		const names = list?.split(/\s*(?:,|、|，|\band\b|和|与)\s*(?:the\s+)?/).filter(Boolean);
		if (names)
			return names
				.map((name) => {
					const value = fieldIn(content, name) ?? namedValue(name, content) ?? notFound;
					return `${name}: ${value}`;
				})
				.join('\n');
	}
	return undefined;
}

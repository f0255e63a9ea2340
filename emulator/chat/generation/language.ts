import EN from './en.json';
import ZH from './zh.json';

/** Words and texts of one language. */
export type Language = Omit<typeof EN, 'lists' | 'answers' | 'writers' | 'facts'> & {
	readonly lists: Readonly<Record<string, readonly string[]>>;
	/** Kinds of short texts; the most specific first. */
	readonly writers: readonly { readonly asked: string; readonly text: string }[];
	/** What a person states and later asks for; the first group of the statement is the fact. */
	readonly facts: readonly Readonly<Record<'statement' | 'question' | 'answer', string>>[];
	/** Answers to anything else: the first whose pattern matches. */
	readonly answers: readonly (readonly string[])[];
};

export const LANGUAGES: readonly Language[] = [EN, ZH];

/** The language of a text: Chinese, if it has a Chinese character. */
export const languageOf = (text: string): Language => (/\p{Script=Han}/u.test(text) ? ZH : EN);

const compiled = new Map<string, RegExp>();

/** Matches a pattern of a language, without regard to case; each is compiled once. */
export function match(pattern: string, text: string): RegExpExecArray | null {
	const known = compiled.get(pattern) ?? new RegExp(pattern, 'isu');
	compiled.set(pattern, known);
	return known.exec(text);
}

const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** Words of a text, and what stands between them; joined they are the text. */
export const segments = (text: string): readonly string[] =>
	Array.from(segmenter.segment(text), ({ segment }) => segment);

/** A text with its first letter in upper case. */
export function capitalize(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What stands behind an index of a text, or before another one if nothing does. */
export const restOf = (text: string, start: number, end: number): string =>
	/[\p{L}\p{N}]{2}/u.test(text.slice(end)) ? text.slice(end) : text.slice(0, start);

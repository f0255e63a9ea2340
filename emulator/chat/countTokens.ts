/** What is used of the tokenizer. */
interface Tokenizer {
	encode(text: string, options: object): number[];
	decode(tokens: Iterable<number>): string;
}

/** Names of special tokens are words of a text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
let loading: Promise<Tokenizer> | undefined;
let tokenizer: Tokenizer | undefined;

/** Loads the tokenizer, with the first chat: its vocabulary is large. */
export async function loadTokenizer(): Promise<void> {
	tokenizer = await (loading ??= import('gpt-tokenizer/encoding/o200k_base'));
}

/** Words with the space before them; a long word is cut, because the time for it grows with its square. */
const piecesOf = (text: string): readonly string[] =>
	text.match(/\s{0,100}\S{1,100}|\s{1,100}/g) ?? [];

/** Number of tokens of a text, as a language model counts them. */
export const countTokens = (text: string): number =>
	piecesOf(text).reduce((sum, piece) => sum + tokenizer!.encode(piece, AS_TEXT).length, 0);

/** The beginning of a text, of at most so many tokens. */
export function firstTokens(text: string, max: number): string {
	let [left, end] = [max, 0];
	for (const piece of piecesOf(text)) {
		const tokens = tokenizer!.encode(piece, AS_TEXT);
		if (tokens.length > left)
			return text.slice(0, end) + tokenizer!.decode(tokens.slice(0, left));
		[left, end] = [left - tokens.length, end + piece.length];
	}
	return text;
}

import { asJson, type JsonObject, type JsonValue } from '../../client/json';

/** Fields of n8n's and other errors that are for developers. */
export const DEBUG_FIELDS = ['stack', 'errorDetails', 'n8nDetails'];
/** Limits of an error text for the model. */
const MAX_SENTENCES = 2;
const MAX_ERROR_CHARACTERS = 400;
/** How much of an error text is read: a stack trace or a path in front of a sentence is far shorter. */
const MAX_READ_CHARACTERS = 4_000;
/** A stack trace at the end of an error text. */
export const STACK = /\n[^\S\n]*at [^]*/;
/** A word that has a path on the server: in a folder that servers have, or of a package. Paths of a URL stay. */
const SERVER_PATH =
	/file:\/\/\S+|(?<![\w:/.])(?:[A-Za-z]:\\|\/(?:home|root|usr|var|tmp|opt|etc|mnt|srv|Users)\/|\/\S*\/(?:node_modules|\.n8n)\/)[^\s'"`),]*/g;

/**
 * An error in one or two sentences, without its stack trace and the paths of the server. Of an error without a message,
 * such as a code of the tool, the simple fields are kept: others may have headers with keys.
 */
export function toErrorText(error: unknown): JsonValue | undefined {
	if (typeof error === 'string') return inSentences(error);
	if (typeof error !== 'object' || error === null) return error as JsonValue;
	const { message, error: inner, description } = asJson(error);
	const cause = message ?? inner;
	if (typeof cause === 'object') return toErrorText(cause);
	if (typeof cause === 'string')
		return inSentences(typeof description === 'string' ? `${cause}\n${description}` : cause);
	const simple = Object.entries(asJson(error)).filter(([, value]) => typeof value !== 'object');
	return withoutKeys(Object.fromEntries(simple), DEBUG_FIELDS);
}

function inSentences(text: string): string {
	const sentences = text
		.slice(0, MAX_READ_CHARACTERS)
		.replace(STACK, '')
		.replace(SERVER_PATH, '(path)')
		.split(/\n|(?<=\w\w[.!?])\s/)
		.flatMap((sentence) => sentence.trim() || []);
	return [...new Set(sentences)].slice(0, MAX_SENTENCES).join(' ').slice(0, MAX_ERROR_CHARACTERS);
}

/** The fields of an object without some of them. */
export function withoutKeys(json: object, keys: readonly string[]): JsonObject {
	return Object.fromEntries(Object.entries(asJson(json)).filter(([key]) => !keys.includes(key)));
}

import { LANGUAGES, languageOf, match } from './language';

const MAX_CHARACTERS = 160;

/** Instructions about the format of the answer, not part of the topic: `… as JSON with keys a and b`. */
const ANSWER_FORM = /[,;]?\s+(?:as|in) (?:a )?json\b.*$|\s+with (?:the )?(?:keys|fields)\b.*$/i;

/** JSON template of the answer, not part of the topic either. */
const JSON_TEMPLATE = /\{[^{}]*\}/g;

/** First sentence of a text, without final punctuation; a long one is truncated between words. */
export function firstSentence(text: string): string {
	const [sentence = ''] = text.trim().split(/(?<=[!?]|[^\d\s]\.)\s|[\n\r。！？]/);
	const clean = sentence
		.replace(ANSWER_FORM, '')
		.trim()
		.replace(/[\s.!?,;:"”»，；：]+$/, '');
	if (clean.length <= MAX_CHARACTERS) return clean;
	return clean.slice(0, MAX_CHARACTERS).replace(/\s+\S*$/, '');
}

/** Topic of a request: `Write a video prompt about a lighthouse.` → `a lighthouse`. */
export function extractTopic(text: string): string {
	const plain = text.replace(JSON_TEMPLATE, ' ');
	// Its own language, and then the other one: a Chinese topic may stand in an English request.
	const own = languageOf(text);
	for (const { topics } of [own, ...LANGUAGES.filter((other) => other !== own)]) {
		for (const pattern of topics) {
			const topic = firstSentence(match(pattern, plain)?.[1] ?? '');
			if (topic) return topic;
		}
	}
	return firstSentence(plain) || 'this';
}

const MOST_CHARACTERS = 160;

/** Where a text says what it is about, from the plainest sign to the weakest. */
const SIGNS: readonly RegExp[] = [
	/^\s*(?:topic|subject|theme|idea|scene)\s*[:=]\s*(.+)$/im,
	/["“«]([^"”»]{3,})["”»]/,
	/\b(?:about|showing|featuring|regarding|concerning|on the (?:topic|subject) of)\b\s*:?\s+(.+)/is,
	/(?:^|[.:!]\s+)(?:what|who|where|when|which)(?:'s|\s+(?:is|are|was|were|do|does|did|can|makes?))\s+(.+)/is,
	/^\s*(?:how|why)\s+(?:(?:do|does|did|can|could|should|would|is|are)\s+(?:i|you|we|one)?\s*)?(.+)/is,
	/^\s*(?:please\s+)?(?:explain|describe|define|summari[sz]e|translate|tell me|show me)\s*:?\s+(.+)/is,
	/^\s*(?:please\s+)?(?:search(?: the web| online)?|look up|research|find out)\s+(?:for\s+|about\s+|on\s+)?(.+)/is,
	/^\s*(?:please\s+)?(?:write|create|make|generate|give|draft|compose|suggest|invent|propose|return|draw)\b.*?\b(?:of|for|on)\b\s*:?\s+(.+)/is,
];

/** How to answer, not what about: `… as JSON with keys a and b`. */
const ANSWER_FORM = /[,;]?\s+(?:as|in) (?:a )?json\b.*$|\s+with (?:the )?(?:keys|fields)\b.*$/i;

/** A sample of the JSON that is wanted says nothing about the subject. */
const JSON_TEMPLATE = /\{[^{}]*\}/g;

/** The first sentence of a text, without its full stop, cut between words when it is long. */
export function firstSentence(text: string): string {
	const [sentence = ''] = text.trim().split(/(?<=[!?]|[^\d\s]\.)\s|[\n\r]/);
	const clean = sentence
		.replace(ANSWER_FORM, '')
		.trim()
		.replace(/[\s.!?,;:"”»]+$/, '');
	if (clean.length <= MOST_CHARACTERS) return clean;
	return clean.slice(0, MOST_CHARACTERS).replace(/\s+\S*$/, '');
}

/** What a request is about, in its own words: `Write a video prompt about a lighthouse.` → `a lighthouse`. */
export function topicOf(text: string): string {
	const plain = text.replace(JSON_TEMPLATE, ' ');
	for (const sign of SIGNS) {
		const topic = firstSentence(sign.exec(plain)?.[1] ?? '');
		if (topic) return topic;
	}
	return firstSentence(plain) || 'this';
}

const MAX_CHARACTERS = 160;

/** Patterns whose first group is the topic, the most specific first. */
const TOPIC_PATTERNS: readonly RegExp[] = [
	/^\s*(?:topic|subject|theme|idea|scene)\s*[:=]\s*(.+)$/im,
	/["“«]([^"”»]{3,})["”»]/,
	/\b(?:about|showing|featuring|regarding|concerning|on the (?:topic|subject) of)\b\s*:?\s+(.+)/is,
	/(?:^|[.:!]\s+)(?:what|who|where|when|which)(?:'s|\s+(?:is|are|was|were|do|does|did|can|makes?))\s+(.+)/is,
	/^\s*(?:how|why)\s+(?:(?:do|does|did|can|could|should|would|is|are)\s+(?:i|you|we|one)?\s*)?(.+)/is,
	/^\s*(?:please\s+)?(?:explain|describe|define|summari[sz]e|translate|tell me|show me)\s*:?\s+(.+)/is,
	/^\s*(?:please\s+)?(?:search(?: the web| online)?|look up|research|find out)\s+(?:for\s+|about\s+|on\s+)?(.+)/is,
	/^\s*(?:please\s+)?(?:write|create|make|generate|give|draft|compose|suggest|invent|propose|return|draw)\b.*?\b(?:of|for|on)\b\s*:?\s+(.+)/is,
];

/** Instructions about the format of the answer, not part of the topic: `… as JSON with keys a and b`. */
const ANSWER_FORM = /[,;]?\s+(?:as|in) (?:a )?json\b.*$|\s+with (?:the )?(?:keys|fields)\b.*$/i;

/** JSON template of the answer, not part of the topic either. */
const JSON_TEMPLATE = /\{[^{}]*\}/g;

/** First sentence of a text, without final punctuation; a long one is truncated between words. */
export function firstSentence(text: string): string {
	const [sentence = ''] = text.trim().split(/(?<=[!?]|[^\d\s]\.)\s|[\n\r]/);
	const clean = sentence
		.replace(ANSWER_FORM, '')
		.trim()
		.replace(/[\s.!?,;:"”»]+$/, '');
	if (clean.length <= MAX_CHARACTERS) return clean;
	return clean.slice(0, MAX_CHARACTERS).replace(/\s+\S*$/, '');
}

/** Topic of a request: `Write a video prompt about a lighthouse.` → `a lighthouse`. */
export function extractTopic(text: string): string {
	const plain = text.replace(JSON_TEMPLATE, ' ');
	for (const pattern of TOPIC_PATTERNS) {
		const topic = firstSentence(pattern.exec(plain)?.[1] ?? '');
		if (topic) return topic;
	}
	return firstSentence(plain) || 'this';
}

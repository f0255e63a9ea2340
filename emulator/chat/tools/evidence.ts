/** What a piece of the user's message offers for the arguments of a tool. */
export interface Evidence {
	readonly text: string;
	/** What the piece is about; the first value for a string. */
	readonly subject: string;
	/** Several subjects when the piece names several things. */
	readonly subjects: readonly string[];
	/** The numbers in the text; each is used once. */
	readonly numbers: number[];
	/** Milliseconds since 1970, for dates. */
	readonly nowMs: number;
}

const TRAILING =
	/\s+(?:please|now|right now|today|tomorrow|for me|with|using|by|via|and|or)\b.*$|[\s.?!,;:"”»]+$/i;
const QUOTED = /["“«']([^"”»']{2,})["”»']/;
const INTRODUCED =
	/(?:\b(?:in|for|of|about|to|at|from|on|called|named)\b|:)\s+(?:the\s+)?(?=\S)([^]+)$/i;
const CODE = /\b(?=\w*\d)[A-Za-z]*[-_]?\d[\w-]*/;
const CAPITALS = /\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/u;
const NAME_FIRST = new RegExp(`^${CAPITALS.source}`, 'u');

const trimmed = (text: string): string => text.replace(TRAILING, '').replace(TRAILING, '').trim();

function subjectIn(text: string): string {
	const quoted = QUOTED.exec(text)?.[1];
	if (quoted) return quoted;

	const introduced = INTRODUCED.exec(text)?.[1];
	if (introduced) return NAME_FIRST.exec(introduced)?.[0] ?? trimmed(introduced);

	const name = NAME_FIRST.exec(text)?.[0];
	if (name !== undefined && (name === text || name.includes(' '))) return name;

	const [, ...rest] = text.trim().split(/\s+/);
	return CODE.exec(text)?.[0] ?? CAPITALS.exec(rest.join(' '))?.[0] ?? trimmed(text);
}

/** The things that a text lists: `Paris, Rome and Oslo`. */
export function listed(text: string): readonly string[] {
	return text
		.split(/\s*(?:,(?!\d)|;|\n|\band\b)\s*/i)
		.map((part) => part.trim())
		.filter(Boolean);
}

/** Reads a piece of text for what can go into a tool's arguments. */
export function evidenceIn(text: string, nowMs: number): Evidence {
	const subject = subjectIn(text) || 'this';
	const introduced = QUOTED.test(text) ? undefined : INTRODUCED.exec(text)?.[1];
	const subjects = listed(introduced ?? subject)
		.map(trimmed)
		.filter(Boolean);
	return {
		text,
		subject,
		subjects: subjects.length > 0 ? subjects : [subject],
		numbers: [...text.matchAll(/(?<![\w-])-?\d+(?:\.\d+)?(?!\w)/g)].map(([digits]) =>
			Number(digits),
		),
		nowMs,
	};
}

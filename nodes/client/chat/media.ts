/** A file that a reply points to. */
export interface Media {
	readonly kind: 'image' | 'video' | 'audio' | 'file';
	readonly url: string;
}

/** What a URL leads to, by the ending of its path. */
const KINDS: readonly (readonly [RegExp, Media['kind']])[] = [
	[/\.(png|jpe?g|gif|webp|avif|bmp|svg|tiff?)$/i, 'image'],
	[/\.(mp4|m4v|mov|webm|mkv|avi)$/i, 'video'],
	[/\.(mp3|wav|m4a|aac|ogg|flac)$/i, 'audio'],
	[/\.(pdf|docx?|xlsx?|pptx?|csv|txt|md|json|zip)$/i, 'file'],
];

const MARKDOWN_IMAGE = /!\[[^\]]*\]\(\s*(https?:\/\/[^\s)]+)/g;
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`\])}]+/g;

/**
 * The images, videos, audio and other files that a reply links to, each once, in their order. The specification
 * leaves open how files come back (spec 2.7), so they are found by their form: Markdown images, and URLs whose
 * path ends like a file.
 */
export function findMedia(text: string): Media[] {
	const shown = new Set([...text.matchAll(MARKDOWN_IMAGE)].map(([, url]) => url!));
	const found = new Map<string, Media>();
	for (const [match] of text.matchAll(URL_IN_TEXT)) {
		const url = match.replace(/[.,;:!?*_)]+$/, '');
		const kind = shown.has(url) ? (kindOf(url) ?? 'image') : kindOf(url);
		if (kind !== undefined) found.set(url, { kind, url });
	}
	return [...found.values()];
}

function kindOf(url: string): Media['kind'] | undefined {
	if (!URL.canParse(url)) return undefined;
	const { pathname } = new URL(url);
	return KINDS.find(([ending]) => ending.test(pathname))?.[1];
}

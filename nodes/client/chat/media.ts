/** A file linked in a reply. */
export interface Media {
	readonly kind: 'image' | 'video' | 'audio' | 'file';
	readonly url: string;
}

/** Kind of a file by the extension of its URL path. */
const KINDS: readonly (readonly [RegExp, Media['kind']])[] = [
	[/\.(png|jpe?g|gif|webp|avif|bmp|svg|tiff?)$/i, 'image'],
	[/\.(mp4|m4v|mov|webm|mkv|avi)$/i, 'video'],
	[/\.(mp3|wav|m4a|aac|ogg|flac)$/i, 'audio'],
	[/\.(pdf|docx?|xlsx?|pptx?|csv|txt|md|json|zip)$/i, 'file'],
];

const MARKDOWN_IMAGE = /!\[[^\]]*\]\(\s*(https?:\/\/[^\s)]+)/g;
const URL_IN_TEXT = /https?:\/\/[^\s<>"'`\])}]+/g;

/**
 * Finds the images, videos, audio and other files linked in a reply, in order of appearance and without duplicates.
 *
 * The specification does not define how files are returned (spec 2.7), so they are detected by form: Markdown images,
 * and URLs whose path has a known file extension.
 */
export function findMedia(text: string): Media[] {
	const images = new Set([...text.matchAll(MARKDOWN_IMAGE)].map(([, url]) => url!));
	const found = new Map<string, Media>();
	for (const [match] of text.matchAll(URL_IN_TEXT)) {
		const url = match.replace(/[.,;:!?*_)]+$/, '');
		const kind = images.has(url) ? (kindOf(url) ?? 'image') : kindOf(url);
		if (kind !== undefined) found.set(url, { kind, url });
	}
	return [...found.values()];
}

function kindOf(url: string): Media['kind'] | undefined {
	if (!URL.canParse(url)) return undefined;
	const { pathname } = new URL(url);
	return KINDS.find(([extension]) => extension.test(pathname))?.[1];
}

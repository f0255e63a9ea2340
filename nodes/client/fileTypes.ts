/* eslint-disable no-control-regex -- signatures contain control characters */
// cspell:ignore cxms ftyp ftypqt mdat msvideo

/**
 * Media types with their file extensions, the usual one first, and, where the first bytes tell the type, its signature (one
 * character per byte). The first match counts. The signatures are those of the WHATWG MIME Sniffing Standard (section 6), and
 * of more containers.
 */
export const FILE_TYPES: readonly (readonly [
	type: string,
	extensions: string,
	signature?: RegExp,
])[] = [
	// A general brand of images comes first, and the compatible brands tell which one it is.
	['image/avif', 'avif', /^.{4}ftyp(avi[fs]|m[is]f1.{4}(.{4}){0,8}?avi[fs])/s],
	['image/heic', 'heic heif', /^.{4}ftyp(hei[cxms]|hev[cx]|m[is]f1)/s],
	['audio/mp4', 'm4a', /^.{4}ftypM4[AB]/s],
	['video/quicktime', 'mov', /^\x00.{3}(ftypqt|moov|mdat|wide|free|skip)/s],
	['video/mp4', 'mp4 m4v', /^\x00.{3}ftyp/s],
	['video/webm', 'webm', /^\x1aE\xdf\xa3.{0,60}webm/s],
	['video/x-matroska', 'mkv', /^\x1aE\xdf\xa3/],
	['audio/webm', 'webm'],
	['video/x-msvideo', 'avi', /^RIFF.{4}AVI /s],
	// Packets of 188 bytes; cameras put 4 bytes before each.
	['video/mp2t', 'ts', /^(G.{187}G.{187}G|.{4}G.{191}G.{191}G)/s],
	['video/mpeg', 'mpg', /^\x00\x00\x01[\xb3\xba]/],
	['video/x-flv', 'flv', /^FLV\x01/],
	['video/x-ms-wmv', 'wmv', /^0&\xb2u\x8ef\xcf\x11/],
	['video/ogg', 'ogv', /^OggS.{24}\x80theora/s],
	['image/jpeg', 'jpg jpeg', /^\xff\xd8\xff/],
	['image/png', 'png', /^\x89PNG\r\n\x1a\n/],
	['image/webp', 'webp', /^RIFF.{4}WEBP/s],
	['image/gif', 'gif', /^GIF8[79]a/],
	['image/bmp', 'bmp', /^BM.{4}\x00{4}/s],
	['image/tiff', 'tiff tif', /^(II\*\x00|MM\x00\*)/],
	['image/svg+xml', 'svg', /^\s*(<\?xml[^>]*>\s*)?(<![^>]*>\s*)*<svg[\s>]/],
	['audio/mpeg', 'mp3', /^(ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/],
	['audio/aac', 'aac', /^\xff[\xf0\xf1\xf8\xf9]/],
	['audio/wav', 'wav', /^RIFF.{4}WAVE/s],
	['audio/ogg', 'ogg oga opus', /^OggS/],
	['audio/flac', 'flac', /^fLaC/],
	['application/pdf', 'pdf', /^%PDF-/],
	['application/zip', 'zip', /^PK\x03\x04/],
	['application/gzip', 'gz', /^\x1f\x8b\x08/],
	['text/html', 'html', /^\s*<(!doctype html|html|head|body)\b/i],
	['application/json', 'json', /^\s*[{[]/],
	['application/xml', 'xml', /^\s*<[?!\w]/],
	['text/csv', 'csv'],
	['text/markdown', 'md'],
	['text/plain', 'txt'],
];

/** Media type by the extension of a file name; undefined where the extension is unknown. */
export function mimeTypeOf(name: string): string | undefined {
	const written = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
	return FILE_TYPES.find(([, known]) => known.split(' ').includes(written))?.[0];
}

/** Whether a URL contains the file itself. */
export const isDataUrl = (url: string) => /^\s*data:/i.test(url);

/** A URL without the file that it contains. */
export const withoutContent = (url: string) =>
	isDataUrl(url) ? url.slice(0, url.indexOf(',') + 1).trim() : url;

/**
 * A file in a text, or in a text of JSON: what stands before it, and its data, which may be escaped and have lines. A short last
 * line stays: it may be prose. Without the bound a long text of slashes that are escaped would throw.
 */
const FILE_DATA =
	/(data:[\w.+-]+\\*\/[\w.+-]+(?:;[\w.=-]+)?;base64,|b64_json\\*":\s*\\*")(?:[\w+/=-]+|\\+\/|(?:\s|\\+[rn])+(?=(?:[\w+/=-]|\\+\/){60})){1,500000}/gi;

/** A text without the files that it contains: a model would read each as text. */
export const withoutFileData = (text: string) => text.replace(FILE_DATA, '$1');

/** The same for all texts of JSON. */
export const withoutFilesIn = <T>(json: T): T =>
	JSON.parse(withoutFileData(JSON.stringify(json))) as T;

import { FILE_TYPES, mimeTypeOf } from '../../client/fileTypes';
import { isText } from './fileKind';

/** Maximum length of a file name: file systems take 255 bytes, and other programs add to it. */
const MAX_BYTES = 200;
/** Names that Windows takes for devices, with any extension. */
const RESERVED = /^(con|prn|aux|nul|(com|lpt)[\d¹²³])\s*(\.|$)/i;

/**
 * A safe file name with the extension of the media type, in place of that of another type. Documents keep an extension
 * that is not in the table; in the name of a video, image or audio file such an ending is a part of the name. Path
 * separators and reserved characters become hyphens, characters that reorder the text on the screen are removed, a name
 * that Windows or a spreadsheet takes for something else gets an underscore, and a long one is cut between two visible
 * characters, before its extension.
 */
export function fileNameOf(wanted: string, type: string): string {
	const name = wanted
		.replace(/[\p{Bidi_Control}\u007f-\u009f\u2028\u2029]+/gu, '')
		// eslint-disable-next-line no-control-regex -- unsafe names contain control characters
		.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, '-')
		.replace(/^\.+/, '');
	const [stem, end] = splitName(name, type);
	const safe = RESERVED.test(`${stem}${end}`) || stem.startsWith('=') ? `_${stem}` : stem;
	return `${cut(safe, MAX_BYTES - Buffer.byteLength(end)) || 'file'}${end}`;
}

/** The name without its extension, and the extension of the media type, with a dot. */
function splitName(name: string, type: string): [stem: string, end: string] {
	const extension = FILE_TYPES.find(([known]) => known === type)?.[1].split(' ')[0];
	const named = mimeTypeOf(name);
	const [written = ''] = /\.[a-z0-9]{1,10}$/i.exec(name) ?? [];
	const stem = name.slice(0, name.length - written.length);
	if (extension === undefined || named === type) return [stem, written];
	if (named !== undefined && !isText(type)) return [stem, `.${extension}`];
	const isMedia = /^(video|image|audio)\//.test(type);
	const keepsEnd = !isMedia && /^\.(?!\d+$)[a-z0-9]{2,4}$/i.test(written);
	return keepsEnd ? [stem, written] : [name, `.${extension}`];
}

/** The first visible characters of a text that have no more bytes than that. */
function cut(text: string, maxBytes: number): string {
	let [kept, bytes] = ['', 0];
	// A visible character may have many code points, and none is longer than what is looked at.
	for (const { segment } of new Intl.Segmenter().segment(text.slice(0, 2 * MAX_BYTES))) {
		bytes += Buffer.byteLength(segment);
		if (bytes > maxBytes) break;
		kept += segment;
	}
	return kept;
}

/* eslint-disable no-control-regex -- binary data and unsafe names contain control characters */
import { FILE_TYPES, mimeTypeOf } from '../../client/fileTypes';

const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;
/** The first bytes of text with two bytes a character: its byte order mark, or the first characters of a page. */
const UTF_16 = /^(\xff\xfe|\xfe\xff|[<{]\x00.\x00|\x00[<{]\x00)/;
const BYTE_ORDER_MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;
const MAX_NAME_LENGTH = 120;

/** Whether a media type is one of text. */
export const isText = (type = '') => /^text\/|^application\/(.*\+)?(json|xml)$/.test(type);

/** Media type by the first bytes of a file; undefined for binary data of an unknown type. */
export function detectType(head: Buffer): string | undefined {
	const bytes = head.toString('latin1');
	const isWide = UTF_16.test(bytes);
	const text = (isWide ? bytes.replaceAll('\0', '') : bytes).replace(BYTE_ORDER_MARK, '');
	const [type] = FILE_TYPES.find(([, , signature]) => signature?.test(text)) ?? [];
	if (type !== undefined && !isText(type)) return type;
	return CONTROL_CHARACTERS.test(text) ? undefined : (type ?? 'text/plain');
}

/** Whether files of a media type are recognized by their first bytes, and are not text. */
export function hasBinarySignature(type: string): boolean {
	return !isText(type) && FILE_TYPES.some(([known, , bytes]) => bytes && known === type);
}

/**
 * A safe file name with the extension of the media type, in place of that of another type. Documents keep an extension
 * that is not in the table; in the name of a video, image or audio file such an ending is a part of the name. Path
 * separators and reserved characters become hyphens, characters that reorder the text on the screen are removed, and a
 * long name is cut between two visible characters, before its extension.
 */
export function fileNameOf(wanted: string, type: string): string {
	const name = wanted
		.replace(/[\p{Bidi_Control}\u007f-\u009f\u2028\u2029]+/gu, '')
		.replace(/[/\\:*?"<>|\u0000-\u001f]+/g, '-')
		.replace(/^\.+/, '');
	const [stem, end] = splitName(name, type);
	return `${cut(stem, MAX_NAME_LENGTH - end.length) || 'file'}${end}`;
}

/** The name without its extension, and the extension of the media type, with a dot. */
function splitName(name: string, type: string): [stem: string, end: string] {
	const extension = FILE_TYPES.find(([known]) => known === type)?.[1];
	const named = mimeTypeOf(name);
	const [written = ''] = /\.[a-z0-9]{1,10}$/i.exec(name) ?? [];
	const stem = name.slice(0, name.length - written.length);
	if (extension === undefined || named === type) return [stem, written];
	if (named !== undefined && !isText(type)) return [stem, `.${extension}`];
	const isMedia = /^(video|image|audio)\//.test(type);
	const keepsEnd = !isMedia && /^\.(?!\d+$)[a-z0-9]{2,4}$/i.test(written);
	return keepsEnd ? [stem, written] : [name, `.${extension}`];
}

/** The text up to a length, without a part of a visible character at its end. */
function cut(text: string, maxLength: number): string {
	let kept = '';
	for (const { segment } of new Intl.Segmenter().segment(text.slice(0, 2 * maxLength))) {
		if (kept.length + segment.length > maxLength) break;
		kept += segment;
	}
	return kept;
}

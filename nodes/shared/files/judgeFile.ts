import { ServiceError } from '../../client/errors';
import { excerpt } from '../../client/http/request';
import { errorIn } from '../../client/http/errorBody';
import { objectOf, parseJson } from '../../client/json';
import { FILE_TYPES, mimeTypeOf } from '../../client/fileTypes';

/** What the user can do after a failed download. */
export const OPEN_URL = 'Open the URL of the file';

/** Media types that hosts declare for unknown files, or for an HTML page or an archive in place of a file. */
const UNSPECIFIC = /^(|(application|binary)\/octet-stream|application\/(x-)?zip|text\/html)$/;

/** What is left of the marks and zero bytes of UTF-16 when it is read as UTF-8. */
// eslint-disable-next-line no-control-regex -- that is what it looks for
const NO_LETTERS = /[\x00\ufffd]/g;

/** Expected type of a file of which nothing is known. */
export const ANY_FILE = '*/*';

const KINDS = { video: 'a video', image: 'an image', audio: 'an audio file' };

/**
 * The media type of a file by its first bytes, or by its declared type where the bytes do not tell.
 *
 * @param head The first bytes; none for an empty file.
 * @param contentType The header of the host, or the type in a data: URL.
 * @param expected `video`, `image`, `audio`, the media type of a document, or ANY_FILE.
 * @param source Where the file comes from: the host of a URL, or the reply that contains it.
 * @throws ServiceError `protocol` for an empty file, another kind of media, or an error page in place of a document.
 */
export function judgeFile(
	head: Buffer,
	contentType: string,
	expected: string,
	source: 'host' | 'reply' = 'host',
): string {
	const declared = contentType.split(';')[0]!.trim().toLowerCase();
	const found = detectType(head);
	const kind = KINDS[expected as keyof typeof KINDS] as string | undefined;
	const judge = kind !== undefined ? mediaType : expected === ANY_FILE ? anyType : documentType;
	const type = judge(found, declared, expected);
	// Some hosts declare an error as the file.
	const isReport =
		type !== found && expected !== found && errorIn(objectOf(parseJson(head.toString())));
	if (head.length > 0 && type !== undefined && !isReport) return type;

	const words = isText(found) ? `: ${excerpt(head.toString().replace(NO_LETTERS, ''))}` : '';
	const unknown =
		declared === '' ? 'unknown bytes' : `bytes that are declared as ${excerpt(declared)}`;
	const instead = `${found ?? unknown}${words}`;
	const but = `${kind ?? 'the file'}, but ${head.length === 0 ? 'an empty body' : instead}`;
	throw source === 'host'
		? new ServiceError('protocol', `The host did not send ${but}`, OPEN_URL)
		: new ServiceError('protocol', `The reply does not contain ${but}`, []);
}

/** Of a video the bytes tell its type: hosts declare anything as one. So do they of a type whose first bytes are known. */
function mediaType(found: string | undefined, declared: string, kind: string): string | undefined {
	const type = found ?? (kind === 'video' || hasSignature(declared) ? '' : declared);
	// These containers also hold sound alone.
	const real = kind === 'audio' ? type.replace(/^video\/(mp4|webm)$/, 'audio/$1') : type;
	return real.startsWith(`${kind}/`) ? real : undefined;
}

/** Accepts everything except an HTML page in place of another file. */
function anyType(found: string | undefined, declared: string): string | undefined {
	if (found === 'text/html') return declared.includes('html') ? found : undefined;
	if (found !== undefined && !isText(found) && found !== 'application/zip') return found;
	// Text that is declared as a PDF, for example, is none; YAML is text that only its declaration tells.
	const isBinary = !isText(declared) && hasSignature(declared);
	const isWrong = UNSPECIFIC.test(declared) || (isText(found) && isBinary);
	return isWrong ? (found ?? 'application/octet-stream') : declared;
}

function documentType(found: string | undefined, declared: string, expected: string) {
	const isTextual = isText(found);
	// A text may begin like JSON or XML; one that is declared as such is an error message.
	const isPage = found === 'text/html' || (found !== 'text/plain' && /json|xml/.test(declared));
	if (isTextual && found !== expected && (isPage || !isText(expected))) return undefined;
	// Office documents are ZIP archives.
	if (found !== undefined && !isTextual && found !== 'application/zip') return found;
	return !UNSPECIFIC.test(declared) && isText(declared) === isTextual ? declared : expected;
}

/* eslint-disable no-control-regex -- binary data and unsafe names contain control characters */

const CONTROL_CHARACTERS = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;
/** The first bytes of text with two bytes a character: its byte order mark, or the first characters of a page. */
const UTF_16 = /^(\xff\xfe|\xfe\xff|[<{]\x00.\x00|\x00[<{]\x00)/;
const BYTE_ORDER_MARK = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;
const MAX_NAME_LENGTH = 120;

/** Whether a media type is one of text. */
const isText = (type = '') => /^text\/|^application\/(.*\+)?(json|xml)$/.test(type);

/** Whether the first bytes tell that a file has this media type. */
const hasSignature = (type: string) =>
	FILE_TYPES.some(([known, , signature]) => signature && known === type);

/** Media type by the first bytes of a file; undefined for binary data of an unknown type. */
export function detectType(head: Buffer): string | undefined {
	const bytes = head.toString('latin1');
	const isWide = UTF_16.test(bytes);
	const text = (isWide ? bytes.replaceAll('\0', '') : bytes).replace(BYTE_ORDER_MARK, '');
	const [type] = FILE_TYPES.find(([, , signature]) => signature?.test(text)) ?? [];
	if (type !== undefined && !isText(type)) return type;
	return CONTROL_CHARACTERS.test(text) ? undefined : (type ?? 'text/plain');
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

/** The text up to a length, without a part of a visible character at its end. */
function cut(text: string, maxLength: number): string {
	// A line break is never a part of the character before it.
	const characters = [...new Intl.Segmenter().segment(`${text.slice(0, 2 * maxLength)}\n`)];
	return text.slice(0, characters.findLast(({ index }) => index <= maxLength)!.index);
}

// cspell:ignore ftyp mdat moof moov
import { InputError, ServiceError } from '../../client/errors';
import { FILE_TYPES, mimeTypeOf } from '../../client/fileTypes';
import { excerpt } from '../../client/http/request';
import { number } from '../form/form';

/** What the user can do after a failed download. */
export const OPEN_URL = 'Open the URL of the file';

/** Expected type of a file of which nothing is known. */
export const ANY_FILE = '*/*';

const KINDS = new Map([
	['video', 'a video'],
	['image', 'an image'],
	['audio', 'an audio file'],
]);
/** Media types that hosts declare for any file. */
const UNSPECIFIC = /^$|octet-stream/;
// eslint-disable-next-line no-control-regex -- binary data contains control characters, and colors of a terminal are text
const CONTROL_CHARACTERS = /[^\P{Cc}\t\n\f\r\x1b]/u;

/** Whether a media type is one of text. */
const isText = (type = '') => /^text\/|^application\/(.*\+)?(json|xml)$/.test(type);

/** Media type by the first bytes of a file; undefined for binary data of an unknown type. */
export function detectType(head: Buffer): string | undefined {
	const bytes = head.toString('latin1').replace(/^\xef\xbb\xbf/, '');
	const [type] = FILE_TYPES.find(([, , signature]) => signature?.test(bytes)) ?? [];
	if (type !== undefined && !isText(type)) return type;
	return CONTROL_CHARACTERS.test(head.toString()) ? undefined : (type ?? 'text/plain');
}

/**
 * The media type of a file. Of a video, an image or sound its first bytes tell it.
 *
 * @param head The first bytes; none for an empty file.
 * @param contentType The header of the host.
 * @param expected `video`, `image`, `audio`, the media type of a document, or ANY_FILE.
 * @param problem How the error begins.
 * @throws ServiceError `protocol` for an empty file, another kind of media, or a page or an error in place of a document.
 */
export function judgeFile(
	head: Buffer,
	contentType: string,
	expected: string,
	problem = 'The host did not send',
): string {
	const declared = contentType.split(';')[0]!.trim().toLowerCase();
	const found = detectType(head);
	const kind = KINDS.get(expected);
	const judge = kind === undefined ? documentType : mediaType;
	const type = judge(found, expected, declared);
	if (head.length > 0 && type !== undefined) return type;
	const words = isText(found) ? `: ${excerpt(head.toString())}` : '';
	const unknown = declared && `bytes that are declared as ${excerpt(declared)}`;
	const sent = `${found ?? (unknown || 'unknown bytes')}${words}`;
	const but = head.length === 0 ? 'an empty body' : sent;
	const message = `${problem} ${kind ?? 'the file'}, but ${but}`;
	throw new ServiceError('protocol', message, OPEN_URL, { retryable: head.length === 0 });
}

function mediaType(found = '', kind: string): string | undefined {
	// These containers also hold sound alone.
	const type = kind === 'audio' ? found.replace(/^video\/(mp4|webm)$/, 'audio/$1') : found;
	return type.startsWith(`${kind}/`) ? type : undefined;
}

/** Undefined for a page or an error in place of a document: an HTML page, what is declared as JSON or XML, or text for a binary file. */
function documentType(found: string | undefined, expected: string, declared: string) {
	if (found !== undefined && !isText(found)) return found;
	const isPage = found === 'text/html';
	const guess = (isPage ? undefined : found) ?? 'application/octet-stream';
	const any = UNSPECIFIC.test(declared) ? guess : declared;
	const wanted = expected === ANY_FILE ? any : expected;
	const report = isPage ? 'html' : (/json|xml/.exec(declared)?.[0] ?? '');
	const isKnown = FILE_TYPES.some(([type, , signature]) => signature && type === wanted);
	const isWrong = isText(found) && (!wanted.includes(report) || (isKnown && !isText(wanted)));
	return isWrong ? undefined : wanted;
}

/** How large a downloaded file may be. */
export const maximumFileSizeField = number('Maximum File Size', {
	unit: 'MB',
	help: 'Larger files are not downloaded. 0 means no limit.',
	default: 500,
});

/**
 * Checks a file against the limit.
 *
 * @param limit In megabytes; 0 for none.
 * @param bytes Its announced size, or what has come of it.
 * @throws InputError for a larger one.
 */
export function checkFileSize(limit: number, bytes: number, isAnnounced = false): void {
	if (limit === 0 || bytes <= limit * 1_000_000) return;
	const size = isAnnounced ? `has ${megabytes(bytes / 1_000_000)}` : 'is larger';
	const problem = `is ${megabytes(limit)}, but the file ${size}`;
	throw new InputError('Maximum File Size', problem, 'Raise the limit under Options');
}

const megabytes = (count: number) => `${Number(count.toPrecision(3))} MB`;

/** Boxes with the pictures, the sound and their index. */
const MEDIA = ['moov', 'moof', 'mdat'];

/**
 * Checks the bytes of a file while they pass: against the limit, and of MP4 and MOV whether the top-level boxes (ISO/IEC
 * 14496-12) end within it. Of other files only the connection tells whether all bytes of their Content-Length have come.
 */
export function fileCheck(type: string, maximumFileSize: number) {
	const isBoxed = /^(video|audio)\/(mp4|quicktime)$/.test(type);
	const found = new Set<string>();
	/** Bytes that have passed; where the box ends that was read last; its name; what has passed of the next one. */
	let [bytes, end, name, rest] = [0, 0, '', Buffer.alloc(0)];
	return {
		/** @throws InputError for a file that is too large. */
		push(chunk: Uint8Array): void {
			const skipped = rest.length === 0 ? Math.max(0, end - bytes) : 0;
			bytes += chunk.length;
			checkFileSize(maximumFileSize, bytes);
			if (!isBoxed || end >= bytes) return;
			rest = Buffer.concat([rest, chunk.subarray(skipped)]);
			for (;;) {
				const isLarge = rest.length >= 8 && rest.readUInt32BE() === 1;
				if (rest.length < (isLarge ? 16 : 8)) return;
				const stated = isLarge ? Number(rest.readBigUInt64BE(8)) : rest.readUInt32BE();
				// 0 stands for the rest of the file, and less than a header is no box.
				const size = stated < 8 ? Infinity : stated;
				name = rest.toString('latin1', 4, 8);
				if (MEDIA.includes(name)) found.add(name);
				end += size;
				rest = rest.subarray(Math.min(rest.length, size));
			}
		},
		/** @throws ServiceError where something is missing at the end of the file. Bytes behind the boxes are no fault. */
		end(): void {
			const isCut = end > bytes && end !== Infinity && MEDIA.includes(name);
			if (!isBoxed || (found.has('moov') && found.has('mdat') && !isCut)) return;
			const message = `The file ends too early for ${type}, or is damaged`;
			throw new ServiceError('protocol', message, OPEN_URL, { retryable: true });
		},
	};
}

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

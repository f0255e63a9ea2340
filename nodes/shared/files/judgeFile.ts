import { ServiceError } from '../../client/errors';
import { excerpt } from '../../client/http/request';
import { OPEN_URL_HINT } from './fileResponse';
import { detectType, hasBinarySignature, isText } from './fileTypes';

/** Media types that hosts declare for unknown files, or for an HTML page or an archive in place of a file. */
const UNSPECIFIC = /^(|(application|binary)\/octet-stream|application\/(x-)?zip|text\/html)$/;

/** What is left of the marks and zero bytes of UTF-16 when it is read as UTF-8. */
// eslint-disable-next-line no-control-regex -- that is what it looks for
const NO_LETTERS = /[\x00\ufffd]/g;

/** Expected type of a file of which nothing is known. */
export const ANY_FILE = '*/*';

const KINDS = new Map([
	['video', 'a video'],
	['image', 'an image'],
	['audio', 'an audio file'],
]);

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
	const type = KINDS.has(expected)
		? mediaType(found ?? declared, expected)
		: expected === ANY_FILE
			? anyType(found, declared)
			: documentType(found, declared, expected);
	if (head.length > 0 && type !== undefined) return type;

	const words = isText(found) ? `: ${excerpt(head.toString().replace(NO_LETTERS, ''))}` : '';
	const instead = `${found ?? (excerpt(declared) || 'unknown bytes')}${words}`;
	const what = head.length === 0 ? 'an empty body' : instead;
	const [failed, hint] =
		source === 'host'
			? ['The host did not send', OPEN_URL_HINT]
			: ['The reply does not contain', ''];
	const message = `${failed} ${KINDS.get(expected) ?? 'the file'}, but ${what}`;
	throw new ServiceError('protocol', message, hint);
}

function mediaType(type: string, kind: string): string | undefined {
	// These containers also hold sound alone.
	const real = kind === 'audio' ? type.replace(/^video\/(mp4|webm)$/, 'audio/$1') : type;
	return real.startsWith(`${kind}/`) ? real : undefined;
}

/** Accepts everything except an HTML page in place of another file. */
function anyType(found: string | undefined, declared: string): string | undefined {
	if (found === 'text/html') return declared.includes('html') ? found : undefined;
	if (found !== undefined && !isText(found) && found !== 'application/zip') return found;
	// Text that is declared as a PDF, for example, is none; YAML is text that only its declaration tells.
	const isWrong = UNSPECIFIC.test(declared) || (isText(found) && hasBinarySignature(declared));
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

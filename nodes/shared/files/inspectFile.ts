import { createHash } from 'node:crypto';

import { ServiceError } from '../../client/errors';
import { walkContainer } from './container';
import { OPEN_URL } from './judgeFile';

/** What is known of a file, as an output item has it. */
export type FileFacts = ReturnType<ReturnType<typeof inspectFile>['end']>;

/** The last bytes of whole files that are no containers. */
const ENDS = new Map([
	['image/png', 'IEND'],
	['image/jpeg', '\xff\xd9'],
	['application/pdf', '%%EOF'],
]);
/** Number of bytes at the end of a file in which its end is looked for. */
const TAIL_BYTES = 4_096;

type Headers = Readonly<Record<string, string | undefined>>;

/** Checksums of the file that its host states (RFC 9530, and `Content-MD5`), each with what computes it. */
function checksumsOf({ 'repr-digest': digests = '', 'content-md5': md5 = '' }: Headers) {
	const sums = [...digests.matchAll(/sha-(256|512)=:([\w+/]+=*):/g)].map(
		([, bits, base64]) => [`sha${bits}`, base64] as const,
	);
	return [...sums, ['md5', md5] as const].flatMap(([algorithm, base64]) =>
		base64 ? [[createHash(algorithm), base64] as const] : [],
	);
}

/**
 * Judges whether a file is whole while its bytes pass. It keeps none of them but the last ones, and those only of a type
 * that has a known end.
 *
 * @param type The media type of the file.
 * @param expected As in `judgeFile`.
 * @param headers Those of its host; their length is that of the file.
 * @param mayRetry Whether a file that is not whole may be whole the next time.
 */
export function inspectFile(type: string, expected: string, headers: Headers, mayRetry = false) {
	const walk = walkContainer(type);
	const end = ENDS.get(type);
	const checks = checksumsOf(headers);
	let bytes = 0;
	let tail = Buffer.alloc(0);

	return {
		/** The next bytes of the file. */
		push(chunk: Uint8Array): void {
			bytes += chunk.byteLength;
			walk?.push(chunk);
			for (const [hash] of checks) hash.update(chunk);
			if (end !== undefined) tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
		},
		/**
		 * The judgment, after the last byte.
		 *
		 * @throws ServiceError `protocol` for a file of which something is missing or wrong, and for sound in place of a video.
		 */
		end() {
			const fail = (problem: string, retryable = mayRetry) =>
				new ServiceError('protocol', problem, OPEN_URL, { retryable });
			const { isWhole, hasVideo, ...facts } = walk?.end() ?? {};
			if (isWhole === false || !tail.includes(end ?? '', 0, 'latin1'))
				throw fail(`The file ends too early for ${type}, or is damaged`);
			if (expected === 'video' && hasVideo === false)
				throw fail(`The file has no video, but only sound (${type})`, false);
			const length = headers['content-length'];
			const isExact = Number(length) === bytes;
			// The length and the checksums of a body that was compressed are not those of the file.
			const usable = length === undefined || isExact ? checks : [];
			if (usable.some(([hash, base64]) => hash.digest('base64') !== base64))
				throw fail('The file does not match the checksum that its host states');
			// A container without a stated end can be cut between two of its parts.
			const isClosed = isWhole ?? (walk !== undefined && isExact);
			// Whether it is certain that nothing of the file is missing.
			const verified = isClosed || usable.length > 0;
			return { bytes, ...facts, verified };
		},
	};
}

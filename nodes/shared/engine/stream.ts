import type { BinaryHelperFunctions, IN8nHttpFullResponse } from 'n8n-workflow';

/** The stream type that n8n's binary store accepts; nodes must not import Node's own. */
export type Readable = Exclude<
	Parameters<BinaryHelperFunctions['prepareBinaryData']>[0],
	Buffer | Uint8Array
>;

/**
 * The body of a response: the option `encoding: 'stream'` makes it a stream. n8n's type does not follow the option.
 *
 * n8n 2.41.1, @n8n/backend-network/dist/http/axios/legacy.js
 * Without it: reading the body throws; a call has an unknown outcome, a download fails.
 */
export function streamOf({ body }: IN8nHttpFullResponse): Readable {
	return body as unknown as Readable;
}

/**
 * A Node stream of the chunks, made with the class of a stream that n8n returned: nodes must not import Node's own modules.
 *
 * n8n 2.41.1, n8n-core/dist/binary-data/binary-data.service.js
 * Without it: the download fails, and its URL stays in the output.
 */
export function toStream(like: Readable, chunks: AsyncIterable<Uint8Array>): Readable {
	type From = (chunks: AsyncIterable<Uint8Array>) => Readable;
	return (like.constructor as unknown as { readonly from: From }).from(chunks);
}

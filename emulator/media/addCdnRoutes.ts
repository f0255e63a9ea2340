import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../errors';
import { parseCdnVideo } from '../video/cdnVideo';
import { byteRange } from './byteRange';
import { pictureFile, videoFile } from './mediaFiles';

interface CdnFile {
	readonly type: string;
	readonly bytes: Buffer;
}

/** The kinds of file on the CDN; the first row that knows a path serves it. */
const KINDS: readonly ((path: string) => CdnFile | undefined)[] = [
	(path) => {
		const video = parseCdnVideo(path);
		const bytes = video && videoFile(video.size, video.aspectRatio, video.seconds);
		return bytes && { type: 'video/mp4', bytes };
	},
	(path) =>
		/^\/cdn\/(thumbnails|images)\/[\w-]+\.jpg$/.test(path)
			? { type: 'image/jpeg', bytes: pictureFile() }
			: undefined,
	(path) => {
		const name = /^\/cdn\/files\/([\w-]+)\.txt$/.exec(path)?.[1];
		if (name === undefined) return undefined;
		const text = `${name.replaceAll('-', ' ')}\n`;
		return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(text) };
	},
];

function findFile(path: string): CdnFile {
	for (const kind of KINDS) {
		const file = kind(path);
		if (file) return file;
	}
	throw new ServiceError(404, `There is no file at ${path}`);
}

function sendFile(request: FastifyRequest, reply: FastifyReply): FastifyReply {
	const { type, bytes } = findFile(new URL(request.url, 'http://localhost').pathname);
	reply.type(type).header('accept-ranges', 'bytes');

	const range = byteRange(request.headers.range, bytes.length);
	if (range === undefined) return reply.send(bytes);
	if (range === 'unsatisfiable') {
		throw new ServiceError(416, 'The range lies outside the file.', {
			'content-range': `bytes */${bytes.length}`,
		});
	}
	return reply
		.code(206)
		.header('content-range', `bytes ${range.first}-${range.last}/${bytes.length}`)
		.send(bytes.subarray(range.first, range.last + 1));
}

/** Finished files, open to everybody: no key is asked for (spec 2.10). */
export function addCdnRoutes(server: FastifyInstance): void {
	server.get('/cdn/*', async (request, reply) => sendFile(request, reply));
}

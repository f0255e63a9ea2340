import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from '../errors';
import { parseCdnVideo } from '../video/cdnVideo';
import { parseRange } from './parseRange';
import { imageFile, videoFile } from './mediaFiles';

interface CdnFile {
	readonly type: string;
	readonly bytes: Buffer;
}

/** Files of the CDN: the first entry that recognizes a path serves it. */
const KINDS: readonly ((path: string) => CdnFile | undefined | Promise<CdnFile | undefined>)[] = [
	async (path) => {
		const video = parseCdnVideo(path);
		const bytes = video && (await videoFile(video));
		return bytes && { type: 'video/mp4', bytes };
	},
	(path) =>
		/^\/cdn\/(thumbnails|images)\/[\w-]+\.jpg$/.test(path)
			? { type: 'image/jpeg', bytes: imageFile() }
			: undefined,
	(path) => {
		const name = /^\/cdn\/files\/([\w-]+)\.txt$/.exec(path)?.[1];
		if (name === undefined) return undefined;
		const text = `${name.replaceAll('-', ' ')}\n`;
		return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(text) };
	},
];

async function findFile(path: string): Promise<CdnFile> {
	for (const kind of KINDS) {
		const file = await kind(path);
		if (file) return file;
	}
	throw new HttpError(404, `No such file: ${path}`);
}

async function sendFile(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
	const { type, bytes } = await findFile(new URL(request.url, 'http://localhost').pathname);
	reply.type(type).header('accept-ranges', 'bytes');

	const range = parseRange(request.headers.range, bytes.length);
	if (range === undefined) return reply.send(bytes);
	if (range === 'unsatisfiable') {
		throw new HttpError(416, 'The requested range is outside the file.', {
			'content-range': `bytes */${bytes.length}`,
		});
	}
	return reply
		.code(206)
		.header('content-range', `bytes ${range.first}-${range.last}/${bytes.length}`)
		.send(bytes.subarray(range.first, range.last + 1));
}

/** Routes of generated files; public, without authentication (spec 2.10). */
export function addCdnRoutes(server: FastifyInstance): void {
	server.get('/cdn/*', async (request, reply) => sendFile(request, reply));
}

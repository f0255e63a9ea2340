import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import FILE_TYPES from './fileTypes.json';
import { HttpError } from '../errors';
import type { EmulatedService } from '../service';
import type { TaskStore } from '../video/tasks';
import { parseCdnVideo } from '../video/cdnVideo';
import { imageFile, videoFile } from './mediaFiles';

interface CdnFile {
	readonly type: string;
	readonly bytes: Buffer;
	/** Only for what a task of this run has made. */
	readonly modifiedMs?: number;
}

const TYPES: Readonly<Record<string, string>> = FILE_TYPES;

type CdnKind = (path: string, tasks: TaskStore) => Promise<CdnFile | undefined>;

/** Files of the CDN: the first entry that recognizes a path serves it. */
const KINDS: readonly CdnKind[] = [
	async (path, tasks) => {
		const video = parseCdnVideo(path);
		const bytes = video && (await videoFile(video));
		const task = tasks.all.find(({ id }) => id === video?.taskId);
		const modifiedMs = task && task.createdMs + task.totalMs;
		return bytes && { type: 'video/mp4', bytes, ...(modifiedMs && { modifiedMs }) };
	},
	async (path) =>
		/^\/cdn\/(thumbnails|images)\/[\w-]+\.jpg$/.test(path)
			? { type: 'image/jpeg', bytes: imageFile() }
			: undefined,
	async (path) => {
		const name = /^\/cdn\/files\/([\w-]+)\.txt$/.exec(path)?.[1];
		if (name === undefined) return undefined;
		const text = `${name.replaceAll('-', ' ')}\n`;
		return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(text) };
	},
	async (path, tasks) => {
		const id = /^\/cdn\/scripted\/([\w-]+)\.\w+$/.exec(path)?.[1];
		const file = tasks.all.find((task) => task.id === id)?.script?.file;
		if (file === undefined) return undefined;
		const type = TYPES[extname(file)] ?? 'application/octet-stream';
		return { type, bytes: await readFile(file) };
	},
];

async function findFile(path: string, tasks: TaskStore): Promise<CdnFile> {
	for (const kind of KINDS) {
		const file = await kind(path, tasks);
		if (file) return file;
	}
	throw new HttpError(404, `No such file: ${path}`);
}

/** Whether a client has the file (`If-None-Match`, or else `If-Modified-Since`; RFC 9110, section 13). */
function isKnown({ headers }: FastifyRequest, tag: string, modified: string | undefined): boolean {
	const { 'if-none-match': tags, 'if-modified-since': since } = headers;
	if (tags !== undefined)
		return tags.split(/\s*,\s*/).some((each) => each === tag || each === '*');
	return modified !== undefined && Date.parse(since ?? '') >= Date.parse(modified);
}

/**
 * Parses a `Range` header (RFC 9110, section 14), both ends inclusive.
 * @returns undefined for the whole file: no header, several ranges, or invalid syntax
 */
function parseRange(header: string | undefined, length: number) {
	const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
	if (!match || match[0] === 'bytes=-') return undefined;

	const [, from, to] = match;
	const first = from ? Number(from) : Math.max(length - Number(to), 0);
	const last = from && to ? Math.min(Number(to), length - 1) : length - 1;
	if (first > last) return from && to && Number(to) < Number(from) ? undefined : 'unsatisfiable';
	return { first, last };
}

async function sendFile(
	request: FastifyRequest,
	reply: FastifyReply,
	{ tasks }: EmulatedService,
): Promise<FastifyReply> {
	const { pathname } = new URL(request.url, 'http://localhost');
	const { type, bytes, modifiedMs } = await findFile(pathname, tasks);
	const tag = `"${createHash('sha1').update(bytes).digest('hex')}"`;
	const modified = modifiedMs === undefined ? undefined : new Date(modifiedMs).toUTCString();
	reply.headers({ 'accept-ranges': 'bytes', etag: tag });
	if (modified !== undefined) reply.header('last-modified', modified);
	if (isKnown(request, tag, modified)) return reply.code(304).send();
	reply.type(type);

	const { range: wanted, 'if-range': condition = tag } = request.headers;
	const isSame = condition === tag || condition === modified;
	const range = parseRange(isSame ? wanted : undefined, bytes.length);
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
export function addCdnRoutes(server: FastifyInstance, service: EmulatedService): void {
	server.get('/cdn/*', async (request, reply) => sendFile(request, reply, service));
}

import fastify from 'fastify';
import { writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { stringify } from 'yaml';

import { addEncodingCheck, addHostCheck } from '../addHostCheck';
import { HttpError } from '../errors';
import { parseJson } from '../json';
import { pathOf, targetIn } from '../script/addScripts';
import type { ScriptedReply, ScriptedResponse, When } from '../script/script';
import type { EmulatorOptions } from '../startEmulator';

export interface RecorderOptions extends Pick<
	EmulatorOptions,
	'port' | 'host' | 'allowedHosts' | 'log'
> {
	/** Base URL of the service that answers. */
	readonly upstream: string;
	/** The script to write; it must not exist. */
	readonly file: string;
}

/** Headers that belong to a connection, or that the request to the service has of its own. */
const OWN_HEADERS =
	/^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|content-encoding|accept-encoding|proxy-.*)$/;
/** Headers of an answer that mean something to its reader. */
const RECORDED_HEADERS = /^(?:content-type|retry-after|location)$/;
const SECRET = /^(?:authorization|cookie|.*(?:key|token|secret).*)$/i;
/** What looks like a key, wherever it stands. */
const ANY_KEY = /\bBearer\s+[\w.-]+|\b(?:sk|ak|pk|key)[-_][\w-]{12,}/g;
const MASK = '(key)';
const MAX_BODY_BYTES = 8 * 2 ** 20;
const MAX_TEXT = 200;

const parsed = (text: string): unknown => {
	const value = parseJson(text);
	return value === undefined ? text || undefined : value;
};

/** The keys in a value, none if it is short: the whole, and what may be a key before an app code; each also within base64. */
function keysIn(value: string): readonly string[] {
	const key = value.replace(/^\w+ +/, '');
	const ends = [...key.matchAll(/-/g)].flatMap(({ index }) => (index < 16 ? [] : index));
	const keys = key.length < 8 ? [] : [key, ...ends.map((end) => key.slice(0, end))];
	return keys.flatMap((each) => [each, ...[0, 1, 2].map((offset) => inBase64(each, offset))]);
}

/** The characters of base64 that a text alone decides, `offset` bytes after a group of three. */
const inBase64 = (text: string, offset: number): string =>
	Buffer.from('\0'.repeat(offset) + text)
		.toString('base64')
		.slice(Math.ceil((4 * offset) / 3), Math.floor((4 * (offset + text.length)) / 3));

/** Conditions by which the recorded answer is found again. */
function conditionsFor(method: string, path: string, body: unknown): When {
	const { text, model, app, stream, lastRole } = targetIn(body);
	const { task_id: contains } = (body ?? {}) as { readonly task_id?: unknown };
	const all = { text: text.slice(0, MAX_TEXT), model, app, stream, lastRole, contains };
	return {
		method,
		path,
		...Object.fromEntries(Object.entries(all).filter(([, value]) => value)),
	};
}

/** A piece of an answer: where it ends, and when it came. */
interface Piece {
	readonly bytes: Buffer;
	readonly end: number;
	readonly ms: number;
}

/** The answer as a script says it: events with their delays, JSON, text or bytes. */
function bodyFor(type: string, pieces: readonly Piece[]): ScriptedResponse {
	const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
	if (!/json|text|xml|^$/.test(type)) return { base64: bytes.toString('base64') };
	if (!type.startsWith('text/event-stream')) return { body: parsed(bytes.toString()) ?? '' };
	let [end, lastMs] = [0, 0];
	// Whole events, so that a key in one is found.
	const events = bytes
		.toString('latin1')
		.split(/(?<=\n\r?\n)/)
		.map((event) => {
			end += event.length;
			const ms = pieces.find((piece) => piece.end >= end)?.ms ?? lastMs;
			const delayMs = ms - lastMs;
			lastMs = ms;
			return { raw: Buffer.from(event, 'latin1').toString(), delayMs };
		});
	return { events };
}

/** The script of some replies. The last answer to equal requests also answers those that follow. */
function scriptOf(name: string, replies: readonly ScriptedReply[]): string {
	const keys = replies.map(({ when }) => JSON.stringify(when));
	const numbered = replies.map((reply, index) => {
		const call = keys.slice(0, index + 1).filter((key) => key === keys[index]).length;
		const isLast = keys.lastIndexOf(keys[index]!) === index;
		return isLast ? reply : { ...reply, when: { ...reply.when, call } };
	});
	return stringify({ name, replies: numbered }, { lineWidth: 0 });
}

/** A proxy that passes requests on to a service with the key of the caller, and writes what comes as a script. */
export async function startRecorder(options: RecorderOptions) {
	const { upstream, file, log, allowedHosts = [], port = 0, host = '127.0.0.1' } = options;
	const secrets = new Set<string>();
	const replies: ScriptedReply[] = [];
	const save = (flag: 'w' | 'wx') => {
		const text = scriptOf(`Recorded from ${new URL(upstream).origin}`, replies);
		const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
		const masked = longestFirst.reduce((all, secret) => all.replaceAll(secret, MASK), text);
		writeFileSync(file, masked.replace(ANY_KEY, MASK), { flag, mode: 0o600 });
	};
	save('wx');

	const server = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
	addHostCheck(server, allowedHosts);
	addEncodingCheck(server);
	server.removeAllContentTypeParsers();
	server.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
		done(null, body);
	});
	server.all('/*', async (request, reply) => {
		const { method } = request;
		const text = request.body as string | undefined;
		// The address of another host, as for a proxy, would become a part of the name of this one.
		if (!request.url.startsWith('/')) throw new HttpError(400, 'Send only a path.');
		const url = new URL(upstream.replace(/\/$/, '') + request.url);
		const sent = Object.entries(request.headers as Readonly<Record<string, string>>).filter(
			([name]) => !OWN_HEADERS.test(name),
		);
		for (const [name, value] of [...sent, ...url.searchParams])
			if (SECRET.test(name)) keysIn(value).forEach((key) => secrets.add(key));
		const response = await fetch(url, {
			method,
			headers: { ...Object.fromEntries(sent), 'accept-encoding': 'identity' },
			...(text !== undefined && { body: text }),
			redirect: 'manual',
		}).catch((error: unknown) => {
			const { cause } = error as Error;
			throw new HttpError(502, `${url.origin} cannot be reached: ${String(cause)}`);
		});
		const { status, headers } = response;
		const came = [...headers].filter(([name]) => !OWN_HEADERS.test(name));
		const pieces: Piece[] = [];
		const startMs = Date.now();
		const pass = async function* () {
			for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
				const end = (pieces.at(-1)?.end ?? 0) + chunk.length;
				pieces.push({ bytes: Buffer.from(chunk), end, ms: Date.now() - startMs });
				yield chunk;
			}
			const [path, body] = [pathOf(request), parsed(text ?? '')];
			replies.push({
				when: conditionsFor(method, path, body),
				request: { method, path, ...(body !== undefined && { body }) },
				status,
				headers: Object.fromEntries(came.filter(([name]) => RECORDED_HEADERS.test(name))),
				...bodyFor(headers.get('content-type') ?? '', pieces),
			});
			save('w');
			log?.(`${method} ${path} ${status} recorded`);
		};
		return reply.code(status).headers(Object.fromEntries(came)).send(Readable.from(pass()));
	});
	return { url: await server.listen({ port, host }), stop: () => server.close() };
}

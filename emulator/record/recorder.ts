import fastify from 'fastify';
import { appendFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { stringify } from 'yaml';

import { addCors, isAllowed } from '../addCors';
import { addEncodingCheck, addHostCheck } from '../addHostCheck';
import { HttpError } from '../errors';
import { parseJson } from '../json';
import { pathOf, targetIn } from '../script/addScripts';
import type { ScriptedReply, ScriptedResponse, When } from '../script/script';
import type { EmulatorOptions } from '../startEmulator';
import { createRecordMask } from './maskRecord';

export interface RecorderOptions extends Pick<
	EmulatorOptions,
	'port' | 'host' | 'allowedHosts' | 'cors' | 'log'
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
const MAX_BODY_BYTES = 8 * 2 ** 20;
const MAX_TEXT = 200;

const parsed = (text: string): unknown => {
	const value = parseJson(text);
	return value === undefined ? text || undefined : value;
};

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

/** The answer as a script says it, without secrets: events with their delays, JSON, text or bytes. */
function bodyFor(
	type: string,
	pieces: readonly Piece[],
	{ maskBytes, maskEvents, maskValue }: ReturnType<typeof createRecordMask>,
): ScriptedResponse {
	const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
	if (!/json|text|xml|^$/.test(type)) return { base64: maskBytes(bytes).toString('base64') };
	if (!type.startsWith('text/event-stream'))
		return { body: maskValue(parsed(bytes.toString())) ?? '' };
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
	return { events: maskEvents(events) };
}

/** A proxy that passes requests on to a service with the key of the caller, and writes what comes as a script. */
export async function startRecorder(options: RecorderOptions) {
	const { upstream, file, log, port = 0, host = '127.0.0.1' } = options;
	const { allowedHosts = [], cors = [] } = options;
	const secrets = createRecordMask();
	const name = `Recorded from ${new URL(upstream).origin}`;
	writeFileSync(file, `${stringify({ name })}replies:\n`, { flag: 'wx', mode: 0o600 });
	const append = (reply: ScriptedReply) => {
		appendFileSync(file, stringify([reply], { lineWidth: 0 }));
	};

	const server = fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
	addHostCheck(server, allowedHosts);
	addEncodingCheck(server);
	addCors(server, cors);
	server.addHook('onRequest', async ({ headers: { origin } }) => {
		const advice = 'Start the emulator with --cors to accept it.';
		if (origin !== undefined && !isAllowed(origin, cors))
			throw new HttpError(403, `A web page of ${origin} sent this. ${advice}`);
	});
	// A web page may send other types to any address.
	server.removeAllContentTypeParsers();
	server.addContentTypeParser(
		'application/json',
		{ parseAs: 'string' },
		(_request, body, done) => {
			done(null, body);
		},
	);
	server.all('/*', async (request, reply) => {
		const { method } = request;
		const text = request.body as string | undefined;
		// The address of another host, as for a proxy, would become a part of the name of this one.
		if (!request.url.startsWith('/')) throw new HttpError(400, 'Send only a path.');
		const url = new URL(upstream.replace(/\/$/, '') + request.url);
		const sent = Object.entries(request.headers as Readonly<Record<string, string>>).filter(
			([name]) => !OWN_HEADERS.test(name),
		);
		const asked = parsed(text ?? '');
		secrets.learn([...sent, ...url.searchParams], asked);
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
			const [path, body] = [secrets.maskText(pathOf(request)), secrets.maskValue(asked)];
			const told = Object.fromEntries(came.filter(([name]) => RECORDED_HEADERS.test(name)));
			append({
				when: conditionsFor(method, path, body),
				request: { method, path, ...(body !== undefined && { body }) },
				status,
				headers: secrets.maskValue(told),
				...bodyFor(headers.get('content-type') ?? '', pieces, secrets),
			});
			log?.(`${method} ${path} ${status} recorded`);
		};
		return reply.code(status).headers(Object.fromEntries(came)).send(Readable.from(pass()));
	});
	return { url: await server.listen({ port, host }), stop: () => server.close() };
}

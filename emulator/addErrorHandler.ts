import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { errorBody, HttpError } from './errors';
import TEXTS from './httpMessages.json';
import { pathOf } from './script/addScripts';
import type { EmulatedService } from './service';
import { validationMessage } from './validationMessage';

/** Messages for requests that Fastify rejects itself, by Fastify error code. */
const HTTP_MESSAGES: Readonly<Record<string, string>> = TEXTS;

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function toHttpError(error: FastifyError | HttpError): HttpError {
	if (error instanceof HttpError) return error;

	const [problem] = error.validation ?? [];
	if (problem) return new HttpError(400, validationMessage(problem));

	const status = error.statusCode ?? 500;
	if (status < 400 || status >= 500) {
		return new HttpError(503, 'Interface call abnormal. Please retry later.');
	}
	return new HttpError(status, HTTP_MESSAGES[error.code] ?? 'The request is malformed.');
}

/** 404 for an unknown path, 405 with `Allow` for a known path and another method. */
function routeError(server: FastifyInstance, request: FastifyRequest): HttpError {
	const path = pathOf(request);
	const allowed = METHODS.filter(
		// Its type leaves out that it returns null for an unknown route.
		(method) => (server.findRoute({ url: path, method }) as object | null) !== null,
	);
	if (allowed.length === 0) return new HttpError(404, `No such endpoint: ${path}`);
	const methods = allowed.join(', ');
	return new HttpError(405, `${path} accepts ${methods} only`, { allow: methods });
}

/** Error handler: responds to every error with the service's error body (spec 7), never with a stack trace. */
export function addErrorHandler(
	server: FastifyInstance,
	{ settings: { minimal }, scripts }: EmulatedService,
	log?: (line: string) => void,
): void {
	server.setErrorHandler<FastifyError | HttpError>((error, _request, reply) => {
		const { status, message, headers } = toHttpError(error);
		if (!(error instanceof HttpError) && status === 503)
			log?.(`Internal error: ${error.stack}`);
		// The specification shows no header of an error.
		reply.code(status).headers(minimal ? {} : headers);
		return reply.send(errorBody(status, message));
	});
	server.setNotFoundHandler((request) => {
		throw routeError(server, request);
	});
	// Before the body is parsed: a wrong path or method takes precedence over an invalid body.
	server.addHook('onRequest', async (request) => {
		if (request.is404 && !scripts.covers(pathOf(request))) throw routeError(server, request);
	});
}

/** Responds with 400 to bytes that are not valid HTTP. */
export function handleClientError(_error: Error, socket: Socket): void {
	if (!socket.writable) return;
	const body = JSON.stringify(errorBody(400, 'The request is not valid HTTP.'));
	socket.end(
		'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n' +
			`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
}

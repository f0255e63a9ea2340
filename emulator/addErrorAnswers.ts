import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { errorBody, ServiceError } from './errors';
import { validationMessage } from './validationMessage';

/** What HTTP itself refuses, in our words, by the framework's error code. */
const HTTP_MESSAGES: Readonly<Record<string, string>> = {
	FST_ERR_CTP_EMPTY_JSON_BODY: 'The body is empty; send a JSON object.',
	FST_ERR_CTP_INVALID_JSON_BODY: 'The body is not valid JSON.',
	FST_ERR_CTP_BODY_TOO_LARGE: 'The body is too large.',
	FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body with Content-Type: application/json.',
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

function toServiceError(error: FastifyError | ServiceError): ServiceError {
	if (error instanceof ServiceError) return error;

	const [problem] = error.validation ?? [];
	if (problem) return new ServiceError(400, validationMessage(problem));

	const status = error.statusCode ?? 500;
	if (status < 400 || status >= 500) {
		return new ServiceError(503, 'Interface call abnormal. Please retry later.');
	}
	return new ServiceError(status, HTTP_MESSAGES[error.code] ?? 'The request is malformed.');
}

function noSuchRoute(server: FastifyInstance, request: FastifyRequest): ServiceError {
	const [path = '/'] = request.url.split('?');
	// At run time the result is null where there is no such route.
	const allowed = METHODS.filter(
		(method) => (server.findRoute({ url: path, method }) as object | null) !== null,
	);
	if (allowed.length === 0) return new ServiceError(404, `There is nothing at ${path}`);
	const methods = allowed.join(', ');
	return new ServiceError(405, `${path} takes ${methods} only`, { allow: methods });
}

/** Answers every failure with the service's error body and never with a stack trace (spec 7). */
export function addErrorAnswers(server: FastifyInstance, log?: (line: string) => void): void {
	server.setErrorHandler<FastifyError | ServiceError>((error, _request, reply) => {
		const { status, message, headers } = toServiceError(error);
		if (!(error instanceof ServiceError) && status === 503)
			log?.(`Internal error: ${error.stack}`);
		return reply.code(status).headers(headers).send(errorBody(status, message));
	});
	// Before the body is looked at: it does not matter what a wrong address is sent.
	server.addHook('onRequest', async (request) => {
		if (request.is404) throw noSuchRoute(server, request);
	});
}

/** Answers bytes that are not HTTP. */
export function answerBrokenRequest(_error: Error, socket: Socket): void {
	if (!socket.writable) return;
	const body = JSON.stringify(errorBody(400, 'The request is not valid HTTP.'));
	socket.end(
		'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n' +
			`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
	);
}

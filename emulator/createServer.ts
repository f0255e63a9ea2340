import Ajv, { type Schema } from 'ajv';
import fastify, { type FastifyInstance } from 'fastify';
import { addChatRoutes } from './chat/addChatRoutes';
import { addCors } from './addCors';
import { addEncodingCheck, addHostCheck } from './addHostCheck';
import { addErrorHandler, handleClientError } from './addErrorHandler';
import { addControlRoutes } from './addControlRoutes';
import { addJournal } from './addJournal';
import { addFaultInjection } from './faults/addFaultInjection';
import { addCdnRoutes } from './media/addCdnRoutes';
import { addScripts } from './script/addScripts';
import type { EmulatedService, ServiceOptions } from './service';
import AJV_OPTIONS from './ajvOptions.json';
import { addVideoRoutes } from './video/addVideoRoutes';

/** Larger bodies are rejected with 413. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

export interface ServerOptions extends Pick<ServiceOptions, 'log'> {
	/** Host names to accept besides loopback names and the address that was connected to. */
	readonly allowedHosts?: readonly string[];
	/** Origins whose web pages may use the emulator, or `*`; without it, browsers keep them out. */
	readonly cors?: readonly string[];
}

/** No type coercion, no defaults, unknown fields are allowed, and a rule has its message in the schema. */
const ajv = new Ajv(AJV_OPTIONS);

/**
 * Validates bodies. A schema is compiled with its first request, once for all servers of this process: it takes longer
 * than the rest of a start. Ajv keeps what it has compiled.
 */
const bodyValidator =
	({ schema }: { readonly schema: Schema }) =>
	(body: unknown) => {
		const isValid = ajv.compile(schema);
		return isValid(body) || { error: isValid.errors! };
	};

/** Creates the HTTP server of an emulated service; it is not listening yet. */
export function createServer(
	service: EmulatedService,
	{ log, allowedHosts = [], cors = [] }: ServerOptions = {},
): FastifyInstance {
	const server = fastify({
		bodyLimit: MAX_BODY_BYTES,
		forceCloseConnections: true,
		clientErrorHandler: handleClientError,
	});
	server.setValidatorCompiler<Schema>(bodyValidator);
	server.removeContentTypeParser('text/plain');
	addHostCheck(server, allowedHosts);
	addCors(server, cors);
	addEncodingCheck(server);
	addJournal(server, service, log);
	addErrorHandler(server, service, log);
	const addScriptedResponses = addScripts(server, service);
	addFaultInjection(server, service);
	addScriptedResponses();
	addChatRoutes(server, service);
	addVideoRoutes(server, service);
	addCdnRoutes(server, service);
	addControlRoutes(server, service);
	return server;
}

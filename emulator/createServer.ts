import fastify, { type FastifyInstance } from 'fastify';
import { addChatRoutes } from './chat/addChatRoutes';
import { addHostCheck } from './addHostCheck';
import { addErrorHandler, handleClientError } from './addErrorHandler';
import { addControlRoutes } from './addControlRoutes';
import { addJournal } from './addJournal';
import { addFaultInjection } from './faults/addFaultInjection';
import { addCdnRoutes } from './media/addCdnRoutes';
import { addScripts } from './script/addScripts';
import type { EmulatedService } from './service';
import { addVideoRoutes } from './video/addVideoRoutes';

/** Larger bodies are rejected with 413. */
const MAX_BODY_BYTES = 8 * 2 ** 20;

/** Ajv options: no type coercion, no defaults, and unknown fields are allowed. */
const STRICT_VALUES = {
	coerceTypes: false,
	removeAdditional: false,
	useDefaults: false,
	allowUnionTypes: true,
	discriminator: true,
} as const;

export interface ServerOptions {
	/** Receives one line per request, and what happens to scripts. */
	readonly log?: (line: string) => void;
	/** Host names to accept besides loopback names and the address that was connected to. */
	readonly allowedHosts?: readonly string[];
}

/** Creates the HTTP server of an emulated service; it is not listening yet. */
export function createServer(
	service: EmulatedService,
	{ log, allowedHosts = [] }: ServerOptions = {},
): FastifyInstance {
	const server = fastify({
		bodyLimit: MAX_BODY_BYTES,
		forceCloseConnections: true,
		ajv: { customOptions: STRICT_VALUES },
		clientErrorHandler: handleClientError,
	});
	server.removeContentTypeParser('text/plain');
	addHostCheck(server, allowedHosts);
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

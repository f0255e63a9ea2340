import fastify, { type FastifyInstance } from 'fastify';
import { addChatRoutes } from './chat/addChatRoutes';
import { addErrorHandler, handleClientError } from './addErrorHandler';
import { addControlRoutes } from './addControlRoutes';
import { addJournal } from './addJournal';
import { addFaultInjection } from './faults/addFaultInjection';
import { addCdnRoutes } from './media/addCdnRoutes';
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

/** Creates the HTTP server of an emulated service; it is not listening yet. */
export function createServer(
	service: EmulatedService,
	log?: (line: string) => void,
): FastifyInstance {
	const server = fastify({
		bodyLimit: MAX_BODY_BYTES,
		forceCloseConnections: true,
		ajv: { customOptions: STRICT_VALUES },
		clientErrorHandler: handleClientError,
	});
	server.removeContentTypeParser('text/plain');
	addJournal(server, service, log);
	addErrorHandler(server, log);
	addFaultInjection(server, service);
	addChatRoutes(server, service);
	addVideoRoutes(server, service);
	addCdnRoutes(server);
	addControlRoutes(server, service);
	return server;
}

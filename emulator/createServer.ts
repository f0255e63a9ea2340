import fastify, { type FastifyInstance } from 'fastify';
import { addChatRoutes } from './chat/addChatRoutes';
import { addErrorAnswers, answerBrokenRequest } from './addErrorAnswers';
import { addControlRoutes } from './addControlRoutes';
import { addJournal } from './addJournal';
import { addFaults } from './faults/addFaults';
import { addCdnRoutes } from './media/addCdnRoutes';
import type { Service } from './service';
import { addVideoRoutes } from './video/addVideoRoutes';

/** Larger bodies are refused with 413. */
const MOST_BODY_BYTES = 8 * 2 ** 20;

/** Values are taken as they are: a string is no number, and unknown fields are let through. */
const STRICT_VALUES = {
	coerceTypes: false,
	removeAdditional: false,
	useDefaults: false,
	allowUnionTypes: true,
	discriminator: true,
} as const;

/** The HTTP server of a service, not yet listening. */
export function createServer(service: Service, log?: (line: string) => void): FastifyInstance {
	const server = fastify({
		bodyLimit: MOST_BODY_BYTES,
		forceCloseConnections: true,
		ajv: { customOptions: STRICT_VALUES },
		clientErrorHandler: answerBrokenRequest,
	});
	server.removeContentTypeParser('text/plain');
	addJournal(server, service, log);
	addErrorAnswers(server, log);
	addFaults(server, service);
	addChatRoutes(server, service);
	addVideoRoutes(server, service);
	addCdnRoutes(server);
	addControlRoutes(server, service);
	return server;
}

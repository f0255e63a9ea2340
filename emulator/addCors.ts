import type { FastifyInstance } from 'fastify';

/** Answers what a browser asks before a web page of an allowed origin may send a request. */
export function addCors(server: FastifyInstance, origins: readonly string[]): void {
	server.addHook('onRequest', async ({ method, headers }, reply) => {
		const { origin = '', 'access-control-request-headers': wanted = '' } = headers;
		if (!isAllowed(origin, origins)) return;
		reply.headers({ 'access-control-allow-origin': origin, vary: 'origin' });
		if (method !== 'OPTIONS') return;
		reply.headers({
			'access-control-allow-methods': 'GET, POST, DELETE',
			'access-control-allow-headers': wanted,
		});
		return reply.code(204).send();
	});
}

export const isAllowed = (origin: string, origins: readonly string[]): boolean =>
	origins.some((allowed) => allowed === '*' || allowed === origin);

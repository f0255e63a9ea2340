import type { AddressInfo } from 'node:net';

import fastify from 'fastify';

import { answerChat, nowMs, type ChatBody } from './answerChat';
import { TaskRuns } from './taskRuns';

/** The measuring server, a child process: sends its URL to the parent and exits with it. */
const server = fastify({ forceCloseConnections: true, bodyLimit: 2 ** 26 });
const runs = new TaskRuns();

server.post<{ Body: ChatBody }>('/v1/chat/completions', async ({ body }, reply) => {
	reply.hijack();
	await answerChat(body, reply.raw);
});
server.post<{ Body: { readonly task_id: string } }>('/v1/videos/tasks', async ({ body }) => {
	const status = runs.poll(body.task_id, nowMs());
	const video_url = status === 'completed' ? { video_url: 'http://127.0.0.1/video.mp4' } : {};
	return { task_id: body.task_id, status, model: 'video-m1', ...video_url };
});
server.get<{ Params: { readonly run: string } }>('/bench/runs/:run', async ({ params }) =>
	runs.observations(params.run),
);

process.once('disconnect', () => process.exit(0));
void server.listen({ host: '127.0.0.1', port: 0 }).then(() => {
	const { port } = server.server.address() as AddressInfo;
	process.send?.({ url: `http://127.0.0.1:${port}` });
});

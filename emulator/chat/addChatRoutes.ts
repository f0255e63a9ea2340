import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import { HttpError } from '../errors';
import { moderate } from '../moderate';
import { authenticate, requireAuthentication, requireCredit } from '../authentication';
import type { EmulatedService } from '../service';
import { createReply } from './createReply';
import { requireValidMessages } from './requireValidMessages';
import { requireValidTools } from './requireValidTools';
import { completionBody } from './completionBody';
import { completionChunks } from './completionChunks';
import { textOf } from './messages';
import type { Reply } from './reply';
import { CHAT_SCHEMA, type ChatBody } from './requestSchema';
import { resolveBinding } from './resolveBinding';

/** Validates the rules between fields (spec 2.1). */
function requireConsistentFields({
	messages,
	response_format,
	tool_choice,
	tools,
}: ChatBody): void {
	requireValidMessages(messages);
	requireValidTools(tools ?? []);
	if (tool_choice === 'required' && !tools?.length) {
		throw new HttpError(400, 'tool_choice "required" needs tools');
	}
	const asksForJson = messages.some((message) => /json/i.test(textOf(message)));
	if (response_format?.type === 'json_object' && !asksForJson) {
		throw new HttpError(
			400,
			'response_format json_object: a message must tell the model to answer in JSON',
		);
	}
}

/** The server-sent events of a streamed reply. */
async function* events(reply: Reply, { clock, settings }: EmulatedService, includeUsage: boolean) {
	for (const { delayMs, chunk } of completionChunks(reply, settings, includeUsage)) {
		await clock.sleep(delayMs);
		yield `data: ${JSON.stringify(chunk)}\n\n`;
	}
	yield 'data: [DONE]\n\n';
}

/** Route of chat completions (spec 2.1 to 2.7). */
export function addChatRoutes(server: FastifyInstance, service: EmulatedService): void {
	server.register(async (chat) => {
		requireAuthentication(chat, service);

		chat.post<{ Body: ChatBody }>(
			'/v1/chat/completions',
			{ schema: { body: CHAT_SCHEMA } },
			async (request, reply) => {
				const { body } = request;
				const caller = authenticate(request);
				requireConsistentFields(body);
				const binding = resolveBinding(body, caller, service);
				requireCredit(caller);
				const questions = body.messages.filter(({ role }) => role === 'user');
				moderate('the question', questions.map(textOf).join('\n'));

				const result = createReply({
					body,
					binding,
					owner: caller.account.name,
					origin: `${request.protocol}://${request.host}`,
					service,
					scripted: service.scripts.find(request)?.reply,
				});
				if (body.stream) {
					const includeUsage = body.stream_options?.include_usage ?? false;
					return reply
						.type('text/event-stream; charset=utf-8')
						.header('cache-control', 'no-cache')
						.send(Readable.from(events(result, service, includeUsage)));
				}
				const durations = (result.session?.steps ?? []).map((step) => step.durationMs);
				await service.clock.sleep(durations.reduce((sum, ms) => sum + ms, 0));
				return completionBody(result, service.settings);
			},
		);
	});
}

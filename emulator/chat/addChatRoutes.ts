import type { FastifyInstance } from 'fastify';
import { Readable } from 'node:stream';
import { ServiceError } from '../errors';
import { moderate } from '../moderate';
import { callerOf, requireCaller, requireCredit } from '../requireCaller';
import type { Service } from '../service';
import { answer } from './answer';
import { checkMessages } from './checkMessages';
import { completionBody } from './completionBody';
import { completionChunks } from './completionChunks';
import { textOf } from './messages';
import type { Reply } from './reply';
import { CHAT_SCHEMA, type ChatBody } from './requestSchema';
import { resolveBinding } from './resolveBinding';

/** What the fields demand of one another (spec 2.1). */
function checkFields({ messages, response_format, tool_choice, tools }: ChatBody): void {
	checkMessages(messages);
	if (tool_choice === 'required' && !tools?.length) {
		throw new ServiceError(400, 'tool_choice required needs tools');
	}
	const asksForJson = messages.some((message) => /json/i.test(textOf(message)));
	if (response_format?.type === 'json_object' && !asksForJson) {
		throw new ServiceError(
			400,
			'response_format json_object: the messages must also tell the model to answer in JSON',
		);
	}
}

async function* events(reply: Reply, { clock, settings }: Service, includeUsage: boolean) {
	for (const { afterMs, chunk } of completionChunks(reply, settings, includeUsage)) {
		await clock.sleep(afterMs);
		yield `data: ${JSON.stringify(chunk)}\n\n`;
	}
	yield 'data: [DONE]\n\n';
}

/** Chat completions (spec 2.1 to 2.7). */
export function addChatRoutes(server: FastifyInstance, service: Service): void {
	server.register(async (chat) => {
		requireCaller(chat);

		chat.post<{ Body: ChatBody }>(
			'/v1/chat/completions',
			{ schema: { body: CHAT_SCHEMA } },
			async (request, reply) => {
				const { body } = request;
				const caller = callerOf(request);
				checkFields(body);
				const binding = resolveBinding(
					body.app_code ?? caller.appCode,
					body.model,
					service,
				);
				requireCredit(caller);
				const questions = body.messages.filter(({ role }) => role === 'user');
				moderate('the question', questions.map(textOf).join('\n'));

				const result = answer({
					body,
					binding,
					owner: caller.account.name,
					origin: `${request.protocol}://${request.host}`,
					service,
				});
				if (body.stream) {
					const includeUsage = body.stream_options?.include_usage ?? false;
					return reply
						.type('text/event-stream; charset=utf-8')
						.header('cache-control', 'no-cache')
						.send(Readable.from(events(result, service, includeUsage)));
				}
				const tookMs = (result.session?.steps ?? []).map((step) => step.tookMs);
				await service.clock.sleep(tookMs.reduce((sum, ms) => sum + ms, 0));
				return completionBody(result, service.settings);
			},
		);
	});
}

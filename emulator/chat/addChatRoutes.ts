import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { HttpError } from '../errors';
import { isObject } from '../json';
import { moderate } from '../moderate';
import { authenticate, requireAuthentication, requireCredit } from '../authentication';
import { addOpenAiRoutes } from '../openai/addOpenAiRoutes';
import { serviceRequest } from '../openai/chatRequest';
import { chatRequest, responseBody, responseEvents } from '../openai/responses';
import type { EmulatedService } from '../service';
import { loadTokenizer } from './countTokens';
import { createReply } from './createReply';
import { requireValidMessages } from './requireValidMessages';
import { requireValidTools } from './requireValidTools';
import { completionBody } from './completionBody';
import { completionChunks, pieces, type TimedChunk } from './completionChunks';
import { textOf } from './messages';
import type { Reply } from './reply';
import { CHAT_SCHEMA, type ChatBody } from './requestSchema';
import { resolveBinding } from './resolveBinding';

/** Characters that the context of a model holds. */
const MAX_CONTEXT = 2_000_000;

/** Validates the rules between fields (spec 2.1). */
function requireConsistentFields({ messages, response_format, tools, openai }: ChatBody): void {
	requireValidMessages(messages);
	if (messages.reduce((sum, message) => sum + textOf(message).length, 0) > MAX_CONTEXT)
		throw new HttpError(413, `messages must have at most ${MAX_CONTEXT} characters`);
	requireValidTools(tools ?? []);
	const asksForJson = messages.some((message) => /json/i.test(textOf(message)));
	if (response_format?.type === 'json_object' && !openai?.schema && !asksForJson) {
		throw new HttpError(
			400,
			'response_format json_object: a message must tell the model to answer in JSON',
		);
	}
}

/** The server-sent events of a streamed reply. */
async function* events(reply: Reply, { clock, settings }: EmulatedService, body: ChatBody) {
	const includeUsage = body.stream_options?.include_usage ?? false;
	for (const { delayMs, chunk } of completionChunks(reply, settings, includeUsage)) {
		await clock.sleep(delayMs);
		for (let index = 0; index < (body.openai?.n ?? 1); index++)
			yield `data: ${JSON.stringify(withIndex(chunk, index))}\n\n`;
	}
	yield 'data: [DONE]\n\n';
}

/** A chunk as one of another choice; its usage is counted once. */
function withIndex(chunk: TimedChunk['chunk'], index: number): object {
	if (index === 0) return chunk;
	const { usage: _usage, ...rest } = chunk;
	const choices = (chunk['choices'] ?? []) as readonly object[];
	return { ...rest, choices: choices.map((choice) => ({ ...choice, index })) };
}

/** The server-sent events of a streamed response of the third-party schema. */
async function* typedEvents(reply: Reply, { clock, settings }: EmulatedService) {
	let sequence_number = 0;
	for (const event of responseEvents(reply, pieces)) {
		await clock.sleep(settings.chunkMs);
		const data = JSON.stringify({ ...event, sequence_number: sequence_number++ });
		yield `event: ${event.type}\ndata: ${data}\n\n`;
	}
}

/** Checks a request, and creates the reply to it. */
async function replyTo(
	request: FastifyRequest<{ Body: ChatBody }>,
	service: EmulatedService,
): Promise<Reply> {
	await loadTokenizer();
	const { body } = request;
	const caller = authenticate(request);
	requireConsistentFields(body);
	const binding = resolveBinding(body, caller, service);
	requireCredit(caller);
	const questions = body.messages.filter(({ role }) => role === 'user');
	moderate('the question', questions.map(textOf).join('\n'));
	return createReply({
		body,
		binding,
		owner: caller.account.name,
		origin: `${request.protocol}://${request.host}`,
		service,
		scripted: service.scripts.find(request)?.reply,
	});
}

/** Reads requests of the third-party schema if the emulator accepts them. Otherwise the field of their options is removed. */
function addOpenAiRequests(chat: FastifyInstance, { settings }: EmulatedService): void {
	chat.addHook('preValidation', async (request) => {
		const { body } = request;
		if (!isObject(body)) return;
		const { openai: _openai, ...rest } = body;
		const isResponse = request.routeOptions.url === '/v1/responses';
		request.body = settings.openai
			? serviceRequest(isResponse ? chatRequest(rest) : rest)
			: rest;
	});
}

/** Sends a body, or a stream of events. */
function send(
	reply: FastifyReply,
	{ stream }: ChatBody,
	streamed: AsyncGenerator<string>,
	body: object,
): object {
	if (!stream) return body;
	return reply
		.type('text/event-stream; charset=utf-8')
		.header('cache-control', 'no-cache')
		.send(Readable.from(streamed));
}

/** Routes of chat completions (spec 2.1 to 2.7), and of responses of the third-party schema. */
export function addChatRoutes(server: FastifyInstance, service: EmulatedService): void {
	server.register(async (chat) => {
		requireAuthentication(chat, service);
		addOpenAiRequests(chat, service);
		const schema = { schema: { body: CHAT_SCHEMA } };

		chat.post<{ Body: ChatBody }>('/v1/chat/completions', schema, async (request, reply) => {
			const { body } = request;
			const result = await replyTo(request, service);
			const durations = (result.session?.steps ?? []).map((step) => step.durationMs);
			if (!body.stream) await service.clock.sleep(durations.reduce((sum, ms) => sum + ms, 0));
			const whole = completionBody(result, service.settings, body.openai);
			return send(reply, body, events(result, service, body), whole);
		});
		if (!service.settings.openai) return;
		addOpenAiRoutes(chat);
		chat.post<{ Body: ChatBody }>('/v1/responses', schema, async (request, reply) => {
			const result = await replyTo(request, service);
			return send(reply, request.body, typedEvents(result, service), responseBody(result));
		});
	});
}

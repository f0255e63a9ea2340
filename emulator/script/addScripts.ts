import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';

import { findCaller } from '../accounts';
import { pieces } from '../chat/completionChunks';
import { textOf, type Message } from '../chat/messages';
import { respondAsModel } from '../chat/modelResponder';
import { EMULATED_CHAT_MODELS } from '../chat/models';
import type { ChatBody } from '../chat/requestSchema';
import type { DraftReply } from '../chat/responder';
import { sendStatus } from '../faults/responseFaults';
import { isObject } from '../json';
import type { EmulatedService } from '../service';
import { fillTemplate, type TemplateValues } from './fillTemplate';
import { kindsOf, type ScriptedEvent, type ScriptTarget } from './script';

/** A body as far as scripts read it; it has not been validated. */
type AnyBody = Partial<ChatBody & { readonly prompt: string }>;

const bodyOf = (body: unknown): AnyBody => (isObject(body) ? body : {});

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const messagesOf = ({ messages }: AnyBody): readonly Message[] =>
	Array.isArray(messages) ? (messages as readonly Message[]) : [];

/** Text of a message that has not been validated; empty for one that is not valid. */
function questionOf(message: Message): string {
	try {
		return textOf(message);
	} catch {
		return '';
	}
}

/** What replies are chosen by in a body that has not been validated. */
export function targetIn(given: unknown) {
	const body = bodyOf(given);
	const messages = messagesOf(body);
	const roles = messages.map((message: Message | null) => asText(message?.role));
	const user = messages[roles.lastIndexOf('user')];
	return {
		text: asText(body.prompt) || (user ? questionOf(user) : ''),
		model: asText(body.model),
		app: asText(body.app_code),
		stream: body.stream === true,
		lastRole: roles.at(-1) ?? '',
		body: given,
	};
}

/** Path of a request, without its query. */
export const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1).join('');

/** What the emulator itself would answer; empty for a request that it would reject. */
function draftOf(request: FastifyRequest, service: EmulatedService): DraftReply {
	const body = bodyOf(request.body);
	try {
		return respondAsModel({
			body: { ...body, messages: messagesOf(body) },
			binding: { model: EMULATED_CHAT_MODELS[0]! },
			owner: '',
			origin: `${request.protocol}://${request.host}`,
			service,
		});
	} catch {
		return { content: '', extraInput: '' };
	}
}

function targetOf(request: FastifyRequest, draft: () => DraftReply): ScriptTarget {
	const { method, headers, body } = request;
	const target = targetIn(body);
	return {
		...target,
		...{ method, path: pathOf(request), headers },
		app: target.app || (findCaller(headers.authorization)?.appCode ?? ''),
		callsTool: () => (draft().toolCalls ?? []).length > 0,
	};
}

/** Body of a response in pieces, with their delays. */
async function* written(
	events: readonly ScriptedEvent[],
	values: TemplateValues,
	draft: () => DraftReply,
	{ clock, settings }: EmulatedService,
): AsyncGenerator<Buffer> {
	for (const event of events) {
		const { content, reasoning = '' } = event.repeat ? draft() : { content: '' };
		const parts = event.repeat ? pieces(event.repeat === 'answer' ? content : reasoning) : [''];
		for (const piece of parts) {
			const filled = fillTemplate(event, { ...values, piece: () => piece });
			const { data, raw = '', base64, delayMs = settings.chunkMs } = filled;
			await clock.sleep(delayMs);
			const text = typeof data === 'string' ? data : JSON.stringify(data);
			const bytes = base64 === undefined ? Buffer.from(raw) : Buffer.from(base64, 'base64');
			yield data === undefined ? bytes : Buffer.from(`data: ${text}\n\n`);
		}
	}
}

/** Values of the placeholders of a reply. */
function valuesFor(
	{ text, model }: ScriptTarget,
	groups: readonly string[],
	draft: () => DraftReply,
	{ clock, nextId }: EmulatedService,
): TemplateValues {
	const id = nextId('');
	const call = () => draft().toolCalls?.[0];
	return {
		...Object.fromEntries(groups.map((group, index) => [index, () => group])),
		question: () => text,
		model: () => model,
		id: () => id,
		now: () => Math.floor(clock.now() / 1000),
		answer: () => draft().content,
		reasoning: () => draft().reasoning ?? '',
		toolName: () => call()?.function.name ?? '',
		toolArguments: () => call()?.function.arguments ?? '{}',
	};
}

/**
 * Scripted answers: chooses the reply to each request, and sends the responses. The other kinds of replies are read where
 * they belong: faults, chat completions and video tasks.
 *
 * @returns adds the hook that sends responses, to be called after the hooks that come before them
 */
export function addScripts(server: FastifyInstance, service: EmulatedService): () => void {
	const { scripts, journal, clock } = service;
	const sending = new WeakMap<FastifyRequest, (reply: FastifyReply) => FastifyReply>();

	server.addHook('preValidation', async (request) => {
		if (scripts.isEmpty) return;
		let drafted: DraftReply | undefined;
		const draft = () => (drafted ??= draftOf(request, service));
		const target = targetOf(request, draft);
		const chosen = scripts.choose(target);
		if (!chosen) return;

		const { events, when: _when, request: recorded, fault, ...fixed } = chosen.reply;
		const values = recorded ? {} : valuesFor(target, chosen.groups, draft, service);
		const reply = { ...fillTemplate(fixed, values), ...(fault && { fault }) };
		scripts.keep(request, { ...chosen, reply });
		const entry = journal.find(request);
		if (entry) entry.script = chosen.source;
		if (!kindsOf(chosen.reply).includes('response')) return;

		const { status = 200, headers = {}, base64 } = reply;
		sending.set(request, (response) => {
			response.code(status).headers(headers);
			if (base64 !== undefined) return response.send(Buffer.from(base64, 'base64'));
			if (!events) return sendStatus(response, reply);
			if (!response.hasHeader('content-type'))
				response.type('text/event-stream; charset=utf-8');
			return response.send(Readable.from(written(events, values, draft, service)));
		});
	});
	return () => {
		server.addHook('preValidation', async (request, reply) => {
			const { delayMs = 0 } = scripts.find(request)?.reply ?? {};
			await clock.sleep(delayMs);
			return sending.get(request)?.(reply);
		});
	};
}

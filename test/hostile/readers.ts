// cspell:ignore msvideo
import type { IExecuteFunctions } from 'n8n-workflow';

import * as accumulator from '../../nodes/client/chat/accumulator';
import * as toolCalls from '../../nodes/client/chat/toolCalls';
import { readMessage, withoutThought } from '../../nodes/client/chat/replyMessage';
import { completeChat, sseDecoder } from '../../nodes/client/chat/completeChat';
import * as conversation from '../../nodes/client/chat/conversation';
import { askAssistant, readJsonReply, withJson } from '../../nodes/client/chat/sendChat';
import { inferSchema } from '../../nodes/shared/chat/schemaForm';
import * as chatMessages from '../../nodes/client/chat/messages';
import { fieldNames } from '../../nodes/shared/files/fileSource';
import { isSignedUrl } from '../../nodes/shared/engine/request';
import * as requestFields from '../../nodes/client/chat/requestFields';
import * as chatResult from '../../nodes/client/chat/result';
import { imagesAsLinks, imagesAsLinksIn, imagesInStream } from '../../nodes/client/imagesAsLinks';
import { findMismatch, fitTo, schemaProblem } from '../../nodes/client/chat/jsonSchema';
import {
	endOf,
	type ChatCompletion,
	type ChatMessage,
	type ReplyMessage,
	type ToolCall,
} from '../../nodes/client/chat/types';
import { formOf, judge } from '../../nodes/client/chat/verdict';
import { ServiceError } from '../../nodes/client/errors';
import { checkPublicUrl, isPrivateUrl, normalizeBaseUrl } from '../../nodes/client/http/publicUrl';
import * as httpRequest from '../../nodes/client/http/request';
import {
	asJson,
	bounded,
	exceededBound,
	objectOf,
	parseJson,
	type JsonObject,
} from '../../nodes/client/json';
import type { HttpPort } from '../../nodes/client/ports';
import { readChoice, readNumber, readSwitch } from '../../nodes/client/values';
import { applyReport, startPoll } from '../../nodes/client/video/pollTasks';
import { pollResult } from '../../nodes/client/video/pollResult';
import { createVideo, queryTask, tasksIn } from '../../nodes/client/video/tasks';
import * as aiNodeSdk from '../../nodes/shared/chat/aiNodeSdk';
import * as nodeErrors from '../../nodes/shared/run/nodeErrors';
import { envelopeOf } from '../../nodes/FunctionCallingAgent/matching';
import * as chatStream from '../../nodes/shared/chat/chatStream';
import { detectType, fileCheck, fileNameOf, judgeFile } from '../../nodes/shared/files/fileKind';
import { describeVideos, whyLost } from '../../nodes/shared/wait/lostVideos';
import { sampleFile } from '../support/sampleFiles';
import { thorough } from '../support/thorough';
import { isDataUrl, mimeTypeOf, withoutFileData } from '../../nodes/client/fileTypes';
import { begunIn, maskIn, maskOf } from '../../nodes/shared/run/secrets';
import { checkNotRounded, unevaluatedText, isHollow } from '../../nodes/shared/run/parameters';

/**
 * Prepares the reading of a text; only the returned function is measured. A reader that throws an error of its own has
 * read the text.
 */
type Prepare = (text: string) => () => unknown;

export interface Reader {
	/** The function as `folder#function`, below nodes/, and where the text stands if it has several rows. */
	readonly title: string;
	/** Whether the text is parsed as JSON, which ends at the first character of prose. */
	readonly parsesJson: boolean;
	readonly read: Prepare;
}

/** The length of a piece. Texts are shorter on each change, and have many pieces then, too: work for each pair of them shows. */
const PIECE = thorough(64, 128);

/** The text in pieces, as a stream brings it. */
function pieces(text: string, length = PIECE): string[] {
	return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
		text.slice(index * length, (index + 1) * length),
	);
}

const reply = (message: Partial<ReplyMessage>, more: object = {}): ChatCompletion => ({
	choices: [{ index: 0, message: { content: null, ...message }, finish_reason: 'stop', ...more }],
});
const call = (id: string, name: string, args: string): ToolCall => ({
	id,
	type: 'function',
	function: { name, arguments: args },
});
/** One call per piece: with its own id, or all with the same. A piece is a JSON text: JSON.parse is slow where it throws. */
const calls = (text: string) =>
	pieces(text, PIECE / 2).map((piece, index) => call(`c${index}`, 'f', JSON.stringify(piece)));
const sameId = (text: string) => calls(text).map((each) => ({ ...each, id: 'c' }));
const called = (list: readonly ToolCall[]): ChatMessage => ({
	role: 'assistant',
	content: null,
	tool_calls: list,
});
const results = (list: readonly ToolCall[]): ChatMessage[] =>
	list.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
const tool = (parameters: JsonObject) =>
	[{ type: 'function', function: { name: 'f', parameters } }] as const;
const BASE = 'http://a.example';
const LIST = { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } };
const FORMATS = 'email uri date-time hostname ipv6 regex uri-template json-pointer'.split(' ');
const FORMAT_SCHEMA = {
	type: 'object',
	properties: Object.fromEntries(FORMATS.map((format) => [format, { type: 'string', format }])),
};

const bytes = (text: string) => new TextEncoder().encode(text);
/** A service that answers with these bytes, 16 kB at a time. */
const answers =
	(text: string, type = 'application/json', status = 200): HttpPort =>
	() => {
		const all = bytes(text);
		async function* body() {
			for (let at = 0; at < all.length; at += 16_384) yield all.subarray(at, at + 16_384);
		}
		return Promise.resolve({ status, headers: { 'content-type': type }, body: body() });
	};
const streams = (text: string) => answers(text, 'text/event-stream');
const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;
const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields }] });
const said = (text: string) =>
	pieces(text)
		.map((content) => event(delta({ content })))
		.join('') + event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const SENT = { messages: [], model: 'm' };
const STREAMED = { stream: true, idleTimeoutMs: 1000 };
const CHAT = { stream: false, idleTimeoutMs: 1000 };
const clock = { now: () => 0 };
const failure = (text: string) =>
	new ServiceError('http', 'Failed', 'Try again', { serviceMessage: text, traceId: text });
const NODE = {
	...{ id: '1', name: 'N', type: 't', typeVersion: 1, parameters: {} },
	position: [0, 0] as [number, number],
};
const poll = { nowMs: 0, random: 0, timeoutMs: 1000 };

/** A chat that counts what is shown. */
const KEY = '/+sk-0123456789';
const chat = () => ({
	sendChunk: () => undefined,
	continuesOnFail: () => false,
	node: NODE,
	keys: [KEY],
	service: () => ({ isKnown: () => false }),
	withoutSecrets: <T>(value: T) => value,
});

/** The chunks of a stream; each piece in an event of its own, or all in one. */
function stream(chunks: readonly JsonObject[]) {
	return () => {
		const read = accumulator.startAccumulator();
		for (const chunk of chunks) accumulator.applyChunk(read, chunk);
		return [accumulator.isFinished(read), accumulator.toCompletion(read)];
	};
}
const fragments = (text: string, fields: (index: number) => object, name?: string) =>
	pieces(text).map((piece, index) => ({
		...fields(index),
		function: { ...(name === undefined ? {} : { name }), arguments: piece },
	}));
const inOneEvent = (list: readonly object[]) => stream([asJson(delta({ tool_calls: list }))]);

/** The functions that read text from the service, a file host, a model or a tool branch. */
const READ: Readonly<Record<string, Prepare>> = {
	'shared/chat#toSdkResult': (text) => {
		const completion = reply({ content: `-${text}`, tool_calls: calls(text) });
		return () => [
			aiNodeSdk.toSdkResult(judge(completion, 'model'), BASE),
			toolCalls.splitCalls(completion.choices[0]!.message),
			aiNodeSdk.fileLinks(completion, BASE),
		];
	},
	'shared/chat#toChatMessages': (text) => () =>
		aiNodeSdk.toChatMessages([{ role: 'assistant', content: [{ type: 'text', text }] }], []),
	'FunctionCallingAgent#envelopeOf': (text) => () =>
		envelopeOf({
			json: { tool_call: { id: text, tool: text, round: 1, conversation: 0 } },
		}),
	'shared/run#toErrorText': (text) => () =>
		nodeErrors.toErrorText({ message: text, description: text }),
	'client/chat#applyChunk': (text) =>
		stream(
			pieces(text).map((content) => asJson(delta({ content, reasoning_content: content }))),
		),
	'client/chat#applyChunk pieces of a call in one event': (text) =>
		inOneEvent(fragments(text, () => ({ index: 0 }))),
	'client/chat#applyChunk pieces with a name and no index': (text) =>
		inOneEvent(fragments(text, () => ({}), 'f')),
	'client/chat#applyChunk calls without an index': (text) =>
		inOneEvent(fragments(text, (i) => ({ id: `c${i}` }))),
	'client/chat#applyChunk calls that are all numbered 0': (text) =>
		inOneEvent(fragments(text, (i) => ({ id: `c${i}`, index: 0 }), 'f')),
	'client/chat#applyChunk parts in one event': (text) => {
		const chunk = asJson(
			delta({ content: pieces(text, 16).map((part) => ({ image_url: part })) }),
		);
		return stream([chunk]);
	},
	'client/chat#askAssistant': (text) => {
		const data = { tool: 'f', arguments: text, result: text };
		const http = streams(event({ extension: { type: 'tool_start', data } }) + said(text));
		return async () => await askAssistant(http, SENT, STREAMED, clock);
	},
	'client/chat#completeChat a stream': (text) => {
		const http = streams(said(text));
		return async () => await completeChat(http, SENT, STREAMED);
	},
	'client/chat#completeChat a body': (text) => {
		const http = answers(JSON.stringify(reply({ content: text })));
		return async () => await completeChat(http, SENT, CHAT);
	},
	'client/chat#completeChat an error event': (text) => {
		const http = streams(event({ error: { message: text, type: text, code: text } }));
		return async () => await completeChat(http, SENT, STREAMED);
	},
	'client/chat#readMessage': (text) => {
		const parts = pieces(text).map((part) => ({ text: part }));
		return () => [readMessage({ content: text }), readMessage({ content: parts })];
	},
	'client/chat#applyReply': (text) => {
		const start = conversation.startConversation([{ role: 'user', content: 'Hi' }]);
		return () => {
			const asked = reply({ tool_calls: calls(text) });
			const next = conversation.applyReply(start, asked, tool({ type: 'object' }));
			return conversation.closeOpenCalls(
				conversation.applyResult(next, 'c0', { result: text, failed: false }, 0),
				'end',
			);
		};
	},
	'shared/chat#showReply': (text) => () => {
		const onDelta = chatStream.showReply(() => undefined, { reasoning: true })!;
		return pieces(text).map((piece) =>
			onDelta({ content: piece, reasoning: piece, progress: [] }),
		);
	},
	'client/chat#findMedia': (text) => () => chatResult.findMedia(reply({ content: text }), BASE),
	'client/chat#structuredMedia': (text) => {
		const parts = [
			{ type: text, image_url: { url: text } },
			{ input_audio: { data: text, format: text } },
		];
		const completion = reply({ content: null, parts, images: pieces(text) });
		return () => [chatResult.structuredMedia(completion, BASE), isDataUrl(text)];
	},
	'client/chat#limitMemory': (text) => {
		const list = calls(text);
		const messages = list.flatMap((each): ChatMessage[] => [
			{ role: 'user', content: text.slice(0, 64) },
			called([each]),
			...results([each]),
		]);
		// One turn that is too long alone.
		const rounds = messages.filter(({ role }, index) => index === 0 || role !== 'user');
		return () => [
			chatMessages.limitMemory(messages, 1, 1),
			chatMessages.limitMemory(rounds, 1, 1),
			chatMessages.toKeep(rounds, isSignedUrl),
		];
	},
	'client/chat#checkMessages': (text) => {
		const list = calls(text);
		const messages = [
			{ role: 'user', content: text },
			called(list),
			...results(list).reverse(),
		];
		return () => {
			chatMessages.checkOrder(
				chatMessages.checkMessages(messages.map(asJson), 'Messages', {
					allowPrivate: true,
				}),
				'Messages',
			);
		};
	},
	'client/chat#restoreReplies many calls': (text) => {
		const list = calls(text);
		const again = called([...list].reverse());
		return () => chatMessages.restoreReplies([again, ...results(list), again], [called(list)]);
	},
	'client/chat#judge': (text) => () => [
		formOf(reply({ content: text, refusal: text }), 'reply'),
		judge(
			{ choices: [{ index: 0, message: { content: `-${text}` }, finish_reason: text }] },
			'reply',
		),
	],
	'client/chat#boundedFields': (text) => () =>
		chatResult.boundedFields({ id: text, model: text, choices: [{ finish_reason: text }] }),
	'client/chat#withReply': (text) => () =>
		chatResult.withReply(failure(text), { choices: [], session_id: text }),
	'client/chat#sseDecoder': (text) => {
		const chunks = pieces(text, PIECE / 2).map(bytes);
		return () => {
			const decoder = sseDecoder();
			return [chunks.map((chunk) => decoder.feed(chunk)), decoder.end()];
		};
	},
	'client/chat#readToolCalls': (text) => {
		const list = calls(text);
		const tool_results = results(list).reverse() as never;
		return () => toolCalls.readToolCalls({ content: null, tool_calls: list, tool_results });
	},
	'client/chat#readToolCalls calls with the same id': (text) => {
		const list = sameId(text);
		const tool_results = list.map(({ id }) => ({ tool_call_id: id, content: 'x' }));
		return () => toolCalls.readToolCalls({ content: null, tool_calls: list, tool_results });
	},
	'client/chat#toReplay': (text) => () => toolCalls.toReplay({ content: text }, calls(text)),
	'client/chat#closeCalls': (text) => {
		const list = calls(text);
		const message = called(list);
		return () => [
			toolCalls.closeCalls([message], ['g']),
			toolCalls.closeCalls([message, ...results(list)], ['f']),
			toolCalls.closeCalls([...results(list), message], ['f']),
		];
	},
	'client/chat#uniqueId': (text) => {
		const taken = new Map<string, number>();
		return () => pieces(text).map((piece) => toolCalls.uniqueId(piece.slice(0, 1), taken));
	},
	'shared/chat#toolNames': (text) => () => aiNodeSdk.toolNames([text, ...pieces(text)]),
	'client/chat#toolProgressEvents': (text) => {
		const data = {
			tool_calls: pieces(text).map((piece) => ({ name: piece, arguments: piece })),
		};
		return () => {
			return toolCalls
				.toolProgressEvents({ type: 'tool_calls', data })
				.map(toolCalls.progressLine);
		};
	},
	'client/chat#progressLine': (text) => () =>
		toolCalls.progressLine({
			type: 'tool_start',
			tool: text,
			arguments: { text },
			offset_ms: 0,
		}),
	'client/chat#findMismatch a list of unique items': (text) => {
		const list = pieces(text, 16).map((piece, index) => `${piece}${index}`);
		return () => findMismatch(LIST, { list });
	},
	'client/chat#findMismatch texts with a format': (text) => {
		const parts = pieces(text, Math.ceil(text.length / FORMATS.length));
		const value = Object.fromEntries(FORMATS.map((format, i) => [format, parts[i] ?? '']));
		return () => findMismatch(FORMAT_SCHEMA, value);
	},
	'client/chat#schemaProblem': (text) => () =>
		schemaProblem({
			type: 'object',
			properties: { a: { type: 'string', description: text } },
		}),
	'client/chat#checkTools': (text) => () =>
		requestFields.checkTools([{ type: 'function', function: { name: text } }], 'Tools'),
	'client/http#normalizeBaseUrl': (text) => {
		// A joined text is copied into one piece where it is first read.
		const url = Buffer.from(`http://a.example/${text}`).toString();
		return () => normalizeBaseUrl(url);
	},
	'shared/run#checkNotRounded': (text) => {
		const context = {
			getNodeParameter: () => `1234567890123456 ${text}`,
			getInputData: () => [{ json: { text, number: 1e16 } }],
		} as unknown as IExecuteFunctions;
		return () => {
			checkNotRounded(context, 0, 'taskId', 'Task ID');
		};
	},
	'client/http#checkPublicUrl': (text) => () =>
		checkPublicUrl(`http://a.example/${text}`, { field: 'URL', allowPrivate: false }),
	'client/http#isPrivateUrl': (text) => () => {
		const url = `http://${text}`;
		return URL.canParse(url) && isPrivateUrl(url);
	},
	'client/http#excerpt': (text) => () => httpRequest.excerpt(text),
	'client/http#unexpectedResponse': (text) => () => httpRequest.unexpectedResponse(text),
	'client/http#errorDetails': (text) => () =>
		httpRequest.errorDetails({ error: { message: text, type: text }, trace_id: text }),
	'client#exceededBound': (text) => () => exceededBound(text),
	'client#bounded': (text) => {
		const list = pieces(text, 16);
		return () => bounded({ a: text, [text]: list, list: list.map(() => list) }, ['list']);
	},
	'client#readSwitch': (text) => () => readSwitch(text, 'Switch'),
	'client#readNumber': (text) => () => readNumber(text, 'Number', { min: 0 }),
	'client#readChoice': (text) => () => readChoice(text, 'Choice', ['a']),
	'client/video#createVideo': (text) => {
		const http = answers(JSON.stringify({ task_id: text }));
		return async () => await createVideo(http, { prompt: 'A', model: 'm' }, 1000);
	},
	'client/video#applyReport': (text) => () =>
		applyReport(startPoll('t', 0), { task_id: 't', status: text }, poll),
	'client/video#pollResult': (text) => () =>
		pollResult(
			applyReport(
				startPoll('t', 0),
				{ task_id: 't', status: 'failed', error_message: text },
				poll,
			),
		),
	'client/video#queryTask': (text) => {
		const http = answers(JSON.stringify({ status: text, error_message: text }));
		return async () => await queryTask(http, 't', 1000);
	},
	'shared/chat#withChatStream': (text) => async () => {
		await chatStream.withChatStream(chat() as never, 0, true, (show) => {
			pieces(text, 4).forEach(show!);
			return Promise.resolve();
		});
	},
	'client/chat#withoutThought': (text) => () => withoutThought(`<think>${text}`),
	'client#imagesAsLinks': (text) => () => {
		const shown = imagesInStream(() => false);
		return [imagesAsLinks(text, () => false), pieces(text).map((piece) => shown(piece))];
	},
	'client#imagesAsLinks in an item': (text) => () => imagesAsLinksIn({ text }),
	'shared/chat#toChatNotice': (text) => () => chatStream.toChatNotice(text),
	'shared/run#unevaluatedText': (text) => () => unevaluatedText({ prompt: text }, []),
	'shared/files#detectType': (text) => () => detectType(Buffer.from(text)),
	'client#mimeTypeOf': (text) => () => mimeTypeOf(text),
	'client#withoutFileData': (text) => () =>
		[text, `data:image/png;base64,A${text}`].map(withoutFileData),
	'shared/files#fileNameOf': (text) => () => [
		fileNameOf(text, 'video/mp4'),
		fileNameOf(`${text}.txt`, 'video/mp4'),
	],
	'shared/files#judgeFile': (text) => () => judgeFile(Buffer.from(text), text, 'video'),
	'shared/files#fileCheck': (text) => {
		const boxes = Buffer.concat([sampleFile('video/mp4'), bytes(text)]);
		return () => {
			const check = fileCheck('video/mp4', 0);
			for (let at = 0; at < boxes.length; at += 128) check.push(boxes.subarray(at, at + 128));
			check.end();
		};
	},
	'client/http#reportedError': (text) => () => {
		const error = { message: text, type: text, code: text };
		return httpRequest.reportedError('video', text, { error });
	},
	'shared/files#fieldNames': (text) => () => fieldNames(text, 'Images'),
	'shared/run#maskOf': (text) => {
		const mask = maskOf([['API Key', KEY]]);
		return () => maskIn({ text, [text]: [text] }, mask);
	},
	'shared/run#maskOf a text of cuts': (text) => {
		const mask = maskOf([['API Key', KEY]]);
		return () => maskIn({ text: text.replaceAll(/.{10}/g, '/+sk-012…') }, mask);
	},
	'shared/run#begunIn': (text) => () => begunIn(text, KEY),
	'shared/run#toNodeError': (text) => () => [
		nodeErrors.toNodeError(chat() as never, failure(text), 0),
		nodeErrors.visitorText(
			nodeErrors.toNodeError(chat() as never, new ServiceError('http', text, []), 0),
		),
		nodeErrors.errorFacts(failure(text)),
		nodeErrors.errorLine(new Error(text)),
	],
	'shared/run#begunIn in a chat': (text) => () => {
		const shown = chatStream.shownInStream([KEY], () => false);
		return pieces(text).map((piece) => shown(piece));
	},
	'shared/wait#describeVideos': (text) => {
		const lost = { name: 'a', reason: 'failed', error_message: text };
		const videos = [{ name: text, video_url: text }, lost];
		return () => [describeVideos(videos), whyLost(lost)];
	},
};

/** Those that parse the text as JSON, which ends at the first character of prose. */
const PARSED: Readonly<Record<string, Prepare>> = {
	'client/chat#completeChat instead of a stream': (text) => {
		const http = streams(text);
		return async () => await completeChat(http, SENT, STREAMED);
	},
	'shared/chat#inferSchema': (text) => () => inferSchema(parseJson(text) ?? text),
	'client/chat#withJson': (text) => {
		const send = async () => Promise.resolve(reply({ content: text }));
		return async () =>
			await withJson(send, { repairAttempts: 1 })({
				messages: [chatMessages.userMessage(text)],
			});
	},
	'client/chat#readJsonReply': (text) => () =>
		readJsonReply(reply({ content: text }), {
			repairAttempts: 0,
			schema: { type: 'object', properties: { a: { type: 'string' } } },
		}),
	'client/chat#parseMemory': (text) => () => chatMessages.parseMemory(text),
	'client/chat#readJson': (text) => () => requestFields.readJson(text, 'Field'),
	'client/chat#restoreReplies one call': (text) => {
		const asked = () => called([call('c', 'f', text)]);
		return () => chatMessages.restoreReplies([asked()], [asked()]);
	},
	'client/chat#toChatResult': (text) => () =>
		chatResult.toChatResult(reply({ content: text, tool_calls: calls(text) }), { json: text }),
	'client/chat#findMismatch': (text) => () =>
		findMismatch({ type: 'object' }, parseJson(text) ?? text),
	'client/chat#fitTo': (text) => () => fitTo({ type: 'string' }, parseJson(text) ?? [text]),
	'client/chat#readToolCall': (text) => () =>
		toolCalls.readToolCall(call('c', 'f', text), tool({ type: 'object' })),
	'client/chat#callProblem': (text) => () =>
		toolCalls.callProblem({ name: 'f', arguments: text }, ['f']),
	'client/chat#readFunction': (text) => () => [
		toolCalls.readFunction({ name: text, arguments: text }),
		toolCalls.idText(text),
		endOf(text),
	],
	'shared/run#isHollow': (text) => () => isHollow(parseJson(text) ?? [text]),
	'client/http#readJsonObject': (text) => async () =>
		await httpRequest.readJsonObject(await answers(text)({} as never)),
	'client#parseJson': (text) => () => parseJson(text),
	'client/video#queryTask an error page': (text) => {
		const http = answers(text, 'text/html', 500);
		return async () => await queryTask(http, 't', 1000);
	},
	'client/video#tasksIn': (text) => () => tasksIn(objectOf(parseJson(text))),
	'client/chat#extraFields': (text) => () => [
		requestFields.extraFields(text),
		requestFields.isJsonMode({ response_format: text }),
		chatResult.usageOf(reply({ content: text })),
	],
};

const readersOf = (rows: Readonly<Record<string, Prepare>>, parsesJson: boolean) =>
	Object.entries(rows).map(([title, read]): Reader => ({ title, parsesJson, read }));
export const READERS = [...readersOf(READ, false), ...readersOf(PARSED, true)];

/** Functions that need no row of their own, or whole folders, by the reason and by the folder. */
const EXCUSED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
	'another row runs it': {
		'client/chat':
			'splitCalls applyResult closeOpenCalls startConversation toKeep checkOrder isJsonMode usageOf idText endOf formOf objectsOf readReason parseArguments isSubset executedCalls stringOf toolCall toolMessage errorResult',
		'shared/chat': 'fileLinks forVisitors withoutKey shownInStream',
		client: 'isDataUrl withoutContent parseLoosely parseJsonObject shorten oneLine shown',
		'client/video': 'hasVideo taskState withoutFiles videoLine',
		'client/http':
			'tooLarge hostOf knownHosts isPrivateAddress bodyError errorIn messageOf readBytes send',
		'shared/run': 'errorFacts visitorFacts errorLine sentencesOf',
	},
	'it passes the text on, or looks at its kind, its length or its beginning': {
		'client/chat': 'applyStarted lastTurn withMemory withMore userMessage',
		client: 'isCanceled isOutcomeUnknown isAbout toSaved fromJson isJsonObject objectOf mapValues isBlank requestError',
		'client/http': 'transportError',
		'client/video': 'readPair maxReferences startPoll pollSummary withWords isOfVideo',
		'shared/wait': 'isLeftOut isUnsent named namingTask notCreated lostBefore askOnce',
		'shared/chat':
			'showNotice isOfVisitor rejectUndeclared enteredKey recall startOfTurn chatRows',
		'shared/files': 'fileSources hashOfFile checkHttpUrl freeField signAgain',
		'shared/run':
			'blocked failureJson stoppingError checkKey checkPrompt oneName isRounded isSingleOutput roundedError serviceOf',
		'shared/engine': 'isSignedUrl lookup ssrfErrorName toStream',
	},
	'its text is our own, or of a fixed list': {
		client: 'emptyText rejectMistakes counted',
		'shared/chat': 'shownAs readSchema textOf imageUrls outputField',
		'shared/form': '',
		'shared/durable': '',
		'shared/engine': 'entered idRange missing oneOf startWaitingNode',
		'shared/run': 'toHint nodeState ofRetry withoutKeys withStrays',
	},
	'it runs the readers for items or requests, and copies what they return': {
		FunctionCallingAgent: 'failSlots runAgent applyToolResponses',
		WaitForVideo: 'withLedger',
		'shared/wait': 'poll pollProgress',
		'client/http': 'withDeadline',
		'client/video': 'pollTasks',
		'client/chat': 'sendChat',
		'shared/chat': 'mapChats finishReply showItems appField',
		'shared/files': 'hintMissingFiles',
		'shared/run': 'isOwn mapItems joinedAttributes',
		'shared/engine': 'adapt linkedToPlaces',
	},
};
export const WITHOUT_ROW = Object.values(EXCUSED).flatMap((folders) =>
	Object.entries(folders).flatMap(([folder, names]) =>
		names.split(' ').map((name) => (name === '' ? folder : `${folder}#${name}`)),
	),
);

// cspell:ignore msvideo
import type { IExecuteFunctions } from 'n8n-workflow';

import {
	applyChunk,
	isFinished,
	startAccumulator,
	toCompletion,
} from '../../nodes/client/chat/accumulator';
import {
	callProblem,
	closeCalls,
	idText,
	progressLine,
	readFunction,
	readToolCall,
	readToolCalls,
	splitCalls,
	toolProgressEvents,
	toReplay,
	uniqueId,
} from '../../nodes/client/chat/toolCalls';
import { readMessage, withoutThought } from '../../nodes/client/chat/replyMessage';
import { completeChat, sseDecoder } from '../../nodes/client/chat/completeChat';
import {
	applyReply,
	applyResult,
	closeOpenCalls,
	startConversation,
} from '../../nodes/client/chat/conversation';
import { askAssistant, readJsonReply, withJson } from '../../nodes/client/chat/sendChat';
import { inferSchema } from '../../nodes/shared/chat/schemaForm';
import {
	checkMessages,
	checkOrder,
	limitMemory,
	parseMemory,
	restoreReplies,
	toKeep,
	userMessage,
} from '../../nodes/client/chat/messages';
import { fieldNames } from '../../nodes/shared/files/fileSource';
import { isSignedUrl } from '../../nodes/shared/engine/request';
import {
	checkTools,
	extraFields,
	isJsonMode,
	readJson,
} from '../../nodes/client/chat/requestFields';
import {
	boundedFields,
	findMedia,
	structuredMedia,
	toChatResult,
	usageOf,
	withReply,
} from '../../nodes/client/chat/result';
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
import {
	errorDetails,
	excerpt,
	readJsonObject,
	reportedError,
	unexpectedResponse,
} from '../../nodes/client/http/request';
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
import {
	fileLinks,
	toChatMessages,
	toolNames,
	toSdkResult,
} from '../../nodes/shared/chat/aiNodeSdk';
import {
	errorFacts,
	errorLine,
	toErrorText,
	toNodeError,
	visitorText,
} from '../../nodes/shared/run/nodeErrors';
import { envelopeOf } from '../../nodes/FunctionCallingAgent/matching';
import {
	showReply,
	shownInStream,
	toChatNotice,
	withChatStream,
} from '../../nodes/shared/chat/chatStream';
import { detectType, fileCheck, fileNameOf, judgeFile } from '../../nodes/shared/files/fileKind';
import { describeVideos, whyLost } from '../../nodes/shared/wait/lostVideos';
import { sampleFile } from '../support/sampleFiles';
import { isDataUrl, mimeTypeOf } from '../../nodes/client/fileTypes';
import { begunIn, maskIn, maskOf } from '../../nodes/shared/run/secrets';
import { checkNotRounded, unevaluatedText, isHollow } from '../../nodes/shared/run/parameters';

/**
 * Prepares the reading of a text; only the returned function is measured. A reader that throws an error of its own has
 * read the text.
 */
type Prepare = (text: string) => () => unknown;

export interface Reader {
	/** The function as `folder/file#function`, below nodes/. */
	readonly of: string;
	/** Where the text stands, if the function has several rows. */
	readonly where?: string;
	/** Whether the text is parsed as JSON, which ends at the first character of prose. */
	readonly parsesJson?: true;
	readonly read: Prepare;
}

/** The text in pieces, as a stream brings it. */
function pieces(text: string, length = 128): string[] {
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
	pieces(text, 64).map((piece, index) => call(`c${index}`, 'f', JSON.stringify(piece)));
const sameId = (text: string) => calls(text).map((each) => ({ ...each, id: 'c' }));
const called = (id: string, args: string): ChatMessage => ({
	role: 'assistant',
	content: null,
	tool_calls: [call(id, 'f', args)],
});
const results = (list: readonly ToolCall[]): ChatMessage[] =>
	list.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
const tool = (parameters: JsonObject) =>
	[{ type: 'function', function: { name: 'f', parameters } }] as const;
const BASE = 'http://a.example';
const LIST = { type: 'object', properties: { list: { type: 'array', uniqueItems: true } } };
const FORMATS = [
	'email',
	'uri',
	'date-time',
	'hostname',
	'ipv6',
	'regex',
	'uri-template',
	'json-pointer',
];
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
	id: '1',
	name: 'N',
	type: 't',
	typeVersion: 1,
	position: [0, 0] as [number, number],
	parameters: {},
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
		const accumulator = startAccumulator();
		for (const chunk of chunks) applyChunk(accumulator, chunk);
		return [isFinished(accumulator), toCompletion(accumulator)];
	};
}
const fragments = (text: string, fields: (index: number) => object, name?: string) =>
	pieces(text).map((piece, index) => ({
		...fields(index),
		function: { ...(name === undefined ? {} : { name }), arguments: piece },
	}));
const inOneEvent = (list: readonly object[]) => stream([asJson(delta({ tool_calls: list }))]);

const row = (of: string, read: Prepare, where?: string): Reader => ({
	of,
	read,
	...(where === undefined ? {} : { where }),
});
const jsonRow = (...fields: Parameters<typeof row>): Reader => ({
	...row(...fields),
	parsesJson: true,
});

/** Every function that reads text from the service, a file host, a model or a tool branch. */
export const READERS: readonly Reader[] = [
	row('shared/chat#toSdkResult', (text) => {
		const completion = reply({ content: `-${text}`, tool_calls: calls(text) });
		return () => [
			toSdkResult(judge(completion, 'model'), BASE),
			splitCalls(completion.choices[0]!.message),
			fileLinks(completion, BASE),
		];
	}),
	row(
		'shared/chat#toChatMessages',
		(text) => () =>
			toChatMessages([{ role: 'assistant', content: [{ type: 'text', text }] }], []),
	),
	row(
		'FunctionCallingAgent#envelopeOf',
		(text) => () =>
			envelopeOf({
				json: { tool_call: { id: text, tool: text, round: 1, conversation: 0 } },
			}),
	),
	row(
		'shared/run#toErrorText',
		(text) => () => toErrorText({ message: text, description: text }),
	),
	row('client/chat#applyChunk', (text) =>
		stream(
			pieces(text).map((content) => asJson(delta({ content, reasoning_content: content }))),
		),
	),
	row(
		'client/chat#applyChunk',
		(text) => inOneEvent(fragments(text, () => ({ index: 0 }))),
		'pieces of a call in one event',
	),
	row(
		'client/chat#applyChunk',
		(text) => inOneEvent(fragments(text, () => ({}), 'f')),
		'pieces with a name and no index',
	),
	row(
		'client/chat#applyChunk',
		(text) => inOneEvent(fragments(text, (i) => ({ id: `c${i}` }))),
		'calls without an index',
	),
	row(
		'client/chat#applyChunk',
		(text) => inOneEvent(fragments(text, (i) => ({ id: `c${i}`, index: 0 }), 'f')),
		'calls that are all numbered 0',
	),
	row(
		'client/chat#applyChunk',
		(text) => {
			const chunk = asJson(
				delta({ content: pieces(text, 16).map((part) => ({ image_url: part })) }),
			);
			return stream([chunk]);
		},
		'parts in one event',
	),
	row('client/chat#askAssistant', (text) => {
		const data = { tool: 'f', arguments: text, result: text };
		const http = answers(
			event({ extension: { type: 'tool_start', data } }) + said(text),
			'text/event-stream',
		);
		return async () => await askAssistant(http, SENT, STREAMED, clock);
	}),
	row(
		'client/chat#completeChat',
		(text) => {
			const http = answers(said(text), 'text/event-stream');
			return async () => await completeChat(http, SENT, STREAMED);
		},
		'a stream',
	),
	jsonRow(
		'client/chat#completeChat',
		(text) => {
			const http = answers(text, 'text/event-stream');
			return async () => await completeChat(http, SENT, STREAMED);
		},
		'instead of a stream',
	),
	row(
		'client/chat#completeChat',
		(text) => {
			const http = answers(JSON.stringify(reply({ content: text })));
			return async () => await completeChat(http, SENT, CHAT);
		},
		'a body',
	),
	row(
		'client/chat#completeChat',
		(text) => {
			const http = answers(
				event({ error: { message: text, type: text, code: text } }),
				'text/event-stream',
			);
			return async () => await completeChat(http, SENT, STREAMED);
		},
		'an error event',
	),
	row('client/chat#readMessage', (text) => {
		const parts = pieces(text).map((part) => ({ text: part }));
		return () => [readMessage({ content: text }), readMessage({ content: parts })];
	}),
	row('client/chat#applyReply', (text) => {
		const start = startConversation([{ role: 'user', content: 'Hi' }]);
		return () => {
			const asked = reply({ tool_calls: calls(text) });
			const next = applyReply(start, asked, tool({ type: 'object' }));
			return closeOpenCalls(
				applyResult(next, 'c0', { result: text, failed: false }, 0),
				'end',
			);
		};
	}),
	jsonRow('shared/chat#inferSchema', (text) => () => inferSchema(parseJson(text) ?? text)),
	jsonRow('client/chat#withJson', (text) => {
		const send = async () => Promise.resolve(reply({ content: text }));
		return async () =>
			await withJson(send, { repairAttempts: 1 })({ messages: [userMessage(text)] });
	}),
	jsonRow(
		'client/chat#readJsonReply',
		(text) => () =>
			readJsonReply(reply({ content: text }), {
				repairAttempts: 0,
				schema: { type: 'object', properties: { a: { type: 'string' } } },
			}),
	),
	row('shared/chat#showReply', (text) => () => {
		const onDelta = showReply(() => undefined, { reasoning: true })!;
		return pieces(text).map((piece) =>
			onDelta({ content: piece, reasoning: piece, progress: [] }),
		);
	}),
	row('client/chat#findMedia', (text) => () => findMedia(reply({ content: text }), BASE)),
	row('client/chat#structuredMedia', (text) => {
		const parts = [
			{ type: text, image_url: { url: text } },
			{ input_audio: { data: text, format: text } },
		];
		const completion = reply({ content: null, parts, images: pieces(text) });
		return () => [structuredMedia(completion, BASE), isDataUrl(text)];
	}),
	row('client/chat#limitMemory', (text) => {
		const list = calls(text);
		const messages = list.flatMap((each): ChatMessage[] => [
			{ role: 'user', content: text.slice(0, 64) },
			{ role: 'assistant', content: null, tool_calls: [each] },
			...results([each]),
		]);
		// One turn that is too long alone.
		const rounds = messages.filter(({ role }, index) => index === 0 || role !== 'user');
		return () => [
			limitMemory(messages, 1, 1),
			limitMemory(rounds, 1, 1),
			toKeep(rounds, isSignedUrl),
		];
	}),
	jsonRow('client/chat#parseMemory', (text) => () => parseMemory(text)),
	row('client/chat#checkMessages', (text) => {
		const list = calls(text);
		const messages = [
			{ role: 'user', content: text },
			{ role: 'assistant', content: null, tool_calls: list },
			...results(list).reverse(),
		];
		return () => {
			checkOrder(
				checkMessages(messages.map(asJson), 'Messages', { allowPrivate: true }),
				'Messages',
			);
		};
	}),
	jsonRow('client/chat#readJson', (text) => () => readJson(text, 'Field')),
	jsonRow(
		'client/chat#restoreReplies',
		(text) => () => restoreReplies([called('c', text)], [called('c', text)]),
		'one call',
	),
	row(
		'client/chat#restoreReplies',
		(text) => {
			const list = calls(text);
			const message: ChatMessage = { role: 'assistant', content: null, tool_calls: list };
			const again = { ...message, tool_calls: [...list].reverse() };
			return () => restoreReplies([again, ...results(list), again], [message]);
		},
		'many calls',
	),
	jsonRow(
		'client/chat#toChatResult',
		(text) => () =>
			toChatResult(reply({ content: text, tool_calls: calls(text) }), { json: text }),
	),
	row('client/chat#judge', (text) => () => [
		formOf(reply({ content: text, refusal: text }), 'reply'),
		judge(
			{ choices: [{ index: 0, message: { content: `-${text}` }, finish_reason: text }] },
			'reply',
		),
	]),
	row(
		'client/chat#boundedFields',
		(text) => () =>
			boundedFields({ id: text, model: text, choices: [{ finish_reason: text }] }),
	),
	row(
		'client/chat#withReply',
		(text) => () => withReply(failure(text), { choices: [], session_id: text }),
	),
	row('client/chat#sseDecoder', (text) => {
		const chunks = pieces(text, 64).map(bytes);
		return () => {
			const decoder = sseDecoder();
			return [chunks.map((chunk) => decoder.feed(chunk)), decoder.end()];
		};
	}),
	jsonRow(
		'client/chat#findMismatch',
		(text) => () => findMismatch({ type: 'object' }, parseJson(text) ?? text),
	),
	jsonRow(
		'client/chat#fitTo',
		(text) => () => fitTo({ type: 'string' }, parseJson(text) ?? [text]),
	),
	jsonRow(
		'client/chat#readToolCall',
		(text) => () => readToolCall(call('c', 'f', text), tool({ type: 'object' })),
	),
	row('client/chat#readToolCalls', (text) => {
		const list = calls(text);
		const tool_results = [...list]
			.reverse()
			.map(({ id }) => ({ tool_call_id: id, content: 'x' }));
		return () => readToolCalls({ content: null, tool_calls: list, tool_results });
	}),
	row(
		'client/chat#readToolCalls',
		(text) => {
			const list = sameId(text);
			const tool_results = list.map(({ id }) => ({ tool_call_id: id, content: 'x' }));
			return () => readToolCalls({ content: null, tool_calls: list, tool_results });
		},
		'calls with the same id',
	),
	row('client/chat#toReplay', (text) => () => toReplay({ content: text }, calls(text))),
	jsonRow(
		'client/chat#callProblem',
		(text) => () => callProblem({ name: 'f', arguments: text }, ['f']),
	),
	row('client/chat#closeCalls', (text) => {
		const list = calls(text);
		const message: ChatMessage = { role: 'assistant', content: null, tool_calls: list };
		return () => [
			closeCalls([message], ['g']),
			closeCalls([message, ...results(list)], ['f']),
			closeCalls([...results(list), message], ['f']),
		];
	}),
	row('client/chat#uniqueId', (text) => {
		const taken = new Map<string, number>();
		return () => pieces(text).map((piece) => uniqueId(piece.slice(0, 1), taken));
	}),
	row('shared/chat#toolNames', (text) => () => toolNames([text, ...pieces(text)])),
	jsonRow('client/chat#readFunction', (text) => () => [
		readFunction({ name: text, arguments: text }),
		idText(text),
		endOf(text),
	]),
	row('client/chat#toolProgressEvents', (text) => {
		const data = {
			tool_calls: pieces(text).map((piece) => ({ name: piece, arguments: piece })),
		};
		return () => {
			return toolProgressEvents({ type: 'tool_calls', data }).map(progressLine);
		};
	}),
	row(
		'client/chat#progressLine',
		(text) => () =>
			progressLine({ type: 'tool_start', tool: text, arguments: { text }, offset_ms: 0 }),
	),
	row(
		'client/chat#findMismatch',
		(text) => {
			const list = pieces(text, 16).map((piece, index) => `${piece}${index}`);
			return () => findMismatch(LIST, { list });
		},
		'a list of unique items',
	),
	row(
		'client/chat#findMismatch',
		(text) => {
			const parts = pieces(text, Math.ceil(text.length / FORMATS.length));
			const value = Object.fromEntries(FORMATS.map((format, i) => [format, parts[i] ?? '']));
			return () => findMismatch(FORMAT_SCHEMA, value);
		},
		'texts with a format',
	),
	row(
		'client/chat#schemaProblem',
		(text) => () =>
			schemaProblem({
				type: 'object',
				properties: { a: { type: 'string', description: text } },
			}),
	),
	row(
		'client/chat#checkTools',
		(text) => () => checkTools([{ type: 'function', function: { name: text } }], 'Tools'),
	),
	row('client/http#normalizeBaseUrl', (text) => {
		// A joined text is copied into one piece where it is first read.
		const url = Buffer.from(`http://a.example/${text}`).toString();
		return () => normalizeBaseUrl(url);
	}),
	jsonRow('shared/run#isHollow', (text) => () => isHollow(parseJson(text) ?? [text])),
	row('shared/run#checkNotRounded', (text) => {
		const context = {
			getNodeParameter: () => `1234567890123456 ${text}`,
			getInputData: () => [{ json: { text, number: 1e16 } }],
		} as unknown as IExecuteFunctions;
		return () => {
			checkNotRounded(context, 0, 'taskId', 'Task ID');
		};
	}),
	row(
		'client/http#checkPublicUrl',
		(text) => () =>
			checkPublicUrl(`http://a.example/${text}`, { field: 'URL', allowPrivate: false }),
	),
	row('client/http#isPrivateUrl', (text) => () => {
		const url = `http://${text}`;
		return URL.canParse(url) && isPrivateUrl(url);
	}),
	row('client/http#excerpt', (text) => () => excerpt(text)),
	row('client/http#unexpectedResponse', (text) => () => unexpectedResponse(text)),
	row(
		'client/http#errorDetails',
		(text) => () => errorDetails({ error: { message: text, type: text }, trace_id: text }),
	),
	jsonRow(
		'client/http#readJsonObject',
		(text) => async () => await readJsonObject(await answers(text)({} as never)),
	),
	jsonRow('client#parseJson', (text) => () => parseJson(text)),
	row('client#exceededBound', (text) => () => exceededBound(text)),
	row('client#bounded', (text) => {
		const list = pieces(text, 16);
		return () => bounded({ a: text, [text]: list, list: list.map(() => list) }, ['list']);
	}),
	row('client#readSwitch', (text) => () => readSwitch(text, 'Switch')),
	row('client#readNumber', (text) => () => readNumber(text, 'Number', { min: 0 })),
	row('client#readChoice', (text) => () => readChoice(text, 'Choice', ['a'])),
	row('client/video#createVideo', (text) => {
		const http = answers(JSON.stringify({ task_id: text }));
		return async () => await createVideo(http, { prompt: 'A', model: 'm' }, 1000);
	}),
	row(
		'client/video#applyReport',
		(text) => () => applyReport(startPoll('t', 0), { task_id: 't', status: text }, poll),
	),
	row(
		'client/video#pollResult',
		(text) => () =>
			pollResult(
				applyReport(
					startPoll('t', 0),
					{ task_id: 't', status: 'failed', error_message: text },
					poll,
				),
			),
	),
	row('client/video#queryTask', (text) => {
		const http = answers(JSON.stringify({ status: text, error_message: text }));
		return async () => await queryTask(http, 't', 1000);
	}),
	jsonRow(
		'client/video#queryTask',
		(text) => {
			const http = answers(text, 'text/html', 500);
			return async () => await queryTask(http, 't', 1000);
		},
		'an error page',
	),
	jsonRow('client/video#tasksIn', (text) => () => tasksIn(objectOf(parseJson(text)))),
	row('shared/chat#withChatStream', (text) => async () => {
		await withChatStream(chat() as never, 0, true, (show) => {
			pieces(text, 4).forEach(show!);
			return Promise.resolve();
		});
	}),
	row('client/chat#withoutThought', (text) => () => withoutThought(`<think>${text}`)),
	row('client#imagesAsLinks', (text) => () => {
		const shown = imagesInStream(() => false);
		return [imagesAsLinks(text, () => false), pieces(text).map((piece) => shown(piece))];
	}),
	row('client#imagesAsLinks', (text) => () => imagesAsLinksIn({ text }), 'in an item'),
	row('shared/chat#toChatNotice', (text) => () => toChatNotice(text)),
	row('shared/run#unevaluatedText', (text) => () => unevaluatedText({ prompt: text }, [])),
	row('shared/files#detectType', (text) => () => detectType(Buffer.from(text))),
	row('client#mimeTypeOf', (text) => () => mimeTypeOf(text)),
	row('shared/files#fileNameOf', (text) => () => [
		fileNameOf(text, 'video/mp4'),
		fileNameOf(`${text}.txt`, 'video/mp4'),
	]),
	row('shared/files#judgeFile', (text) => () => judgeFile(Buffer.from(text), text, 'video')),
	row('shared/files#fileCheck', (text) => {
		const boxes = Buffer.concat([sampleFile('video/mp4'), bytes(text)]);
		return () => {
			const check = fileCheck('video/mp4', 0);
			for (let at = 0; at < boxes.length; at += 128) check.push(boxes.subarray(at, at + 128));
			check.end();
		};
	}),
	row('client/http#reportedError', (text) => () => {
		const error = { message: text, type: text, code: text };
		return reportedError('video', text, { error });
	}),
	row('shared/files#fieldNames', (text) => () => fieldNames(text, 'Images')),
	row('shared/run#maskOf', (text) => {
		const mask = maskOf([['API Key', KEY]]);
		return () => maskIn({ text, [text]: [text] }, mask);
	}),
	row(
		'shared/run#maskOf',
		(text) => {
			const mask = maskOf([['API Key', KEY]]);
			return () => maskIn({ text: text.replaceAll(/.{10}/g, '/+sk-012…') }, mask);
		},
		'a text of cuts',
	),
	row('shared/run#begunIn', (text) => () => begunIn(text, KEY)),
	row('shared/run#toNodeError', (text) => () => [
		toNodeError(chat() as never, failure(text), 0),
		visitorText(toNodeError(chat() as never, new ServiceError('http', text, []), 0)),
		errorFacts(failure(text)),
		errorLine(new Error(text)),
	]),
	row(
		'shared/run#begunIn',
		(text) => () => {
			const shown = shownInStream([KEY], () => false);
			return pieces(text).map((piece) => shown(piece));
		},
		'in a chat',
	),
	row('shared/wait#describeVideos', (text) => {
		const lost = { name: 'a', reason: 'failed', error_message: text };
		const videos = [{ name: text, video_url: text }, lost];
		return () => [describeVideos(videos), whyLost(lost)];
	}),
	jsonRow('client/chat#extraFields', (text) => () => [
		extraFields(text),
		isJsonMode({ response_format: text }),
		usageOf(reply({ content: text })),
	]),
];

const inFolder = (folder: string, names: string): readonly string[] =>
	names.split(' ').map((name) => `${folder}#${name}`);

/** Functions that need no row of their own, by the reason. */
export const WITHOUT_ROW: Readonly<Record<string, readonly string[]>> = {
	'another row runs it': [
		...inFolder(
			'client/chat',
			'splitCalls applyResult closeOpenCalls startConversation toKeep checkOrder isJsonMode usageOf idText endOf formOf objectsOf readReason parseArguments isSubset executedCalls stringOf toolCall toolMessage errorResult',
		),
		...inFolder('shared/chat', 'fileLinks forVisitors withoutKey shownInStream'),
		...inFolder(
			'client',
			'isDataUrl withoutContent parseLoosely parseJsonObject shorten oneLine shown',
		),
		...inFolder('client/video', 'hasVideo taskState withoutFiles videoLine'),
		...inFolder(
			'client/http',
			'tooLarge hostOf knownHosts isPrivateAddress bodyError errorIn messageOf readBytes send',
		),
		...inFolder('shared/run', 'errorFacts visitorFacts errorLine sentencesOf'),
	],
	'it passes the text on, or looks at its kind, its length or its beginning': [
		...inFolder('client/chat', 'applyStarted lastTurn withMemory withMore userMessage'),
		...inFolder(
			'client',
			'isCanceled isOutcomeUnknown isAbout toSaved fromJson isJsonObject objectOf mapValues isBlank requestError',
		),
		...inFolder('client/http', 'transportError'),
		...inFolder('client/video', 'readPair maxReferences startPoll pollSummary withWords'),
		...inFolder(
			'shared/wait',
			'checkTaskId isLeftOut isUnsent named namingTask notCreated lostBefore askOnce',
		),
		...inFolder(
			'shared/chat',
			'showNotice isOfVisitor rejectUndeclared keyOf recall startOfTurn chatRows',
		),
		...inFolder('shared/files', 'fileSources hashOfFile checkHttpUrl freeField signAgain'),
		...inFolder(
			'shared/run',
			'blocked failureJson stoppingError checkKey checkPrompt oneName isRounded isSingleOutput roundedError serviceOf',
		),
		...inFolder('shared/engine', 'isSignedUrl lookup ssrfErrorName toStream'),
	],
	'its text is our own, or of a fixed list': [
		...inFolder('client', 'emptyText rejectMistakes counted'),
		...inFolder('shared/chat', 'shownAs readSchema textOf imageUrls outputField'),
		...inFolder('shared/files', 'signedFileUrl'),
		'shared/form',
		'shared/durable',
		...inFolder('shared/engine', 'entered idRange missing oneOf'),
		...inFolder('shared/run', 'toHint nodeState withoutKeys withStrays'),
	],
	'it runs the readers for items or requests, and copies what they return': [
		...inFolder('FunctionCallingAgent', 'failSlots runAgent applyToolResponses'),
		...inFolder('WaitForVideo', 'withLedger'),
		...inFolder('shared/wait', 'poll pollProgress'),
		...inFolder('client/http', 'withDeadline'),
		...inFolder('client/video', 'pollTasks'),
		...inFolder('client/chat', 'sendChat'),
		...inFolder('shared/chat', 'mapChats finishReply showItems appField'),
		...inFolder('shared/files', 'hintMissingFiles'),
		...inFolder('shared/run', 'isOwn mapItems joinedAttributes'),
		...inFolder('shared/engine', 'adapt linkedToPlaces'),
	],
};

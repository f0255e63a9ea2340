// cspell:ignore AAAAA
import { gzipSync } from 'node:zlib';

import { begin, drip, forever } from '../faults/acts';
import { chunk, event, stream } from '../faults/answers';
import type { Operation } from '../faults/operations';
import { thorough } from '../support/thorough';
import {
	byCodes,
	changed,
	MEGABYTE,
	pour,
	raw,
	reject,
	replaced,
	send,
	type Attacker,
	type Exchange,
} from './exchange';

/** What a service, or a proxy in front of it, can do to a node; `act` responds to every request after the good ones. */
export interface Attack {
	readonly title: string;
	readonly act: Attacker;
	/** Whether the operation succeeds in spite of it; undefined where both are right. */
	readonly ends?: 'well' | 'badly';
	/** The operations that it is one for; default: all. */
	readonly on?: (operation: Operation) => boolean;
	/** Whether the settings of a node and the operation make a difference; default: only the first settings are tried. */
	readonly everyWay?: boolean;
	/** Number of attacked requests; default: all. */
	readonly count?: number;
	/** Maximum size of the saved execution in kB. */
	readonly maxKilobytes?: number;
	/** Maximum number of bytes that the service may send in MB. */
	readonly maxMegabytes?: number;
}

/** A text that an error must not show to the visitors of a chat. */
export const STRANGER = 'Words of a stranger';
/** Bidirectional controls, zero-width characters, an escape sequence and NUL: they hide what a text says. */
const UNSEEN = '\u202e\u2066\u200b\u0000\u001b[2J\u0085';

const isChat = ({ node }: Operation) => !/video$/i.test(node) || node === 'agentVideoChatModel';
const isStream = ({ answers }: Operation) => answers.at(-1)!.isStream;
const hasTools = ({ node }: Operation) => node === 'functionCallingAgent';

/** More tool calls, and more choices, than are read. */
const CALLS = thorough(2_000, 10_000);
const CHOICES = thorough(40_000, 100_000);
/** Almost the limit of a body, or of an event. */
const huge = ({ answer }: Exchange) =>
	'x'.repeat((answer.isStream ? 7 : thorough(15, 30)) * MEGABYTE);

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
/** Characters of a text that a parser, a pattern or a page may be slow with. */
const MANY = thorough(MEGABYTE / 4, MEGABYTE);
/** More levels than any recursion survives. */
const DEEP = nested(100_000);
const MARKER = /"deep-value"/;
/** An ID that a number would round to another one. */
const LARGE_ID = '9007199254740993';

/** The headers of the request in the forms in which servers and proxies quote them. */
function quoted({ request }: Exchange): string {
	const quotes = ['authorization', 'x-gateway-key'].map((name) =>
		quotesOf(String(request.headers[name] ?? '')),
	);
	return [JSON.stringify(request.headers), ...quotes].join(' ; ');
}

const bearer = ({ request }: Exchange) => String(request.headers.authorization);
function quotesOf(header: string): string {
	const key = header.replace('Bearer ', '');
	const base64 = (text: string) => Buffer.from(text).toString('base64');
	const percent = encodeURIComponent(key);
	return [
		`Authorization: ${header}`,
		`key=${key}`,
		base64(key),
		base64(header),
		base64(`user:${key}`),
		Buffer.from(header).toString('base64url'),
		percent,
		percent.toLowerCase(),
		encodeURIComponent(header),
	].join(' ; ');
}

/** Quotes the headers where the call fails. */
const quote = (title: string, act: Attacker, on?: Attack['on']): Attack => ({
	title: `quotes headers in ${title}`,
	act,
	ends: 'badly',
	everyWay: true,
	...(on && { on }),
});

/** Sends tool calls, then the valid reply when it has results. */
const toolCalls =
	(calls: readonly unknown[]): Attacker =>
	(exchange) => {
		const events = calls.map((each) =>
			chunk({ tool_calls: Array.isArray(each) ? each : [each] }),
		);
		const { pieces } = exchange.index === 0 ? stream(events, 'tool_calls') : exchange.answer;
		send(exchange, pieces.join(''));
	};

const call = (args: string, more: object = {}, index = 0) => ({
	index,
	id: `hostile-${index}`,
	type: 'function',
	function: { name: 'depth', arguments: args },
	...more,
});

/** Fields that say what a response is, and where its file is. */
const KINDS = ['role', 'type', 'status', 'finish_reason', 'object', 'video_url'];

/** The fields with this text in place of each of theirs. */
function withText(value: unknown, text: string): unknown {
	if (typeof value === 'string') return text;
	if (typeof value !== 'object' || value === null) return value;
	if (Array.isArray(value)) return value.map((each) => withText(each, text));
	const entries = Object.entries(value).map(([name, each]: [string, unknown]) => [
		name,
		KINDS.includes(name) ? each : withText(each, text),
	]);
	return Object.fromEntries(entries);
}

/** Characters that a parser, a pattern or a page may be slow with. */
const SUSPICIOUS: Readonly<Record<string, string>> = {
	'line separators': '\u2028',
	NUL: '\0',
	'opening angle brackets': '<',
	'beginnings of images': '![',
	'half surrogates': '\ud83d',
	'combining characters': '\u0301',
};

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then'];
/** An object with the names of fields that every object has. */
const POLLUTION = `{${NAMES.map((name) => `"${name}":{"polluted":true,"isAdmin":true}`).join()}}`;
const HTTP = 'HTTP/1.1 200 OK\r\n';
const JSON_HEADER = 'content-type: application/json\r\n';

/** A line of a stream that is as long as many, on each change: it takes as many bytes to the same limit, and less time. */
const line = (short: string) => thorough(short.repeat(100), short);

/** A response of this type without end: what it begins with, then a piece again and again. */
const endless = (
	title: string,
	type: string,
	piece: string,
	begins: (exchange: Exchange) => string = () => '',
): Attack => ({
	title: `endless ${title}`,
	ends: 'badly',
	act: (exchange) => {
		exchange.response.writeHead(200, { 'content-type': type });
		exchange.response.write(begins(exchange));
		pour(exchange.response, piece.repeat(Math.ceil((64 * 1024) / piece.length)));
	},
	...(type === 'text/event-stream' && { on: isStream }),
});

/** An error of the service whose JSON cannot be built. */
function sendError({ response }: Exchange, text: string): void {
	response.writeHead(400, { 'content-type': 'application/json' });
	response.end(text);
}

/** Every attack of the service, one per row. */
export const SERVICE_ATTACKS: readonly Attack[] = [
	quote('the message of a 400', (exchange) => {
		reject(exchange, 400, { message: `${STRANGER}: ${quoted(exchange)}` });
	}),
	quote('type and trace ID of a 403', (exchange) => {
		const text = quoted(exchange);
		const error = { message: STRANGER, type: text, code: text };
		reject(exchange, 403, error, { trace_id: text });
	}),
	quote('an error message, every character percent-encoded or escaped', (exchange) => {
		const key = bearer(exchange);
		const text = `${STRANGER}: ${byCodes(key, '%')} ${byCodes(key, '\\u00')}`;
		reject(exchange, 400, { message: text, type: text });
	}),
	quote('the page of a 502', (exchange) => {
		const { response } = exchange;
		response.writeHead(502, { 'content-type': 'text/html' });
		response.end(`<h1>Bad gateway</h1><pre>${quoted(exchange).replaceAll('"', "'")}</pre>`);
	}),
	quote('a page with status 200', (exchange) => {
		exchange.response.writeHead(200, { 'content-type': 'text/html' });
		exchange.response.end(`<pre>${quoted(exchange)}</pre>`);
	}),
	quote('truncated JSON', (exchange) => {
		send(exchange, `{"echo":${JSON.stringify(quoted(exchange))},`);
	}),
	quote('an error with status 200', (exchange) => {
		const text = `${STRANGER}: ${quoted(exchange)}`;
		const error = JSON.stringify({ error: { message: text, type: text }, trace_id: text });
		send(exchange, exchange.answer.isStream ? event(error) : error);
	}),
	quote(
		'an event named error',
		(exchange) => {
			const error = JSON.stringify({ message: `${STRANGER}: ${quoted(exchange)}` });
			send(exchange, `${exchange.answer.pieces[0]!}event: error\n${event(error)}`);
		},
		isStream,
	),
	quote(
		'a failed task',
		changed((fields, exchange) => {
			const text = quoted(exchange);
			return { ...fields, status: 'failed', reason: text, error: { message: text } };
		}),
		({ node }) => node === 'waitForVideo',
	),
	{
		title: 'quotes headers in every other field',
		act: changed((fields, exchange) => {
			const text = quoted(exchange);
			const ids = { model: text, trace_id: text, id: text, reason: text, session_id: text };
			return { ...fields, ...ids, debug: { headers: [text] } };
		}),
		everyWay: true,
	},
	...Object.entries(SUSPICIOUS).map(([name, piece]): Attack => ({
		title: `many ${name} in each text`,
		act: changed((fields) => withText(fields, piece.repeat(MANY / piece.length))),
		// The text of a reply is kept whole.
		maxKilobytes: 20_000,
		count: 3,
	})),
	...Object.entries<Attacker>({
		'1 MB of <script in a 502': ({ response }) => {
			response.writeHead(502, { 'content-type': 'text/html' });
			response.end('<script'.repeat(MEGABYTE / 7));
		},
		'30 MB in an error message': (exchange) => {
			reject(exchange, 400, { message: 'x'.repeat(30 * MEGABYTE) });
		},
		'30 MB in the type and trace ID of an error': (exchange) => {
			const half = 'y'.repeat(14 * MEGABYTE);
			reject(exchange, 403, { message: STRANGER, type: half }, { trace_id: half });
		},
		'an error of a hundred thousand levels': (exchange) => {
			sendError(exchange, `{"error":{"message":${DEEP}},"trace_id":${DEEP}}`);
		},
		'names of prototypes in an error': (exchange) => {
			const names = `"__proto__":${POLLUTION},"error":${POLLUTION}`;
			sendError(exchange, `{${names},"trace_id":"constructor"}`);
		},
		'invisible characters in an error': (exchange) => {
			const text = `Fine${UNSEEN}`;
			reject(exchange, 400, { message: text, type: text }, { trace_id: text });
		},
		'JSON of two million levels': (exchange) => {
			const deepest = nested(2_000_000);
			send(exchange, exchange.answer.isStream ? event(deepest) : deepest);
		},
		'a body in UTF-16': (exchange) => {
			send(exchange, Buffer.from(exchange.answer.pieces.join(''), 'utf16le'));
		},
		'Content-Length below the body': (exchange) => {
			const text = exchange.answer.pieces.join('');
			raw(exchange, `${HTTP}${JSON_HEADER}content-length: 9\r\n\r\n${text}`);
		},
		'bytes that are no HTTP': (exchange) => {
			raw(exchange, Buffer.alloc(64 * 1024, 0xff));
		},
		'headers of one megabyte': (exchange) => {
			raw(exchange, `${HTTP}x-a: ${'a'.repeat(MEGABYTE)}\r\n\r\n{}`);
		},
		'a switch to another protocol': (exchange) => {
			raw(
				exchange,
				'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n\x81\x05Hello',
			);
		},
		'no content': ({ response }) => {
			response.writeHead(204).end();
		},
		'gzip of much more than is read': (exchange) => {
			const bomb = gzipSync(Buffer.alloc(thorough(32, 400) * MEGABYTE));
			send(exchange, bomb, { 'content-encoding': 'gzip' });
		},
		'gzip that is none': (exchange) => {
			send(exchange, exchange.answer.pieces.join(''), { 'content-encoding': 'gzip' });
		},
		'endless slow keep-alive': ({ response, answer, time }) => {
			begin(response, answer);
			drip(response, time, forever(answer.isStream ? ': still there\n\n' : ' '));
		},
		'redirect without a location': ({ response }) => {
			response.writeHead(302).end();
		},
		'redirect whose address quotes the key': (exchange) => {
			const target = `http://other.example.net/?${quoted(exchange)}`;
			exchange.response.writeHead(307, { location: target.replaceAll(/[{}" ]/g, '+') }).end();
		},
	}).map(([title, act]): Attack => ({ title, act, ends: 'badly' })),
	{
		title: 'almost the limit in the status',
		act: changed((fields, exchange) => {
			if ('status' in fields) return { ...fields, status: huge(exchange) };
			const [choice] = (fields['choices'] ?? []) as { finish_reason?: string }[];
			if (choice?.finish_reason === undefined) return fields;
			return { ...fields, choices: [{ ...choice, finish_reason: huge(exchange) }] };
		}),
		// Three such statuses show what is kept of each; then the task is completed.
		count: 3,
	},
	{
		title: 'almost the limit in an ID',
		act: changed((fields, exchange) => {
			if ('task_id' in fields) return { ...fields, task_id: huge(exchange) };
			return 'model' in fields ? { ...fields, session_id: huge(exchange) } : fields;
		}),
		count: 3,
	},
	{
		title: 'a field of a hundred thousand levels',
		act: replaced(
			changed((fields) => ({ ...fields, usage: 'deep-value', result: 'deep-value' })),
			MARKER,
			() => DEEP,
		),
	},
	{
		title: 'a field of ninety levels beside escaped letters',
		ends: 'well',
		act: replaced(
			changed((fields) => ({ ...fields, usage: 'deep-value', debug: 'escaped' })),
			/"(?:deep-value|escaped)"/,
			(marker) => (marker === '"escaped"' ? '"\\u005f\\u0000"' : nested(90)),
		),
		count: 3,
	},
	{
		title: 'results of tools of twenty thousand objects, with a large number in the last one',
		act: replaced(
			changed((fields) => ({ ...fields, extension: 'deep-value' })),
			MARKER,
			() => {
				const levels = 20_000;
				const deepest = `${'{"a":'.repeat(levels)}${LARGE_ID}${'}'.repeat(levels)}`;
				return `{"type":"tool_calls","data":{"tool_calls":[{"result":${deepest}}]}}`;
			},
		),
		count: 3,
	},
	{
		title: 'tool arguments of a hundred thousand levels',
		act: toolCalls([call(`{"a":${DEEP}}`)]),
		on: hasTools,
	},
	{
		title: 'names of prototypes as fields',
		act: replaced(
			changed((fields) => ({ ...fields, usage: 'deep-value', extra: 'deep-value' })),
			MARKER,
			() => POLLUTION,
		),
	},
	{
		title: 'names of prototypes as values',
		act: changed((fields) => {
			const names = Object.fromEntries(
				Object.entries(fields).map(([name, value]) => [
					name,
					typeof value === 'string' && name !== 'video_url' ? 'constructor' : value,
				]),
			);
			return { ...names, session_id: '__proto__', trace_id: 'hasOwnProperty' };
		}),
		count: 3,
	},
	endless('body', 'application/json', 'a', () => '{"a":"'),
	endless('page', 'text/html', '<p>'),
	endless('keep-alive comments', 'text/event-stream', `: ${line('still there')}\n\n`),
	endless('line of an event', 'text/event-stream', 'a', () => 'data: '),
	endless('lines of an event', 'text/event-stream', `data: ${line('1')}\n`),
	endless(
		'carriage returns after an event',
		'text/event-stream',
		thorough(`${'\r'.repeat(32 * 1024)}: ${'a'.repeat(32 * 1024)}\n`, '\r'),
		({ answer }) => answer.pieces[0]!,
	),
	{
		title: 'thousands of tool calls at once',
		act: toolCalls([
			Array.from({ length: CALLS }, (_, index) => call('{}', { id: `c-${index}` }, index)),
		]),
		on: hasTools,
		maxKilobytes: 20_000,
	},
	{
		title: 'positions of tool calls that are none',
		act: toolCalls(
			[-1, 4_294_967_295, 1e308, '__proto__', null].map((index) => ({
				...call('{}'),
				index,
			})),
		),
		on: hasTools,
	},
	{
		title: 'tools and calls with names of prototypes',
		act: toolCalls(
			NAMES.map((name, index) =>
				call('{}', { id: name, function: { name, arguments: '{}' } }, index),
			),
		),
		on: hasTools,
	},
	{
		title: 'Content-Length above the body',
		act: (exchange) => {
			const text = exchange.answer.pieces.join('');
			const type = exchange.answer.isStream ? 'text/event-stream' : 'application/json';
			raw(
				exchange,
				`${HTTP}content-type: ${type}\r\ncontent-length: ${text.length + 999}\r\n\r\n${text}`,
			);
		},
	},
	{
		title: 'a compression that does not exist',
		act: (exchange) => {
			send(exchange, exchange.answer.pieces.join(''), { 'content-encoding': 'zip, own' });
		},
	},
	{
		title: 'choices, usage and IDs of other types',
		act: changed((fields) => ({
			...fields,
			choices: { 0: null },
			usage: ['a'],
			task_id: { a: 1 },
			status: 7,
			video_url: ['a'],
			trace_id: { toString: 1 },
			session_id: [1],
		})),
		count: 3,
	},
	{
		title: 'tens of thousands of choices',
		act: changed((fields) => ({
			...fields,
			choices: Array.from({ length: CHOICES }, (_, index) => ({
				index,
				message: { role: 'assistant', content: 'a' },
				delta: { content: 'a' },
			})),
		})),
		on: (operation) => isChat(operation) && !isStream(operation),
		maxKilobytes: 40_000,
	},
	{
		title: 'figures of usage that are none',
		act: changed((fields) => ({
			...fields,
			usage: {
				prompt_tokens: -1e308,
				completion_tokens: '9'.repeat(400),
				total_tokens: null,
			},
		})),
	},
];

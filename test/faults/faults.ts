import type { ServerResponse } from 'node:http';

import {
	afterFirstPiece,
	answerWell,
	begin,
	drip,
	forever,
	errorStatus,
	withPieces,
	type Act,
	type World,
} from './acts';
import { event } from './answers';

/** Something that goes wrong between a node and the service. */
export interface Fault {
	readonly title: string;
	/** The base URL of the credential; default: the service. */
	readonly address?: (world: World) => string;
	/** Whether no server listens at the address. */
	readonly isUnreachable?: boolean;
	/** Number of requests that it affects; default: 1. */
	readonly count?: number;
	/** Whether the service may have processed an affected request; default: it may. */
	readonly mayBeDone?: boolean;
	/** Responds in place of the valid response. */
	readonly act?: Act;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const MEGABYTE = 1024 * 1024;
/** Larger than the limits of an event and of a body. */
const GIANT_EVENT = Buffer.from(event('a'.repeat(9 * MEGABYTE)));
const GIANT_BODY = Buffer.alloc(17 * MEGABYTE, 'a');

const status = (code: number): Fault => ({
	title: `status ${code}`,
	count: Infinity,
	mayBeDone: false,
	act: errorStatus(code),
});

/** Changes the system clock while the node waits before a retry. */
const clockSet = (title: string, byMs: number): Fault => ({
	title,
	mayBeDone: false,
	act: (response, answer, world) => {
		setTimeout(() => {
			world.time.moveSystemClock(byMs);
		}, 500);
		errorStatus(429, () => ({ 'retry-after': '2' }))(response, answer, world);
	},
});

const HTML_PAGE = '<!DOCTYPE html><html><body><h1>Log in first</h1></body></html>';

/** A page of a proxy or of another server. */
const page =
	(code: number): Act =>
	(response) => {
		response.writeHead(code, { 'content-type': 'text/html' }).end(HTML_PAGE);
	};

const reset = (response: ServerResponse) => {
	response.socket?.resetAndDestroy();
};

/** Every fault of the matrix, one per row. */
export const FAULTS = {
	refused: {
		title: 'connection refused',
		address: () => 'http://127.0.0.1:1',
		isUnreachable: true,
		mayBeDone: false,
	},
	dns: {
		title: 'host name not found',
		// A label of more than 63 letters fails without a DNS request.
		address: () => `http://${'a'.repeat(64)}.invalid`,
		isUnreachable: true,
		mayBeDone: false,
	},
	resetBefore: { title: 'reset before the headers', act: reset },
	resetAfter: { title: 'reset after the headers', act: afterFirstPiece(reset) },
	stall: {
		title: 'no response',
		act: (response, _answer, { time }) => {
			time.hold(response);
		},
	},
	stallAfter: {
		title: 'no more data after the first piece',
		act: afterFirstPiece((response, { time }) => {
			time.hold(response);
		}),
	},
	drip: {
		title: 'slow response',
		act: (response, answer, { time }) => {
			begin(response, answer);
			const text = answer.pieces.join('');
			const drop = Math.ceil(text.length / 20);
			drip(response, time, text.match(new RegExp(`[^]{1,${drop}}`, 'g'))!);
		},
	},
	endlessDrip: {
		title: 'endless slow response',
		act: (response, answer, { time }) => {
			begin(response, answer);
			drip(response, time, forever(answer.isStream ? ': still there\n\n' : ' '));
		},
	},
	endlessHeaders: {
		title: 'endless slow headers',
		act: (response, _answer, { time }) => {
			drip(response.socket!, time, ['HTTP/1.1 200 OK\r\nx-dots: ', ...forever('x')]);
		},
	},
	cutJson: { title: 'truncated JSON', act: withPieces(([first = '']) => [first]) },
	cutSse: {
		title: 'truncated SSE',
		act: withPieces(([first = '', second = '']) => [first, second.slice(0, second.length / 2)]),
	},
	errorEvent: {
		title: 'error event in the stream',
		act: withPieces(([first = '']) => [
			first,
			event('{"error": {"message": "Own words", "type": "own_type"}, "trace_id": "trace-e"}'),
		]),
	},
	html502: {
		title: 'HTML 502 from nginx',
		address: ({ nginxUrl }) => nginxUrl,
		act: (response) => {
			response.socket?.destroy();
		},
	},
	nginx: {
		title: 'buffering and compressing nginx',
		address: ({ nginxUrl }) => nginxUrl,
		act: answerWell,
	},
	rateLimit: {
		title: '429 with Retry-After',
		mayBeDone: false,
		act: errorStatus(429, () => ({ 'retry-after': '7' })),
	},
	rateLimitLong: {
		title: '429 with one hour in Retry-After',
		count: Infinity,
		mayBeDone: false,
		act: errorStatus(429, () => ({ 'retry-after': '3600' })),
	},
	rateLimitPlain: { title: '429 without Retry-After', mayBeDone: false, act: errorStatus(429) },
	unavailableOnce: { title: '503 once', act: errorStatus(503) },
	unavailable: { title: '503 every time', count: Infinity, act: errorStatus(503) },
	status400: status(400),
	status401: status(401),
	status402: status(402),
	status403: status(403),
	status406: status(406),
	status404: status(404),
	status409: status(409),
	html404: { title: 'HTML 404 of a proxy, once', mayBeDone: false, act: page(404) },
	html404Always: {
		title: 'HTML 404 of another server',
		count: Infinity,
		mayBeDone: false,
		act: page(404),
	},
	redirect307: {
		title: 'redirect to another host',
		count: Infinity,
		mayBeDone: false,
		act: (response, _answer, { otherUrl }) => {
			response.writeHead(307, { location: `${otherUrl}/elsewhere` }).end();
		},
	},
	htmlPage: { title: 'HTML page with status 200', act: page(200) },
	htmlPageAlways: {
		title: 'HTML page with status 200, every time',
		count: Infinity,
		act: page(200),
	},
	emptyBody: { title: 'empty body', act: withPieces(() => []) },
	invalidUtf8: {
		title: 'invalid UTF-8',
		act: withPieces((pieces) =>
			pieces.flatMap((piece) => {
				const [before = '', ...after] = piece.split('chat-m1');
				return after.length === 0
					? [piece]
					: [before, Buffer.from([0xff, 0xc3, 0x28]), after.join('')];
			}),
		),
	},
	giant: {
		title: 'oversized event or body',
		act: (response, answer) => {
			begin(response, answer);
			response.write(answer.pieces[0]);
			response.end(answer.isStream ? GIANT_EVENT : GIANT_BODY);
		},
	},
	unknownStatus: {
		title: 'unknown status value',
		act: withPieces((pieces) =>
			pieces.map((piece) => piece.replace(/queued|processing|stop|tool_calls"}/, 'dreaming')),
		),
	},
	clockForward: clockSet('clock set forward by a day', DAY_MS),
	clockBack: clockSet('clock set back by a day', -DAY_MS),
} as const satisfies Record<string, Fault>;

export type FaultId = keyof typeof FAULTS;

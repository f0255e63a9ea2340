import { setImmediate } from 'node:timers/promises';
import { errorBody } from '../errors';
import type { BodyFault, BodyFaults, BodyPosition } from './fault';

type Body = AsyncIterable<Buffer>;

/** Connection of a response, as far as faults control it. */
export interface Connection {
	/** Sends the headers unless they have been sent. */
	flush(): void;
	/** Closes the connection (FIN); bytes already sent still arrive. */
	close(): void;
	/** Resets the connection (RST). */
	reset(): void;
}

/** Bytes that are neither valid UTF-8 nor JSON, terminated like a server-sent event. */
const GARBAGE = Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0xc3, 0x28, 0x0a, 0x0a]);

/** Units of a position in a body: events (one per chunk) or bytes. */
function measure({ afterEvents = 0, afterBytes }: BodyPosition) {
	const isBytes = afterBytes !== undefined;
	return {
		left: isBytes ? afterBytes : afterEvents,
		length: (chunk: Buffer) => (isBytes ? chunk.length : 1),
		/** Number of bytes of a chunk before the position, for the remaining distance. */
		bytes: (left: number) => (isBytes ? left : 0),
	};
}

/** The part of a body before a position. One chunk is one event. */
async function* takeUntil(body: Body, place: BodyPosition): AsyncGenerator<Buffer> {
	const { length, bytes, ...start } = measure(place);
	let { left } = start;
	if (left === 0) return;
	for await (const chunk of body) {
		yield left < length(chunk) ? chunk.subarray(0, bytes(left)) : chunk;
		left -= length(chunk);
		if (left <= 0) return;
	}
}

/** Inserts bytes into a body at a position, or at the end of a shorter body. */
async function* insertAt(body: Body, place: BodyPosition, extra: Buffer): AsyncGenerator<Buffer> {
	const { length, bytes, ...start } = measure(place);
	let { left } = start;
	for await (const chunk of body) {
		const cut = left >= 0 && left < length(chunk) ? bytes(left) : undefined;
		yield cut === undefined
			? chunk
			: Buffer.concat([chunk.subarray(0, cut), extra, chunk.subarray(cut)]);
		left = cut === undefined ? left - length(chunk) : -1;
	}
	if (left >= 0) yield extra;
}

/** Sends the headers and `sent`, then calls `end` to break the connection. */
async function* sendThenEnd(
	sent: Body,
	connection: Connection,
	end: () => void,
): AsyncGenerator<Buffer> {
	connection.flush();
	yield* sent;
	// Two turns of the event loop, so that the last chunk is written to the socket first.
	await setImmediate();
	await setImmediate();
	end();
}

const errorEvent = (message: string): Buffer =>
	Buffer.from(`data: ${JSON.stringify(errorBody(503, message))}\n\n`);

type BodyFaultHandlers = {
	readonly [Kind in keyof BodyFaults]: (
		body: Body,
		fault: BodyFaults[Kind],
		connection: Connection,
	) => Body;
};

/** Effect of each kind of fault on a body. */
const HANDLERS: BodyFaultHandlers = {
	resetBody: (body, fault, connection) =>
		sendThenEnd(takeUntil(body, fault), connection, () => {
			connection.reset();
		}),
	cut: (body, fault, connection) =>
		sendThenEnd(takeUntil(body, fault), connection, () => {
			connection.close();
		}),
	async *stallBody(body, fault, connection) {
		connection.flush();
		yield* takeUntil(body, fault);
		// Never settles: the client disconnects or the server is closed.
		await new Promise(() => undefined);
	},
	holdBody: (body) => body,
	async *split(body, { bytes = 1 }) {
		for await (const chunk of body) {
			for (let start = 0; start < chunk.length; start += bytes) {
				yield chunk.subarray(start, start + bytes);
				await setImmediate();
			}
		}
	},
	garbage: (body, fault) => insertAt(body, fault, GARBAGE),
	insert: (body, fault) => insertAt(body, fault, Buffer.from(fault.text)),
	async *errorEvent(body, { message = 'Interface call abnormal.', ...place }) {
		yield* takeUntil(body, place);
		yield errorEvent(message);
	},
	async *missingDone(body) {
		for await (const chunk of body) if (!chunk.includes('data: [DONE]')) yield chunk;
	},
	async *duplicate(body, { event = 1 }) {
		let number = 0;
		for await (const chunk of body) {
			yield chunk;
			number += 1;
			if (number === event) yield chunk;
		}
	},
	async *set(body, { fields }) {
		const chunks: Buffer[] = [];
		for await (const chunk of body) chunks.push(chunk);
		const json = JSON.parse(Buffer.concat(chunks).toString()) as object;
		yield Buffer.from(JSON.stringify({ ...json, ...fields }));
	},
	contentType: (body) => body,
};

/** Applies a fault to a response body. */
export function applyBodyFault(body: Body, fault: BodyFault, connection: Connection): Body {
	const change = HANDLERS[fault.kind] as (
		body: Body,
		fault: BodyFault,
		connection: Connection,
	) => Body;
	return change(body, fault, connection);
}

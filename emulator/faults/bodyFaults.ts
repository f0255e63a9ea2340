import { setImmediate } from 'node:timers/promises';
import { errorBody } from '../errors';
import type { BodyFault, Place } from './fault';

type Body = AsyncIterable<Buffer>;

/** What a fault can do to the connection under a body. */
export interface Connection {
	/** Sends the headers if they have not gone out. */
	flush(): void;
	/** Closes it; what was sent arrives. */
	close(): void;
	/** Breaks it off. */
	reset(): void;
}

/** Bytes that are no UTF-8 and no JSON, as an event of their own. */
const GARBAGE = Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0xc3, 0x28, 0x0a, 0x0a]);

/** How far a place is into a body, and how far each chunk leads towards it. */
function distance({ afterEvents = 0, afterBytes }: Place) {
	const isBytes = afterBytes !== undefined;
	return {
		left: isBytes ? afterBytes : afterEvents,
		length: (chunk: Buffer) => (isBytes ? chunk.length : 1),
		/** How many bytes of a chunk lie before the place, when so much is left. */
		bytes: (left: number) => (isBytes ? left : 0),
	};
}

/** The part of a body before a place. One chunk is one event. */
async function* before(body: Body, place: Place): AsyncGenerator<Buffer> {
	const { length, bytes, ...start } = distance(place);
	let { left } = start;
	if (left === 0) return;
	for await (const chunk of body) {
		yield left < length(chunk) ? chunk.subarray(0, bytes(left)) : chunk;
		left -= length(chunk);
		if (left <= 0) return;
	}
}

/** A body with something put in at a place, or at the end when it is too short. */
async function* insertAt(body: Body, place: Place, extra: Buffer): AsyncGenerator<Buffer> {
	const { length, bytes, ...start } = distance(place);
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

/** Lets everything so far reach the other side, then does the worst. */
async function* endWith(
	sent: Body,
	connection: Connection,
	end: () => void,
): AsyncGenerator<Buffer> {
	connection.flush();
	yield* sent;
	await setImmediate();
	await setImmediate();
	end();
}

const errorEvent = (message: string): Buffer =>
	Buffer.from(`data: ${JSON.stringify(errorBody(503, message))}\n\n`);

type Changes = {
	readonly [Kind in BodyFault['kind']]: (
		body: Body,
		fault: Extract<BodyFault, { kind: Kind }>,
		connection: Connection,
	) => Body;
};

/** What each kind does to a body. */
const CHANGES: Changes = {
	resetBody: (body, fault, connection) =>
		endWith(before(body, fault), connection, () => {
			connection.reset();
		}),
	cut: (body, fault, connection) =>
		endWith(before(body, fault), connection, () => {
			connection.close();
		}),
	async *stallBody(body, fault, connection) {
		connection.flush();
		yield* before(body, fault);
		// Until the other side gives up or the server is closed.
		await new Promise(() => undefined);
	},
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
		yield* before(body, place);
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

/** Lets a fault strike in the body of an answer. */
export function strikeBody(body: Body, fault: BodyFault, connection: Connection): Body {
	const change = CHANGES[fault.kind] as (
		body: Body,
		fault: BodyFault,
		connection: Connection,
	) => Body;
	return change(body, fault, connection);
}

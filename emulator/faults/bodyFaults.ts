import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { errorBody } from '../errors';
import type { BodyFault, BodyFaults, BodyPosition, Handlers } from './fault';

type Body = AsyncIterable<Buffer>;

/** Bytes that are neither valid UTF-8 nor JSON, terminated like a server-sent event. */
const GARBAGE = Buffer.from([0xff, 0xfe, 0x00, 0x7b, 0xc3, 0x28, 0x0a, 0x0a]);

/** Length of a chunk in the unit of a position: one chunk is one event. */
const lengthOf = (chunk: Buffer, { afterBytes }: BodyPosition): number =>
	afterBytes === undefined ? 1 : chunk.length;

/** The part of a body before a position. */
async function* takeUntil(body: Body, place: BodyPosition): AsyncGenerator<Buffer> {
	let left = place.afterBytes ?? place.afterEvents ?? 0;
	if (left === 0) return;
	for await (const chunk of body) {
		yield place.afterBytes === undefined ? chunk : chunk.subarray(0, left);
		left -= lengthOf(chunk, place);
		if (left <= 0) return;
	}
}

/** Inserts bytes into a body at a position, or at the end of a shorter body. */
async function* insertAt(body: Body, place: BodyPosition, extra: Buffer): AsyncGenerator<Buffer> {
	let left = place.afterBytes ?? place.afterEvents ?? 0;
	for await (const chunk of body) {
		const isHere = left >= 0 && left < lengthOf(chunk, place);
		yield isHere
			? Buffer.concat([chunk.subarray(0, left), extra, chunk.subarray(left)])
			: chunk;
		left -= lengthOf(chunk, place);
	}
	if (left >= 0) yield extra;
}

/** Sends the headers and the part of a body before a position, then breaks the connection. */
async function* sendThenEnd(
	body: Body,
	place: BodyPosition,
	raw: ServerResponse,
	end: 'destroy' | 'resetAndDestroy',
): AsyncGenerator<Buffer> {
	raw.flushHeaders();
	yield* takeUntil(body, place);
	// Two turns of the event loop, so that the last chunk is written to the socket first.
	await setImmediate();
	await setImmediate();
	raw.socket?.[end]();
}

const errorEvent = (message: string): Buffer =>
	Buffer.from(`data: ${JSON.stringify(errorBody(503, message))}\n\n`);

/** Effect of each kind of fault on a body. */
const HANDLERS: Handlers<BodyFaults, [Body, ServerResponse], Body> = {
	resetBody: (fault, body, raw) => sendThenEnd(body, fault, raw, 'resetAndDestroy'),
	cut: (fault, body, raw) => sendThenEnd(body, fault, raw, 'destroy'),
	async *stallBody(fault, body, raw) {
		raw.flushHeaders();
		yield* takeUntil(body, fault);
		// Never settles: the client disconnects or the server is closed.
		await new Promise(() => undefined);
	},
	holdBody: (_fault, body) => body,
	async *split({ bytes = 1 }, body) {
		for await (const chunk of body) {
			for (let start = 0; start < chunk.length; start += bytes) {
				yield chunk.subarray(start, start + bytes);
				await setImmediate();
			}
		}
	},
	garbage: (fault, body) => insertAt(body, fault, GARBAGE),
	insert: (fault, body) => insertAt(body, fault, Buffer.from(fault.text)),
	async *errorEvent({ message = 'Interface call abnormal.', ...place }, body) {
		yield* takeUntil(body, place);
		yield errorEvent(message);
	},
	async *missingDone(_fault, body) {
		for await (const chunk of body) if (!chunk.includes('data: [DONE]')) yield chunk;
	},
	async *duplicate({ event = 1 }, body) {
		let number = 0;
		for await (const chunk of body) {
			yield chunk;
			number += 1;
			if (number === event) yield chunk;
		}
	},
	async *set({ fields }, body) {
		const whole = (await json(body)) as object;
		yield Buffer.from(JSON.stringify({ ...whole, ...fields }));
	},
	contentType: (_fault, body) => body,
};

/** Applies a fault to the body of a response. */
export function applyBodyFault(fault: BodyFault, body: Body, raw: ServerResponse): Body {
	const change = HANDLERS[fault.kind] as (...of: Parameters<typeof applyBodyFault>) => Body;
	return change(fault, body, raw);
}

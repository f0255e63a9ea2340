import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { EventEmitter } from 'node:events';
import type { ClientRequest } from 'node:http';
import { Socket } from 'node:net';
import zlib from 'node:zlib';

/** Idle turns of the event loop before time jumps; bytes on loopback arrive within one or two turns. */
const QUIET_TURNS = 12;
/** Real milliseconds without any timer or request after which a run is reported as stuck. */
const STUCK_MS = 20_000;
/** Node's names of pending system operations: connections, writes, host name lookups, files. */
const SYSTEM_OPERATIONS = /^(TCPConnect|Write|Shutdown|GetAddrInfoReq|FSReq)/;
const REQUEST_STARTED = 'http.client.request.start';

const REAL_API = [
	...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
	...(['nextTick', 'queueMicrotask', 'hrtime'] as const),
];

/** Reads and controls time while the timers are fake. */
export interface FakeTime {
	/** Fake milliseconds since the start. */
	readonly passedMs: () => number;
	/** Number of requests that this process has sent so far. */
	sentRequests(): number;
	/** Number of timers that have not fired. */
	pendingTimers(): number;
	/** Sets the system clock forward or back; no timer fires. */
	moveSystemClock(byMs: number): void;
	/** Lets time pass although this response, or its connection, is not finished: it never will be, or only later in fake time. */
	hold(response: EventEmitter): void;
}

/**
 * Runs `work` with jest's fake timers, a fake system clock and fake idle timeouts of connections; its requests use real
 * sockets. When every request is answered and nothing else can run, time jumps to the next timer.
 * See `fakeClock` for the other kinds of time in the tests.
 */
export async function withFakeTimers<T>(work: (time: FakeTime) => Promise<T>): Promise<T> {
	jest.useFakeTimers({ doNotFake: [...REAL_API] });
	const restoreIdleTimeouts = fakeIdleTimeouts();
	const requests = countRequests();
	const decompressions = countDecompressions();
	let held = 0;
	const startMs = performance.now();
	const time: FakeTime = {
		passedMs: () => performance.now() - startMs,
		sentRequests: requests.sent,
		pendingTimers: () => jest.getTimerCount(),
		moveSystemClock: (byMs) => {
			jest.setSystemTime(Date.now() + byMs);
		},
		hold: (response) => {
			held++;
			response.once('close', () => held--);
		},
	};
	const run = { isOver: false };
	const result = work(time).finally(() => {
		run.isOver = true;
	});
	// The rejection is handled where the result is awaited below.
	result.catch(() => undefined);
	try {
		await advanceWhenIdle(
			run,
			() => requests.pending() <= held && decompressions.pending() === 0,
		);
		return await result;
	} finally {
		requests.stop();
		decompressions.stop();
		restoreIdleTimeouts();
		jest.useRealTimers();
	}
}

async function advanceWhenIdle(
	run: { readonly isOver: boolean },
	isAnswered: () => boolean,
): Promise<void> {
	let quietTurns = 0;
	let stuckSince = process.hrtime.bigint();
	while (!run.isOver) {
		await new Promise((resolve) => setImmediate(resolve));
		quietTurns = isAnswered() && !isSystemBusy() ? quietTurns + 1 : 0;
		if (quietTurns < QUIET_TURNS) continue;
		if (jest.getTimerCount() > 0) {
			jest.advanceTimersToNextTimer();
			quietTurns = 0;
			stuckSince = process.hrtime.bigint();
		} else if (Number(process.hrtime.bigint() - stuckSince) / 1e6 > STUCK_MS) {
			throw new Error('The run is stuck: no request and no timer is pending');
		}
	}
}

/** Whether a system operation of this process is pending. */
function isSystemBusy(): boolean {
	return process.getActiveResourcesInfo().some((name) => SYSTEM_OPERATIONS.test(name));
}

/** Counts the requests of this process: all, and those without a complete response. */
function countRequests() {
	let sent = 0;
	let pending = 0;
	const onStart = (message: unknown) => {
		const { request } = message as { request: ClientRequest };
		sent++;
		pending++;
		request.once('close', () => pending--);
	};
	subscribe(REQUEST_STARTED, onStart);
	return {
		sent: () => sent,
		pending: () => pending,
		stop: () => unsubscribe(REQUEST_STARTED, onStart),
	};
}

/** The functions that decompress a response; older versions of Node lack the last one. */
const DECOMPRESSORS = ['createUnzip', 'createBrotliDecompress', 'createZstdDecompress'] as const;

/** Counts the compressed responses that are not read to their end; Node does not list this work. */
function countDecompressions() {
	let pending = 0;
	const restore = DECOMPRESSORS.filter((name) => name in zlib).map((name) => {
		const create = zlib[name] as (options?: object) => EventEmitter;
		// The property is read-only, so that jest cannot spy on it.
		const set = (value: typeof create) => Object.defineProperty(zlib, name, { value });
		set((options) => {
			const stream = create(options);
			pending++;
			stream.once('close', () => pending--);
			return stream;
		});
		return () => set(create);
	});
	return {
		pending: () => pending,
		stop: () => {
			restore.forEach((each) => each());
		},
	};
}

/** The idle timeout of Node's sockets; its types omit the method that resets the timer. */
interface IdleTimeout {
	setTimeout: (this: Socket, ms: number, callback?: () => void) => Socket;
	_unrefTimer: (this: Socket) => void;
}

/** Replaces the idle timeout of client connections, because jest cannot fake the timers that Node uses for it. */
function fakeIdleTimeouts(): () => void {
	const prototype = Socket.prototype as unknown as IdleTimeout;
	const { setTimeout: realSetTimeout, _unrefTimer: realUnrefTimer } = prototype;
	const timers = new WeakMap<object, NodeJS.Timeout>();

	prototype.setTimeout = function (this: Socket, ms: number, callback?: () => void) {
		// Connections of a server keep their real timeout.
		if ('server' in this && typeof this.server === 'object' && this.server !== null) {
			return realSetTimeout.call(this, ms, callback);
		}
		clearTimeout(timers.get(this));
		timers.delete(this);
		if (ms > 0)
			timers.set(
				this,
				setTimeout(() => this.emit('timeout'), ms),
			);
		if (callback !== undefined && ms > 0) this.once('timeout', callback);
		this.once('close', () => {
			clearTimeout(timers.get(this));
		});
		return this;
	};
	prototype._unrefTimer = function (this: Socket) {
		timers.get(this)?.refresh();
		realUnrefTimer.call(this);
	};
	return () => {
		prototype.setTimeout = realSetTimeout;
		prototype._unrefTimer = realUnrefTimer;
	};
}

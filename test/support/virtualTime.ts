import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

/** Turns of the event loop in which nothing may happen before time jumps: bytes on loopback arrive within one or two. */
const QUIET_TURNS = 12;
/** Real milliseconds after which a run that polls for nothing counts as stuck. */
const STUCK_MS = 20_000;
/** What the system works at for this process, by Node's names: connections, writing, names of hosts, files. */
const WORK = /^(TCPConnect|Write|Shutdown|GetAddrInfoReq|FSReq)/;
const REQUEST_STARTED = 'http.client.request.start';

const REAL_API = [
	...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval'] as const),
	...(['nextTick', 'queueMicrotask', 'hrtime'] as const),
];

/** Time while a test runs in virtual time. */
export interface VirtualTime {
	/** Milliseconds since the beginning. */
	passedMs(): number;
	/** Requests that this process has sent, answered or not. */
	sentRequests(): number;
	/** Timers that have not fired. */
	pendingTimers(): number;
	/** Puts the clock on the wall forward, or back; no time passes. */
	moveWallClock(byMs: number): void;
	/** Says that an answer is not to come, or comes when time goes on: its request is nothing to wait for. */
	hold(response: ServerResponse): void;
}

export interface VirtualTimeOptions {
	/** Told how many milliseconds have passed, each time that some have. */
	readonly onPass?: (ms: number) => void;
	/** Requests under way that get no answer, beside those that `hold` has been told of. */
	readonly heldElsewhere?: () => number;
}

/**
 * Runs `work` in virtual time. Real sockets carry its requests; timers, the wall clock and the idle timeout on a connection
 * are virtual: when every request has been answered and nothing else can go on, time jumps to the next timer.
 */
export async function inVirtualTime<T>(
	work: (time: VirtualTime) => Promise<T>,
	{ onPass = () => undefined, heldElsewhere = () => 0 }: VirtualTimeOptions = {},
): Promise<T> {
	jest.useFakeTimers({ doNotFake: [...REAL_API] });
	const restoreSilence = fakeSilence();
	const inFlight = countFlights();
	let held = 0;
	const startMs = performance.now();
	const time: VirtualTime = {
		passedMs: () => performance.now() - startMs,
		sentRequests: inFlight.all,
		pendingTimers: () => jest.getTimerCount(),
		moveWallClock: (byMs) => {
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
	// Whoever polls for the result below hears of the failure.
	result.catch(() => undefined);
	try {
		await passTime(run, onPass, () => inFlight.underWay() <= held + heldElsewhere());
		return await result;
	} finally {
		inFlight.stop();
		restoreSilence();
		jest.useRealTimers();
	}
}

async function passTime(
	run: { readonly isOver: boolean },
	onPass: (ms: number) => void,
	isAnswered: () => boolean,
): Promise<void> {
	let quietTurns = 0;
	let stuckSince = process.hrtime.bigint();
	while (!run.isOver) {
		await new Promise((resolve) => setImmediate(resolve));
		quietTurns = isAnswered() && !isSystemBusy() ? quietTurns + 1 : 0;
		if (quietTurns < QUIET_TURNS) continue;
		if (jest.getTimerCount() > 0) {
			const beforeMs = performance.now();
			jest.advanceTimersToNextTimer();
			onPass(performance.now() - beforeMs);
			quietTurns = 0;
			stuckSince = process.hrtime.bigint();
		} else if (Number(process.hrtime.bigint() - stuckSince) / 1e6 > STUCK_MS) {
			throw new Error('Nothing is under way any more, and nothing is waited for');
		}
	}
}

/** Whether the system works for this process, so that something is still to happen. */
function isSystemBusy(): boolean {
	return process.getActiveResourcesInfo().some((name) => WORK.test(name));
}

/** Counts the requests of this process: all, and those that have no complete answer. */
function countFlights() {
	let all = 0;
	let inFlight = 0;
	const onStart = (message: unknown) => {
		const { request } = message as { request: ClientRequest };
		all++;
		inFlight++;
		request.once('close', () => inFlight--);
	};
	subscribe(REQUEST_STARTED, onStart);
	return {
		all: () => all,
		underWay: () => inFlight,
		stop: () => unsubscribe(REQUEST_STARTED, onStart),
	};
}

/** What Node's connections have for idle timeout; their types do not tell all of it. */
interface Prototype {
	setTimeout(ms: number, callback?: () => void): Socket;
	_unrefTimer(): void;
}

/** Lets the idle timeout on connections of clients pass in virtual time; Node's own timers for it cannot be faked. */
function fakeSilence(): () => void {
	const prototype = Socket.prototype as unknown as Prototype;
	const { setTimeout: realSilence, _unrefTimer: realActivity } = prototype;
	const timers = new WeakMap<object, NodeJS.Timeout>();

	prototype.setTimeout = function (this: Socket, ms: number, callback?: () => void) {
		// A server's own connection.
		if ('server' in this && typeof this.server === 'object' && this.server !== null) {
			return realSilence.call(this, ms, callback);
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
		realActivity.call(this);
	};
	return () => {
		prototype.setTimeout = realSilence;
		prototype._unrefTimer = realActivity;
	};
}

import { chance, pick } from '../../emulator/random';
import type { Fault } from '../../emulator/faults/fault';
import type { Emulator } from '../../emulator/startEmulator';

const CHAT = '/v1/chat/completions';
const CREATION = '/v1/videos/generations';
const QUERY = '/v1/videos/tasks';
const FILES = '/cdn/';

/** A status that the specification does not have. */
export const UNKNOWN_WORD = 'paused';

/** Faults for any path. */
const ANYWHERE: readonly Fault[] = [
	{ kind: 'reset' },
	{ kind: 'stall' },
	{ kind: 'status', status: 503 },
	{ kind: 'status', status: 500, body: 'Oops' },
	{ kind: 'html' },
	{ kind: 'rateLimit', retryAfterSeconds: 2 },
	{ kind: 'rateLimit', retryAfterSeconds: 5, asDate: true },
	{ kind: 'resetBody', afterBytes: 20 },
	{ kind: 'cut', afterBytes: 30 },
	{ kind: 'stallBody', afterBytes: 10 },
	{ kind: 'contentType', type: 'text/html' },
	{ kind: 'split', bytes: 7 },
];

/** Faults by path of the service. */
const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
	[CHAT]: [
		...ANYWHERE,
		{ kind: 'resetBody', afterEvents: 3 },
		{ kind: 'cut', afterEvents: 4 },
		{ kind: 'stallBody', afterEvents: 3 },
		{ kind: 'errorEvent', afterEvents: 2 },
		{ kind: 'garbage', afterEvents: 2 },
		{ kind: 'insert', text: ': still there\n\n', afterEvents: 1 },
		{ kind: 'missingDone' },
		{ kind: 'duplicate', event: 2 },
	],
	[CREATION]: [...ANYWHERE, { kind: 'set', fields: { status: 'dreaming' } }],
	[QUERY]: [...ANYWHERE, { kind: 'set', fields: { status: UNKNOWN_WORD } }],
	[FILES]: [
		{ kind: 'reset' },
		{ kind: 'status', status: 503, body: 'busy' },
		{ kind: 'resetBody', afterBytes: 1_000 },
		{ kind: 'cut', afterBytes: 1_500 },
		{ kind: 'html', status: 200 },
		{ kind: 'contentType', type: 'text/html' },
	],
};

export type Path = keyof typeof FAULTS;
export const PATHS = { chat: CHAT, creation: CREATION, query: QUERY, files: FILES };

/** Adds a random fault to a path, in about half of the calls. */
export function addRandomFault({ faults }: Emulator, path: string, seed: string): void {
	if (chance(seed, 'whether') < 0.5) return;
	faults.add({ ...pick(FAULTS[path]!, seed, 'which'), path });
}

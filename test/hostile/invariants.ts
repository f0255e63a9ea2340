import { placesWith } from '../faults/leaks';
import type { Operation, Outcome, Way } from '../faults/operations';
import { allItems } from '../support/engine';
import { byCodes, MEGABYTE } from './exchange';
import { GATEWAY_KEY, KEY, type Seen } from './runCell';
import { STRANGER } from './service';

/** Bounds of a cell; they hold for every attack that states no others. */
export interface Bounds {
	/** Size of the saved execution. */
	readonly maxKilobytes?: number;
	/** Bytes that the servers can send. */
	readonly maxMegabytes?: number;
}

/** Deeper JSON cannot be saved, or not be opened in the editor. */
const MAX_DEPTH = 1_000;
const MAX_MESSAGE = 3_000;
/** Ten minutes of polling. */
const MAX_REQUESTS = 70;
const MAX_MINUTES = 30;
const MAX_CPU_MS = 15_000;
const MAX_GROWTH_MB = 900;
/** Messages of JavaScript and of Node: nobody has thought of this error. */
const FOREIGN_ERROR =
	/TypeError|RangeError|SyntaxError|Cannot (read|convert|set|create)|is not (a function|iterable|defined)|call stack|string length|Unexpected token|JSON at position|Parse Error|ERR_|socket hang up|undefined/i;
const UNSEEN =
	// eslint-disable-next-line no-control-regex -- these characters must not appear
	/[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;

/** Base64 of a text at each of the three positions that it can have in a longer text, without the shared characters. */
const base64Forms = (text: string) =>
	[0, 1, 2].map((before) => {
		const encoded = Buffer.from(' '.repeat(before) + text).toString('base64');
		return encoded.slice(Math.ceil((before * 4) / 3), -4);
	});
/** The secrets of the credential, plain and in the encodings of HTTP. */
const KEY_FORMS = [KEY, GATEWAY_KEY].flatMap((secret) => [
	secret,
	encodeURIComponent(secret),
	encodeURIComponent(secret).toLowerCase(),
	...[byCodes(secret, '%'), byCodes(secret, '\\u00')],
	...base64Forms(secret).flatMap((form) => [
		form,
		form.replaceAll('+', '-').replaceAll('/', '_'),
	]),
]);

/** What a visitor reads as it comes: without a streamed response nobody reads the chunks. */
const chunksRead = ({ chunks }: Outcome, way: Way) => (way === 'streaming' ? chunks : []);

/** Places that hold a secret in any of its forms, and the chat if it shows the key. A body that is well stays as it is. */
function leaksOf({ outcome, printed, toFileHost }: Seen, way: Way): string[] {
	const { runData, error } = outcome.run.data.resultData;
	const runs = Object.values(runData).flat();
	const places = {
		errors: [outcome.error, error, runs.map((each) => each.error)],
		hints: runs.map(({ hints, metadata }) => [hints, metadata]),
		'failed items': outcome.items.filter(({ json }) => json['error'] !== undefined),
		log: printed,
		'the file host': toFileHost,
	};
	const chat = { 'the chat': chunksRead(outcome, way) };
	return [...placesWith(KEY_FORMS, places), ...placesWith([KEY], chat)];
}

/** The deepest level of a value, found without recursion. */
function depthOf(value: unknown): number {
	const seen = new Set<object>();
	let level = [value];
	for (let depth = 0; ; depth++) {
		const objects = level.filter(
			(each): each is object => typeof each === 'object' && each !== null && !seen.has(each),
		);
		if (objects.length === 0) return depth;
		objects.forEach((each) => seen.add(each));
		level = objects.flatMap((each) => Object.values(each) as unknown[]);
	}
}

/** Messages and descriptions that a user reads. */
function errorTexts({ error, items }: Outcome): string[] {
	const texts = [error?.message, error?.description];
	for (const { json } of items) {
		texts.push(...['error', 'message', 'error_message'].map((name) => json[name] as string));
		for (const file of (json['media'] ?? json['missing_files'] ?? []) as object[]) {
			if ('error_message' in file) texts.push(String(file.error_message));
		}
	}
	return texts.filter((text): text is string => typeof text === 'string');
}

/** What is wrong after an attack, whatever the operation has come to; nothing in a good node. */
export async function problemsOf(seen: Seen, bounds: Bounds, way: Way): Promise<string[]> {
	return [
		...secretProblems(seen, way),
		...boundProblems(seen, bounds, way),
		...(await executionProblems(seen, bounds)),
		...errorProblems(seen, way),
		...argumentProblems(seen),
	];
}

/** The text where a condition holds. */
export const when = (isWrong: boolean, text: string) => (isWrong ? [text] : []);
const above = (what: string, value: number, max: number) =>
	when(!(value <= max), `${what}: ${Math.round(value)} of at most ${max}`);

/** Nothing secret leaves n8n, and nothing that must not be contacted is contacted. */
function secretProblems(seen: Seen, way: Way): string[] {
	const withKey = seen.toFileHost.filter(({ headers }) => 'authorization' in headers);
	return [
		...leaksOf(seen, way).map((place) => `the key is in: ${place}`),
		...when(withKey.length > 0, 'the key was sent to the file host'),
		...seen.strangers.map((address) => `contacted ${address}`),
	];
}

/** It ends, at a bounded cost. */
function boundProblems(seen: Seen, bounds: Bounds, way: Way): string[] {
	const { maxMegabytes = 160 } = bounds;
	const tries = way === 'retryOnFail' ? 3 : 1;
	const requests = seen.toService.length + seen.toFileHost.length;
	return [
		...above('requests', requests, MAX_REQUESTS * tries),
		...above('minutes', seen.passedMs / 60_000, MAX_MINUTES * tries),
		...above('MB sent', seen.sentBytes / MEGABYTE, maxMegabytes * tries),
		...above('ms of CPU', seen.cpuMs, MAX_CPU_MS * tries),
		...above('MB of memory', seen.grownBytes / MEGABYTE, MAX_GROWTH_MB),
	];
}

/** The execution can be saved and opened, and no prototype was changed. */
async function executionProblems({ outcome }: Seen, { maxKilobytes = 1_000 }: Bounds) {
	const { runData, error } = outcome.run.data.resultData;
	const { parse, stringify } = await import('flatted');
	const problems = above('levels of JSON', depthOf([runData, error]), MAX_DEPTH);
	try {
		const saved = stringify(outcome.run.data);
		problems.push(...above('kB saved', saved.length / 1_000, maxKilobytes));
		if (problems.length === 0) parse(saved);
		JSON.stringify(outcome.items);
	} catch (failure) {
		problems.push(`the execution cannot be saved: ${String(failure)}`);
	}
	const changed = [...Object.keys(Object.prototype), ...Object.keys(Function.prototype)];
	const odd = outcome.items.filter(
		({ json }) =>
			Object.getPrototypeOf(json) !== Object.prototype || Object.hasOwn(json, '__proto__'),
	);
	return [
		...problems,
		...changed.map((name) => `every object has ${name}`),
		...when(odd.length > 0, 'the prototype of an item was changed'),
	];
}

/** Errors are in our words, and a visitor of the chat reads none of the service's. */
function errorProblems({ outcome }: Seen, way: Way): string[] {
	const chat = chunksRead(outcome, way).flatMap(({ type, content = '' }) =>
		type === 'error' ? [content] : [],
	);
	const strange = chat.filter((text) => text.includes(STRANGER));
	// Why a video failed stands there as the service has sent it.
	const reasons = outcome.items.flatMap(({ json }) =>
		json['reason'] === 'failed' ? json['error_message'] : [],
	);
	return [
		...when(strange.length > 0, "the service's words are in the chat"),
		...errorTexts(outcome).flatMap((text) => {
			const start = JSON.stringify(text.slice(0, 60));
			return [
				...when(
					!/^\p{Lu}/u.test(text) && !reasons.includes(text),
					`an error begins oddly: ${start}`,
				),
				...when(FOREIGN_ERROR.test(text), `an error is not in our words: ${start}`),
				...when(UNSEEN.test(text), `an error has invisible characters: ${start}`),
				...above('characters of an error', text.length, MAX_MESSAGE),
			];
		}),
	];
}

/** A tool that declares no parameters gets no arguments. */
function argumentProblems({ outcome }: Seen): string[] {
	const items = allItems(outcome, 'Agent').flat();
	const calls = items.filter(({ json }) => json['tool_call'] !== undefined);
	const names = new Set(calls.flatMap(({ json }) => Object.keys(json)));
	names.delete('tool_call');
	return [...names].map((name) => `the undeclared argument ${name} reaches the tool`);
}

/** Whether the operation has brought what it brings with a good service. */
export function isWell({ gives }: Pick<Operation, 'gives'>, { status, items }: Outcome): boolean {
	const text = JSON.stringify(items.map(({ json }) => json));
	const failed = items.some(({ json }) => 'error' in json || 'error_message' in json);
	return (
		status === 'success' &&
		items.length > 0 &&
		!failed &&
		gives.every((each) => text.includes(each))
	);
}

import { readFileSync } from 'node:fs';

import { isObject, parseJson } from '../json';
import { parseScript } from '../script/parseScript';
import type { ScriptedReply } from '../script/script';
import { startEmulator, type EmulatorOptions } from '../startEmulator';

/** The fields of a value with their types: `choices[].index: number`. */
function fieldsOf(value: unknown, path = ''): readonly string[] {
	if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(item, `${path}[]`));
	if (isObject(value))
		return Object.entries(value).flatMap(([name, part]) =>
			fieldsOf(part, path === '' ? name : `${path}.${name}`),
		);
	return [`${path}: ${value === null ? 'null' : typeof value}`];
}

/** The fields of a body, or of all events of a stream. */
function fieldsIn(text: string): ReadonlySet<string> {
	const events = text.startsWith('{') || text.startsWith('[') ? [text] : text.split('\n');
	const values = events.map((line) => line.replace(/^data: ?/, '')).filter(Boolean);
	return new Set(
		values.flatMap((value) => {
			const json = parseJson(value);
			if (json !== undefined) return fieldsOf(json);
			return [/^[\w-]+:/.exec(value)?.[0] ?? `text: ${value.slice(0, 20)}`];
		}),
	);
}

const BASE_PATH = /^.*?(?=\/(?:chat|videos|responses|embeddings|models)\b)/;
const recordedText = ({ body, events = [] }: ScriptedReply): string =>
	typeof body === 'object'
		? JSON.stringify(body)
		: events.map(({ raw = '' }) => raw).join('') || String(body);

/** Sends the recorded requests to an emulator; gives the differences of its answers, one line each. */
export async function compareRecording(
	file: string,
	options: EmulatorOptions,
): Promise<readonly string[]> {
	const { replies, lines } = parseScript(readFileSync(file, 'utf8'), file);
	const emulator = await startEmulator({ ...options, port: 0, clock: 'virtual' });
	const differences: string[] = [];
	for (const [index, reply] of replies.entries()) {
		const { request, status = 200 } = reply;
		if (!request) continue;
		const place = `${file}:${lines[index]}: ${request.method} ${request.path}`;
		// The service may have its endpoints below another path.
		const path = request.path.replace(BASE_PATH, '/v1');
		const response = await fetch(emulator.url + path, {
			method: request.method,
			headers: { authorization: 'Bearer demo-key', 'content-type': 'application/json' },
			...(request.body !== undefined && { body: JSON.stringify(request.body) }),
		});
		const [theirs, ours] = [fieldsIn(recordedText(reply)), fieldsIn(await response.text())];
		if (response.status !== status)
			differences.push(`${place}: status ${status}, the emulator's ${response.status}`);
		for (const field of theirs)
			if (!ours.has(field)) differences.push(`${place}: only there: ${field}`);
		for (const field of ours)
			if (!theirs.has(field)) differences.push(`${place}: only in the emulator: ${field}`);
	}
	await emulator.stop();
	return differences;
}

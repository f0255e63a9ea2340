import { asJson, isJsonObject, objectOf, type JsonObject, type JsonValue } from '../json';
import { shown } from '../values';
import { stringOf } from './replyMessage';
import { isSubset } from './restoreReplies';
import { idText, parseArguments, toolCall } from './toolCalls';
import type { ToolCall } from './types';

/** After so many fragments with a name, a call is no longer taken for complete: each check parses all of its arguments. */
const MAX_PARSES = 16;
/** Fields of a tool call that are not copied as they are. */
const CALL_FIELDS = new Set(['index', 'id', 'type', 'function']);
/** Fields that have the same value in every fragment. */
const CONSTANT_FIELDS = new Set(['role', 'id', 'type', 'index', 'name', 'format']);

/** A tool call whose arguments arrive in fragments. */
interface PartialCall {
	/** With other fields, which some services want back, such as the signature of a thought. */
	readonly sent: ToolCall;
	/** How often the arguments so far were parsed. */
	parses: number;
}

/** No calls yet, which `addFragment` adds to. */
export function startCalls() {
	return {
		all: [] as PartialCall[],
		/** The latest call with an index, a number, or an ID, a text: a hostile event may have 100,000 fragments. */
		latest: new Map<number | string, PartialCall>(),
		/** The call of the last fragment. */
		current: undefined as PartialCall | undefined,
	};
}

export type PartialCalls = ReturnType<typeof startCalls>;

/**
 * Adds a fragment to its tool call: the latest one with the same index; without an index, the one with the same id; without an
 * id, that of the last fragment. A fragment with a name begins another one if the ids differ, or if the arguments of that call
 * are whole, and its own do not belong to it.
 */
export function addFragment(calls: PartialCalls, fragment: JsonObject): void {
	const { all, latest } = calls;
	const { name: sentName, arguments: args = null } = objectOf(fragment['function']);
	const name = stringOf(sentName);
	const text = args === null ? '' : shown(args);
	const whole = parseArguments(text);
	const id = idText(fragment['id']);
	const index = indexOf(fragment['index']);
	const isUnnamed = name === '';
	let call = index === undefined && id === '' ? calls.current : latest.get(index ?? id);
	if (index === undefined && isUnnamed) call ??= calls.current;
	const known = call?.sent.id ?? '';
	// Some servers number all calls 0, with ids, or each whole in one fragment; others give each fragment another id.
	if (id !== '' && known !== '' && id !== known)
		call = latest.get(id) ?? (isUnnamed ? call : undefined);
	else if (call !== undefined && !isUnnamed) {
		const isNamedSo = name === call.sent.function.name && (index !== undefined || known !== '');
		const old = readArguments(call);
		const isSame = !whole || isSubset(old, whole) || isSubset(whole, old);
		if (old && !(isNamedSo && isSame)) call = undefined;
	}
	if (call === undefined) {
		call = { sent: toolCall('', '', ''), parses: 0 };
		latest.set(index ?? all.length, call);
		all.push(call);
	}
	calls.current = call;
	const { sent } = call;
	if (sent.id === '') sent.id = id;
	latest.set(sent.id, call);
	for (const key in fragment)
		if (!CALL_FIELDS.has(key)) mergeField(asJson(sent), key, fragment[key]);
	const { function: called } = sent;
	if (called.name === '') called.name = name;
	// Some send `{}` first, or the same or all so far again.
	if (called.arguments === '{}' && text.trim() !== '') called.arguments = text;
	else if (!whole || called.arguments === '' || !readArguments(call)) called.arguments += text;
	else if (text.length > called.arguments.length) called.arguments = text;
}

/** The arguments so far, if they are complete. */
function readArguments(call: PartialCall): JsonObject | undefined {
	return call.parses++ < MAX_PARSES ? parseArguments(call.sent.function.arguments) : undefined;
}

/** An index, which some servers send as text. */
export function indexOf(value: JsonValue | undefined): number | undefined {
	const isIndex = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
	return isIndex ? Number(value) : undefined;
}

/**
 * Adds a field that is not null. Runs for every chunk, so it allocates nothing.
 *
 * @param isFragment Whether texts and objects are added to those before, and to the last entry of a list one with its index, as
 *   lists are in any case. Any other value replaces the last one.
 */
export function mergeField(
	target: JsonObject,
	key: string,
	value: JsonValue = null,
	isFragment = !CONSTANT_FIELDS.has(key),
): void {
	if (value === null || (isFragment && value === '')) return;
	const old = target[key];
	if (isFragment && typeof old === 'string' && typeof value === 'string')
		target[key] = old + value;
	else if (isFragment && isJsonObject(old) && isJsonObject(value))
		for (const name in value) mergeField(old, name, value[name]);
	else if (!Array.isArray(old) || !Array.isArray(value)) target[key] = value;
	else {
		for (const entry of value) {
			const last = objectOf(old.at(-1));
			const isNext = isFragment && isJsonObject(entry) && entry['index'] !== undefined;
			if (isNext && last['index'] === entry['index'])
				for (const name in entry) mergeField(last, name, entry[name]);
			else old.push(entry);
		}
	}
}

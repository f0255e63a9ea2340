import { hash } from 'node:crypto';

import { InputError } from '../../client/errors';
import { isBlank, shown } from '../../client/values';
import { checkKey, isHollow } from '../run/parameters';
import type { Run } from '../run/run';
import { chatPrefix } from './chatRows';

/** Texts that every database and every parameter of n8n keeps as they are. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} ._@+:/-]{0,99}$/u;

const nameOf = (value: string) =>
	PLAIN.test(value) ? value : `#${hash('sha256', value, 'base64url')}`;

/** What is sent as `sessionId`, which a visitor may have chosen: in the item, and in the chat, null where it has none. */
export function sessionIds({ messages, items }: Run, item: number): unknown[] {
	const ofChat = messages.map(({ json }) => json['sessionId'] ?? null);
	const ofItem = items()[item]?.json['sessionId'];
	return ofItem === undefined ? ofChat : [ofItem, ...ofChat];
}

/** The identities of the chat's conversations, by those that tell them apart. */
function chatsOf(run: Run, item: number): ReadonlyMap<string, string> {
	const ids = sessionIds(run, item)
		.filter((id) => !isBlank(id) && id !== false && !isHollow(id))
		.map((id) => shown(id).trim().normalize());
	return new Map(ids.map((id) => [id, `${chatPrefix(run)}${nameOf(id)}`]));
}

/**
 * The identity of the conversation in n8n's chat, found anywhere in the workflow; empty if there is none. A table finds
 * rows by it. A visitor chooses the `sessionId`, so that it counts for chats of this workflow only, and never as a key.
 */
export const chatOf = (run: Run, item: number): string => [...chatsOf(run, item).values()][0] ?? '';

/**
 * The identity of a key that the workflow has chosen; that of the chat if it is the `sessionId` of the chat.
 *
 * @param ifEmpty What to do about an empty key.
 * @throws InputError when the key is empty or says nothing.
 */
export function keyOf(
	run: Run,
	item: number,
	entered: string,
	[label, ifEmpty]: readonly [label: string, ifEmpty: string],
): string {
	const key = entered.trim();
	if (key === '') throw new InputError(label, 'is empty', ifEmpty);
	return chatsOf(run, item).get(key.normalize()) ?? `key ${nameOf(checkKey(key, label))}`;
}

/** Whether the visitor of the chat has sent this value, anywhere in a message: an expression may take it out of a text. */
export function isOfVisitor({ messages }: Run, value: string): boolean {
	const sends = (sent: unknown): boolean =>
		typeof sent === 'object' && sent !== null
			? Object.entries(sent).flat().some(sends)
			: String(sent).includes(value);
	return messages.some(({ json }) => sends(json));
}

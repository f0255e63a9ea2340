import { hash } from 'node:crypto';

import { InputError } from '../../client/errors';
import { isBlank, shown } from '../../client/values';
import type { Row, TableSchema } from '../engine/dataTable';
import { errorLine } from '../run/nodeErrors';
import { checkKey, isHollow } from '../run/parameters';
import type { Run } from '../run/run';

/** What the keys of the chats of this workflow begin with, and no key of another workflow. */
export function chatPrefix({ workflowId }: Run): string {
	return `chat ${workflowId} `;
}

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

/** How long the rows of chats stay: visitors begin as many as they like. */
const CHAT_MS = 90 * 86_400_000;

/**
 * The rows of one conversation in a table with the columns `session_key` and `saved_at`. Rows are inserted and read, never
 * changed: writers at the same moment lose nothing.
 *
 * @param owner The columns that all of them share.
 * @param field The field that asks for them, and what to do where the table cannot be used.
 */
export function chatRows(
	run: Run,
	schema: TableSchema,
	owner: Readonly<Record<string, string>>,
	[field, remedy]: readonly [field: string, remedy: string],
) {
	const all = Object.entries(owner).map(([name, value]) => [name, 'eq', value] as const);
	const failure = (error: unknown) =>
		new InputError(field, `cannot be used: ${(error as Error).message}`, remedy);
	return {
		/**
		 * The last rows, the newest first.
		 *
		 * @throws InputError when they cannot be read.
		 */
		newest: async (limit: number) =>
			await run
				.onTable(schema, { find: { all }, newest: true, limit })
				.catch((error: unknown) => {
					throw failure(error);
				}),
		/**
		 * Inserts a row. Those of the conversation below this ID go, and old ones of the workflow's chats. The reply is paid
		 * for: a failure is a hint and does not lose it.
		 */
		insert: async (row: Row, firstId: number) => {
			const now = run.clock.now();
			const [savedAt, old] = [now, now - CHAT_MS].map((ms) => new Date(ms).toISOString());
			const ofChats = ['session_key', 'like', `${chatPrefix(run)}%`] as const;
			const steps = [
				{ insert: [{ ...owner, ...row, saved_at: savedAt }] },
				{ remove: { all: [...all, ['id', 'lt', firstId]] } },
				{ remove: { all: [ofChats, ['saved_at', 'lt', old!]] } },
			] as const;
			await run.onTable(schema, ...steps).catch((error: unknown) => {
				run.hint(`The next message will not know this reply. ${errorLine(failure(error))}`);
			});
		},
	};
}

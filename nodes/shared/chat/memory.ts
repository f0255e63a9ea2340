import { hash, randomUUID } from 'node:crypto';

import { startConversation, type Conversation } from '../../client/chat/conversation';
import { lastTurn, limitMemory, parseMemory, toKeep, withMemory } from '../../client/chat/messages';
import type { ChatMessage } from '../../client/chat/types';
import { keyedMutex } from '../../client/concurrency';
import { InputError } from '../../client/errors';
import { withoutFilesIn } from '../../client/fileTypes';
import { isBlank, shown } from '../../client/values';
import { hashOf } from '../durable/identity';
import type { Row, Step, TableSchema } from '../engine/dataTable';
import { isSignedUrl } from '../engine/request';
import { undeclaredArguments } from '../engine/runs';
import type { ValuesOf } from '../form/form';
import { errorLine } from '../run/nodeErrors';
import { checkKey, checkNotRounded, isHollow, isRounded, roundedError } from '../run/parameters';
import type { Run } from '../run/run';
import type { memoryFields } from './properties';

/** The turns of the conversations of a project, a row each; users can view and delete them. A key is one of an account, workflow and node. */
export const MEMORY_TABLE = {
	name: 'agent_video_memory',
	columns: {
		session_key: 'string',
		/** Its messages as JSON. */
		turn: 'string',
		saved_at: 'date',
		workflow_id: 'string',
		node_id: 'string',
		account: 'string',
		turn_id: 'string',
	},
	write: 'turn_id',
} as const satisfies TableSchema;

/** Maximum number of turns that are read, whatever the limit on messages. */
const MAX_TURNS = 1_000;

const UNUSABLE = 'Otherwise set Memory to None, and Input to Messages';
const TOO_LONG =
	'The question and its reply exceed the limits of the memory, and are not remembered. Raise Maximum Messages in Memory, or ask for less at once';

/** The memory of an item's conversation: JSON, which the agent keeps between its runs. */
export interface Memory {
	readonly key: string;
	/** Maximum number of messages; 0 means no limit. */
	readonly maxMessages: number;
	/** Index of the new turn among the messages. */
	readonly turn: number;
	/** ID of the first row that was read: those before it are beyond the limit. 0 if all were read. */
	readonly firstId: number;
	/** What the ID of the turn begins with. */
	readonly turns: string;
}

const KEY = ['Memory Key', 'Enter a value, or set Memory to None', 'memoryKey'] as const;

/**
 * The identity of an item's conversation; empty without memory.
 *
 * @throws InputError when the memory has no key.
 */
export function memoryKeyOf(
	run: Run,
	item: number,
	{ memory, memoryKey }: ValuesOf<typeof memoryFields>,
): string {
	if (memory === 'none') return '';
	if (memory === 'key') return enteredKey(run, item, memoryKey, KEY);
	const key = chatOf(run, item);
	if (key !== '') return key;
	throw new InputError(
		'Memory',
		'is This Chat, but no chat has sent a usable sessionId',
		'Start the workflow with a Chat Trigger that gets a sessionId, or set Memory to By Key',
	);
}

/** The rows of a conversation, each of them a turn. */
function turnsOf(run: Run, key: string) {
	const { workflowId: workflow_id, node, service } = run;
	const { account } = service();
	const owner = { session_key: key, workflow_id, node_id: node.id, account };
	return chatRows(run, MEMORY_TABLE, owner, ['Memory', UNUSABLE]);
}

/**
 * Index of the question among the messages of an item: the turn that a memory keeps begins there. It is looked for in what is
 * asked now, as one that is remembered has its turn.
 *
 * @throws InputError when there is none.
 */
export function startOfTurn(asked: readonly ChatMessage[]): number {
	const start = lastTurn(asked);
	if (start < asked.length) return start;
	throw new InputError('Memory', 'needs a message with the role user', 'Add the question');
}

/** What the IDs of the turns of a run begin with, and those of the turns before a change. */
interface TurnIds {
	readonly turns?: string;
	readonly stale?: string | undefined;
}

/**
 * Begins a conversation with the remembered messages and those of an item. When it has ended, call `remember`.
 *
 * @throws InputError when the memory cannot be read, and as `startOfTurn`.
 */
export async function recall(
	run: Run,
	key: string,
	maxMessages: number,
	asked: readonly ChatMessage[],
	{ turns = '', stale }: TurnIds = {},
): Promise<{ readonly conversation: Conversation; readonly memory?: Memory }> {
	if (key === '') return { conversation: startConversation(asked) };
	const start = startOfTurn(asked);
	const limit = Math.min(maxMessages || MAX_TURNS, MAX_TURNS);
	const gone = { remove: { all: [['turn_id', 'like', `${stale}%`]] } } as const;
	const rows = await turnsOf(run, key).newest(limit, ...(stale ? [gone] : []));
	const remembered = limitMemory(rows.toReversed().flatMap(messagesOf), maxMessages);
	const turn = remembered.length + start;
	const firstId = rows.length < limit ? 0 : Number(rows.at(-1)!['id']);
	const memory = { key, maxMessages, turn, firstId, turns };
	return { conversation: startConversation(withMemory(remembered, asked)), memory };
}

/** @throws InputError when a person has changed the messages to something else. */
function messagesOf({ turn }: Row): readonly ChatMessage[] {
	const messages = parseMemory(String(turn ?? ''));
	if (messages !== undefined) return messages;
	const hint = `A turn in ${MEMORY_TABLE.name} is not a JSON list of messages. Correct the row of the conversation, or delete it`;
	throw new InputError('Memory', 'cannot be read', hint);
}

/** Saves the new turn of a conversation that has ended. The reply is paid for: a failure is a hint and does not lose it. */
export async function remember(
	run: Run,
	memory: Memory | undefined,
	{ messages, phase }: Conversation,
): Promise<void> {
	if (memory === undefined || (phase.kind !== 'answered' && phase.kind !== 'stopped')) return;
	const { key, maxMessages, turn, firstId, turns } = memory;
	const said = withoutFilesIn(messages.slice(turn));
	const kept = limitMemory(toKeep(said, isSignedUrl), maxMessages);
	const row = { turn: JSON.stringify(kept), turn_id: turns + randomUUID() };
	if (kept.length === 0) run.hint(TOO_LONG);
	else await turnsOf(run, key).insert(row, firstId);
}

interface Kept<T> extends TurnIds {
	readonly run: number;
	/** A hash of the parameters of the node. */
	readonly entered: string;
	readonly items: Record<number, T>;
}

/** By workflow, node and key, in this process. */
const runExclusive = keyedMutex();

/**
 * Asks the items of each conversation one after another, those of other executions in this process, too. Keeps the outputs
 * in the execution: *Retry On Fail* and n8n's *Retry* take them, as an item that is asked again would add its turn again. With
 * parameters that a person has changed since, which are compared as entered, the items are asked again, and their turns go.
 */
export function itemsInTurn<T>(opened: Run) {
	const { index: run, isTool, state: stateOf, workflowId, node, continuesOnFail } = opened;
	const entered = hashOf(node.parameters);
	const state = stateOf<Kept<T>>('remembered');
	// Calls of a tool have no position: each is another one.
	const stored = isTool ? undefined : state.get();
	const old = stored?.run === run ? stored : undefined;
	// Turns that are answered have made those before them go.
	const stale = old && (Object.keys(old.items).length === 0 ? old.stale : old.turns);
	const isSame = old?.entered === entered;
	const kept = isSame ? old : { run, entered, turns: randomUUID(), stale, items: {} };
	const { items, ...ids } = state.set(kept);
	/** By key, the error that stops the node: what follows in the conversation is asked after it, by a retry. */
	const failed = new Map<string, unknown>();
	return {
		/** For `recall`. */
		ids,
		/** Runs `ask` for an item. An empty key is no conversation. */
		async ask(item: number, key: string, ask: () => Promise<T>) {
			if (key === '') return await ask();
			const once = async () => {
				if (item in items) return items[item]!;
				if (failed.has(key)) throw failed.get(key);
				return (items[item] = await ask().catch((error: unknown) => {
					if (!continuesOnFail()) failed.set(key, error);
					throw error;
				}));
			};
			return await runExclusive(`${workflowId} ${node.id} ${key}`, once);
		},
		/** Forgets the outputs, once all items have succeeded. */
		clear: () => {
			state.clear();
		},
	};
}

/** What the keys of the chats of this workflow begin with, and no key of another workflow. */
function chatPrefix({ workflowId }: Run): string {
	return `chat ${workflowId} `;
}

/** Texts that every database and every parameter of n8n keeps as they are. */
const PLAIN = /^[\p{L}\p{N}][\p{L}\p{N} ._@+:/-]{0,99}$/u;

const plainName = (value: string) =>
	PLAIN.test(value) ? value : `#${hash('sha256', value, 'base64url')}`;

/** What is sent as `sessionId`, which a visitor may have chosen: in the chat, null where it has none; without a chat in the item. */
function sessionIds({ messages, items }: Run, item: number): unknown[] {
	if (messages.length > 0) return messages.map(({ json }) => json['sessionId'] ?? null);
	const id = items()[item]?.json['sessionId'];
	return id === undefined ? [] : [id];
}

/** The identities of the chat's conversations, by those that tell them apart. */
function chatsOf(run: Run, item: number): ReadonlyMap<string, string> {
	const ids = sessionIds(run, item)
		.filter((id) => !isBlank(id) && id !== false && !isHollow(id))
		.map((id) => shown(id).trim().normalize());
	return new Map(ids.map((id) => [id, `${chatPrefix(run)}${plainName(id)}`]));
}

/**
 * The identity of the conversation in n8n's chat, found anywhere in the workflow; empty if there is none. A table finds
 * rows by it. A visitor chooses the `sessionId`, so that it counts for chats of this workflow only, and never as a key.
 *
 * @throws InputError for a number that was rounded: it would be another chat.
 */
export function chatOf(run: Run, item: number): string {
	for (const id of run.messages.length > 0 ? [] : sessionIds(run, item))
		rejectUndeclared(run, 'sessionId', shown(id));
	const rounded = sessionIds(run, item).find(isRounded);
	if (rounded !== undefined) throw roundedError('sessionId', String(rounded));
	return [...chatsOf(run, item).values()][0] ?? '';
}

/**
 * The identity of a key that the workflow has chosen; that of the chat if it is the `sessionId` of the chat.
 *
 * @param ifEmpty What to do about an empty key.
 * @param name The parameter.
 * @throws InputError when the key is empty or says nothing, or has a number that was rounded.
 */
export function enteredKey(
	run: Run,
	item: number,
	entered: string,
	[label, ifEmpty, name]: readonly [label: string, ifEmpty: string, name: string],
): string {
	const key = entered.trim();
	if (key === '') throw new InputError(label, 'is empty', ifEmpty);
	checkNotRounded(run.context, item, name, label);
	rejectUndeclared(run, label, key);
	return chatsOf(run, item).get(key.normalize()) ?? `key ${plainName(checkKey(key, label))}`;
}

/**
 * Rejects a value that has an argument which the tool does not declare: a visitor could have told the model to add it.
 *
 * @throws InputError that says so to the model.
 */
export function rejectUndeclared({ context }: Run, label: string, value: string): void {
	const has = (given: unknown) => !isBlank(given) && value.includes(shown(given).trim());
	if (undeclaredArguments(context).some(has))
		throw new InputError(
			label,
			'has an argument that this tool does not declare',
			'Call it without the argument',
		);
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
		 * @param before What is done before.
		 * @throws InputError when they cannot be read.
		 */
		newest: async (limit: number, ...before: readonly Step[]) =>
			await run
				.onTable(schema, ...before, { find: { all }, newest: true, limit })
				.catch((error: unknown) => {
					throw failure(error);
				}),
		/**
		 * Inserts a row. Those of the conversation below this ID go, and old ones of the workflow's chats. The reply is paid
		 * for: a failure is a hint and does not lose it.
		 */
		insert: async (row: Row, firstId: number) => {
			const now = Date.now();
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

import { randomUUID } from 'node:crypto';

import { lastTurn, limitMemory, parseMemory, toKeep, withMemory } from '../../client/chat/messages';
import type { Conversation } from '../../client/chat/conversation';
import type { ChatMessage } from '../../client/chat/types';
import { keyedMutex, settled, valueOf, type Settled } from '../../client/concurrency';
import { InputError } from '../../client/errors';
import { oneLine } from '../../client/values';
import { isSignedUrl } from '../engine/request';
import type { ValuesOf } from '../form/form';
import type { Condition, Row, TableSchema } from '../engine/dataTable';
import { errorLine } from '../run/nodeErrors';
import type { Run } from '../run/run';
import { trimChats } from './chatRows';
import { chatOf, keyOf, sessionIds } from './identity';
import type { memoryFields } from './properties';

/** The conversations of a project; users can view them and delete rows. A key is one of an account, workflow and node. */
export const MEMORY_TABLE = {
	name: 'agent_video_memory',
	columns: {
		session_key: 'string',
		/** JSON, oldest first. */
		messages: 'string',
		workflow_id: 'string',
		node_id: 'string',
		account: 'string',
		/** Changes with every write: a write that finds another one than it has read is repeated. */
		version: 'string',
	},
} as const satisfies TableSchema;

/** Writes of other executions between reading a row and writing it. */
const MAX_CONFLICTS = 50;

const TOO_LONG =
	'The last question and its reply exceed the limits of the memory, which is now empty. Raise Maximum Messages in Memory, or ask for less at once';

/** The memory of an item's conversation: JSON, which the agent keeps between its runs. */
export interface Memory {
	readonly key: string;
	/** Maximum number of messages; 0 means no limit. */
	readonly maxMessages: number;
	/** Index of the new turn among the messages. */
	readonly turn: number;
}

const KEY = ['Memory Key', 'Enter a value, or set Memory to None'] as const;

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
	if (memory === 'key') return keyOf(run, item, memoryKey, KEY);
	const key = chatOf(run, item);
	if (key !== '') return key;
	const [id] = sessionIds(run, item);
	const sent = oneLine(JSON.stringify(id ?? null));
	const [why, todo] =
		id === undefined
			? ['no Chat Trigger has started the workflow', 'Start it with a Chat Trigger']
			: [`its sessionId is ${sent}`, 'Send the ID of the conversation'];
	const hint = `${todo}, or set Memory to By Key`;
	throw new InputError('Memory', `is This Chat, but ${why}`, hint);
}

/**
 * Adds the remembered messages to those of an item. After the reply, call `remember`.
 *
 * @throws InputError when the memory has no key or cannot be read.
 */
export async function recall(
	run: Run,
	key: string,
	maxMessages: number,
	asked: readonly ChatMessage[],
): Promise<{ readonly messages: readonly ChatMessage[]; readonly memory?: Memory }> {
	if (key === '') return { messages: asked };
	const { rows } = await readRows(run, key).catch((error: unknown) => {
		const hint = 'Otherwise set Memory to None, and Input to Messages';
		throw new InputError('Memory', `cannot be read: ${(error as Error).message}`, hint);
	});
	const remembered = limitMemory(rows.flatMap(messagesOf), maxMessages);
	const turn = remembered.length + lastTurn(asked);
	return { messages: withMemory(remembered, asked), memory: { key, maxMessages, turn } };
}

/** Saves the new turn of a conversation that has ended. The reply is paid for: a failure is a hint and does not lose it. */
export async function remember(
	run: Run,
	memory: Memory | undefined,
	{ messages, phase }: Conversation,
): Promise<void> {
	if (memory === undefined || (phase.kind !== 'answered' && phase.kind !== 'stopped')) return;
	const turn = toKeep(messages.slice(memory.turn), isSignedUrl);
	if (turn.length === 0) return;
	await append(run, memory, turn).catch((error: unknown) => {
		run.hint(`The reply is not remembered. ${errorLine(error as Error)}`);
	});
}

/**
 * Remembers the conversations that have ended, in the order of their questions: each waits for those of its memory before it
 * that are not done, as they may be asked again.
 */
export async function rememberInOrder<T extends { readonly memory?: Memory; ended?: Conversation }>(
	run: Run,
	conversations: readonly T[],
	isDone: (conversation: T) => boolean,
): Promise<void> {
	const open = new Set<string | undefined>();
	for (const each of conversations) {
		const { memory, ended } = each;
		if (!isDone(each)) open.add(memory?.key);
		if (ended === undefined || open.has(memory?.key)) continue;
		await remember(run, memory, ended);
		delete each.ended;
	}
}

/**
 * Adds a turn to the newest row of the key, if nobody else has changed the row since it was read. First turns at the same
 * moment become a row each, as n8n's tables have no unique constraint: all rows of a key are its memory.
 */
async function append(
	run: Run,
	{ key, maxMessages }: Memory,
	turn: readonly ChatMessage[],
): Promise<void> {
	const version = randomUUID();
	for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts += 1) {
		const { owner, rows } = await readRows(run, key);
		const newest = rows.slice(-1);
		const [{ id, version: read } = {}] = newest;
		// A lost connection may hide that the write has succeeded.
		if (read === version) return;
		const all = [...newest.flatMap(messagesOf), ...turn];
		const kept = limitMemory(all, maxMessages);
		const columns = { messages: JSON.stringify(kept), version };
		const isSame: Condition = read ? ['version', 'eq', read as string] : ['version', 'isEmpty'];
		const unchanged = [['id', 'eq', id as number] as const, isSame];
		const changed = await run.onTable(
			MEMORY_TABLE,
			newest.length === 0
				? { insert: [{ ...owner, ...columns }] }
				: { set: columns, where: { all: unchanged } },
		);
		if (newest.length > 0 && changed.length === 0) continue;
		if (newest.length === 0) await trimChats(run, MEMORY_TABLE, key);
		if (kept.length === 0) run.hint(TOO_LONG);
		return;
	}
	throw new Error('Other executions are changing the memory at the same moment');
}

/** The columns that identify a conversation, and its rows. */
async function readRows({ node, workflowId, service, onTable }: Run, key: string) {
	const owner = {
		session_key: key,
		workflow_id: workflowId,
		node_id: node.id,
		account: service().account,
	};
	const all = Object.entries(owner).map(([name, value]) => [name, 'eq', value] as const);
	return { owner, rows: await onTable(MEMORY_TABLE, { find: { all } }) };
}

/** @throws InputError when a person has changed the messages to something else. */
function messagesOf({ messages: text }: Row): readonly ChatMessage[] {
	const messages = parseMemory(String(text ?? ''));
	if (messages !== undefined) return messages;
	const problem = `cannot be read: the messages in ${MEMORY_TABLE.name} are not a JSON list of messages`;
	throw new InputError('Memory', problem, 'Correct the row of the conversation, or delete it');
}

/**
 * Asks the items of each conversation one after another. What follows a failed item that is asked again fails with it, and is
 * asked in that retry, so that the turns stay in the order of the questions.
 *
 * @param areKept Whether to keep the output of each item: with *Retry On Fail*, and in a retry of the execution, asking again
 *   would add its turn to the memory again. Clear it once all items have succeeded.
 */
export function itemsInOrder<T>(
	{ index: run, isTool, isTriedAgain, continuesOnFail, state: stateOf }: Run,
	areKept: boolean,
) {
	const runExclusive = keyedMutex();
	interface Kept {
		readonly run: number;
		readonly items: Record<number, T>;
	}
	const state = stateOf<Kept>('remembered');
	// Calls of a tool have no position: each is another one.
	const stored = isTool ? undefined : state.get();
	const earlier = stored?.run === run ? stored : { run, items: {} };
	const { items } = state.set(earlier);
	/** The first failure of each conversation. */
	const failures = new Map<string, Settled<T>>();
	// With *On Error: Continue* n8n runs the node again if the first item has failed.
	const isAskedAgain = (item: number) => !continuesOnFail() || (item === 0 && isTriedAgain);

	async function askOnce(item: number, key: string, ask: () => Promise<T>) {
		const kept = items[item];
		const outcome = failures.get(key) ?? (kept ? { value: kept } : await settled(ask()));
		if ('error' in outcome) {
			if (isAskedAgain(item)) failures.set(key, outcome);
		} else if (areKept) items[item] = outcome.value;
		return valueOf(outcome);
	}
	return {
		/** Runs `ask` for an item, those of the same key one after another. An empty key is no conversation. */
		once: async (item: number, key: string, ask: () => Promise<T>) =>
			await runExclusive(key, key === '' ? ask : async () => await askOnce(item, key, ask)),
		clear: () => {
			state.clear();
		},
	};
}

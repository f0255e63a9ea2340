import { randomUUID } from 'node:crypto';

import type { ChatCompletion } from '../client/chat/types';
import { InputError, rejectMistakes } from '../client/errors';
import { fromJson, isJsonObject, objectOf, parseJsonObject } from '../client/json';
import { oneLine, shown } from '../client/values';
import { trimChats } from '../shared/chat/chatRows';
import { chatOf, isOfVisitor, keyOf } from '../shared/chat/identity';
import type { CallKind } from '../shared/ledger/call';
import { claimKeys, type ClaimRow } from '../shared/ledger/claim';
import type { Row, Step } from '../shared/engine/dataTable';
import { CALL_TABLE } from '../shared/ledger/taskTable';
import { errorLine } from '../shared/run/nodeErrors';
import { checkKey } from '../shared/run/parameters';
import type { Run } from '../shared/run/run';

/** The sessions of a project; users can view them and delete rows. */
export const SESSION_TABLE = {
	name: 'agent_video_sessions',
	columns: {
		app_code: 'string',
		session_key: 'string',
		session_id: 'string',
		account: 'string',
		// While the first call of a key is made, see claim.ts; empty afterwards.
		status: 'string',
		claim: 'string',
		claimed_until: 'date',
	},
	finished: [['session_id', 'isNotEmpty']],
} as const;

const FORGOTTEN =
	'The first message of a session key has not been answered in time. The message after it uses a session of its own, which is not remembered for the key. Its session_id is in the output';
const NOT_REMEMBERED =
	'Otherwise set Session to By ID and store the session_id of the output yourself, or set it to New';
const EMPTY = 'Enter a value, or set Session to New';
const EMPTY_ID = `${EMPTY}. To get the session_id of another node of this package, set Output to Detailed there`;

const OF_VISITOR =
	'Set Session to This Chat: by an ID, a visitor could continue the session of another one';

const doNothing: (sessionId?: string) => Promise<void> = async () => undefined;

/**
 * The session that the fields of an item ask for (spec 2.7): one with an ID, the one of an identity, see `keyOf`, or a new one.
 *
 * @throws InputError when its ID or key is empty or says nothing.
 */
export function readSession(
	run: Run,
	item: number,
	{ session, sessionId, sessionKey }: Record<'session' | 'sessionId' | 'sessionKey', string>,
): { readonly id?: string; readonly key?: string } {
	if (session === 'key') return { key: keyOf(run, item, sessionKey, ['Key', EMPTY]) };
	// This Chat without a chat is a new session.
	const chat = session === 'chat' ? chatOf(run, item) : '';
	if (session !== 'id') return chat === '' ? {} : { key: chat };
	const id = sessionId.trim();
	rejectMistakes('Session ID', [
		[id === '', 'is empty', EMPTY_ID],
		[isOfVisitor(run, id), 'was sent by the visitor of the chat', OF_VISITOR],
	]);
	checkKey(id, 'Session ID');
	return { id };
}

/**
 * Opens the session of an item. After the calls, call its `remember`.
 *
 * A key has one session per account and assistant. If there is none, the key is claimed for the first call, which opens
 * one; anyone else who sends a first message waits for it.
 *
 * Sessions are rows of an n8n data table, in n8n's database: they survive executions and restarts, are shared by all
 * workers, and work in the editor's test chat. Workflow static data cannot do this: n8n saves it as a whole at the end
 * of an execution, so that parallel chats overwrite each other's session, and never saves it in a manual execution.
 *
 * @param callMs How long a first call may take: a claim expires after it, and nobody waits longer.
 * @returns The service's `session_id`, none for a new session; and what ends the calls: `remember` stores the ID of the session
 *   that the service used, if any, where later executions need it. It never rejects.
 * @throws InputError when the table of the sessions cannot be used.
 */
export async function openSession(
	run: Run,
	{ appCode, session }: { appCode: string; session: ReturnType<typeof readSession> },
	callMs: number,
) {
	if (session.key === undefined) return { id: session.id, remember: doNothing };

	const { clock, hint, onTable } = run;
	const key = { claim: randomUUID() };
	const { account } = run.service();
	const owner = { app_code: appCode.trim(), session_key: session.key, account };
	const all = Object.entries(owner).map(([name, value]) => [name, 'eq', value] as const);
	const ofClaim = { all: [['claim', 'eq', key.claim]] } as const;
	let seen: readonly Row[] = [];

	async function write(...steps: readonly Step[]): Promise<readonly Row[]> {
		return await onTable(SESSION_TABLE, ...steps).catch((error: unknown) => {
			const problem = `cannot be remembered: ${(error as Error).message}`;
			throw new InputError('Session', problem, NOT_REMEMBERED);
		});
	}
	const claimAs = (status: 'claimed' | 'reserved') => ({
		status,
		claimed_until: new Date(clock.now() + callMs).toISOString(),
	});
	const table = {
		async find() {
			seen = await write({ find: { all } });
			return [seen.flatMap((row) => toClaim(row, clock.now()))];
		},
		claim: async () => await write({ insert: [{ ...owner, ...key, ...claimAs('claimed') }] }),
		reserve: async () => await write({ set: claimAs('reserved'), where: ofClaim }),
		withdraw: async () => await write({ remove: ofClaim }),
	};
	const outcome = (await claimKeys(table, [key], clock, callMs)).get(key)!;
	if (outcome === 'timeout') {
		hint(FORGOTTEN);
		return { id: undefined, remember: doNothing };
	}

	const id = outcome === 'reserved' ? undefined : String(outcome['session_id']);
	const replaced = { any: seen.map((row) => ['id', 'eq', row['id'] as number] as const) };
	return {
		id,
		async remember(sessionId = '') {
			if (sessionId === id || (sessionId === '' && id !== undefined)) return;
			// The new row first: without one the key would be free.
			const stored = { insert: [{ ...owner, session_id: sessionId }] };
			const steps = sessionId === '' ? [{ remove: ofClaim }] : [stored, { remove: replaced }];
			// The reply is paid for: a failure here must not lose it.
			await write(...steps).catch((error: unknown) => {
				hint(errorLine(error as Error));
			});
			for (const table of [SESSION_TABLE, CALL_TABLE])
				await trimChats(run, table, owner.session_key);
		},
	};
}

/** The row as a claim; none if its owner is gone. */
function toClaim(row: Row, nowMs: number): ClaimRow[] {
	const common = { id: Number(row['id']), claim: String(row['claim'] ?? ''), row };
	if ((row['session_id'] ?? '') !== '') return [{ ...common, state: 'settled' }];
	if (!(Date.parse(String(row['claimed_until'])) > nowMs)) return [];
	return [{ ...common, state: row['status'] === 'claimed' ? 'claimed' : 'reserved' }];
}

/** Calls of super assistants in a ledger of their own. A row is needed until its execution needs no retry any more. */
export const ASSISTANT_CALLS: CallKind<ChatCompletion> = {
	table: CALL_TABLE,
	// As long as n8n keeps executions by default.
	keptDays: 14,
	field: 'Message',
	describe: ({ message }) => `the message "${oneLine(shown(message))}"`,
	toRow: (reply) => {
		const { session_id } = reply;
		const session = session_id === undefined ? {} : { session_id };
		return { status: 'answered', ...session, reply: JSON.stringify(reply) };
	},
	toResult: toReply,
};

/** The reply in a row; none if the row has no complete reply, for example because a person has changed it. */
function toReply({ reply }: Row): ChatCompletion | undefined {
	const value = objectOf(parseJsonObject(String(reply)));
	const { choices, events = [] } = value;
	const { message } = objectOf(Array.isArray(choices) ? choices[0] : undefined);
	const hasText = isJsonObject(message) && typeof (message['content'] ?? '') === 'string';
	const isWhole = hasText && Array.isArray(events) && events.every(isJsonObject);
	return isWhole ? fromJson<ChatCompletion>(value) : undefined;
}

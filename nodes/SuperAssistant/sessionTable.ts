import { rejectMistakes } from '../client/errors';
import { chatOf, chatRows, isOfVisitor, keyOf } from '../shared/chat/memory';
import type { TableSchema } from '../shared/engine/dataTable';
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
		saved_at: 'date',
	},
} as const satisfies TableSchema;

const UNUSABLE =
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
 * A key has one session per account and assistant, that of its newest row: of first messages at the same moment, each opens
 * a session, and the one that is stored last stays.
 *
 * Sessions are rows of an n8n data table, in n8n's database: they survive executions and restarts, are shared by all
 * workers, and work in the editor's test chat. Workflow static data cannot do this: n8n saves it as a whole at the end
 * of an execution, so that parallel chats overwrite each other's session, and never saves it in a manual execution.
 *
 * @returns The service's `session_id`, none for a new session; and `remember`, which stores the ID of the session that the
 *   service used, if any, where later executions need it. It never rejects.
 * @throws InputError when the table of the sessions cannot be used.
 */
export async function openSession(
	run: Run,
	{ appCode, session }: { appCode: string; session: ReturnType<typeof readSession> },
) {
	if (session.key === undefined) return { id: session.id, remember: doNothing };

	const { account } = run.service();
	const owner = { app_code: appCode.trim(), session_key: session.key, account };
	const rows = chatRows(run, SESSION_TABLE, owner, ['Session', UNUSABLE]);
	const [newest] = await rows.newest(1);
	// A person may have cleared it.
	const stored = String(newest?.['session_id'] ?? '');
	return {
		id: stored === '' ? undefined : stored,
		async remember(sessionId = '') {
			if (sessionId === '' || sessionId === stored) return;
			await rows.insert({ session_id: sessionId }, Number(newest?.['id'] ?? 0) + 1);
		},
	};
}

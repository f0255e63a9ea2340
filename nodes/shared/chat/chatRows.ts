import { InputError } from '../../client/errors';
import type { Row, TableSchema } from '../engine/dataTable';
import { errorLine } from '../run/nodeErrors';
import type { Run } from '../run/run';

/** How long the rows of chats stay: visitors begin as many as they like. */
const CHAT_MS = 90 * 86_400_000;

/** What the keys of the chats of this workflow begin with, and no key of another workflow. */
export function chatPrefix({ workflowId }: Run): string {
	return `chat ${workflowId} `;
}

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

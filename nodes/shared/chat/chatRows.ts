import type { TableSchema } from '../engine/dataTable';
import type { Run } from '../run/run';

/** The rows of a table, counted back from the newest of a workflow's chats, after which those of its chats go. */
const CHAT_ROWS = 5_000;
const TRIM_EVERY = 50;
/** How often this process has inserted rows of chats, by workflow and table. */
const writes = new Map<string, number>();

/** What the keys of the chats of this workflow begin with, and no key of another workflow. */
export function chatPrefix({ workflowId }: Run): string {
	return `chat ${workflowId} `;
}

/**
 * Removes the oldest rows of the workflow's chats, now and then: visitors begin as many as they like. Call it after
 * the row of a key was inserted; it never rejects.
 */
export async function trimChats(run: Run, schema: TableSchema, sessionKey: string): Promise<void> {
	const chats = chatPrefix(run);
	const key = `${chats}${schema.name}`;
	const count = writes.get(key) ?? 0;
	if (!sessionKey.startsWith(chats)) return;
	writes.set(key, count + 1);
	if (count % TRIM_EVERY > 0) return;
	const ofChats = ['session_key', 'like', `${chats}%`] as const;
	const trim = async () => {
		const [newest] = await run.onTable(schema, {
			find: { all: [ofChats] },
			newest: true,
			limit: 1,
		});
		const old = ['id', 'lt', Number(newest?.['id'] ?? 0) - CHAT_ROWS] as const;
		await run.onTable(schema, { remove: { all: [ofChats, old] } });
	};
	// The next time does it.
	await trim().catch(() => undefined);
}

import { randomUUID } from 'node:crypto';

import type { INodeExecutionData } from 'n8n-workflow';

import { settled, slices } from '../../client/concurrency';
import { withoutUndefined } from '../../client/json';
import { counted, isBlank } from '../../client/values';
import { pollResult } from '../../client/video/pollResult';
import { hasVideo, type TaskReport } from '../../client/video/tasks';
import type { TaskPoll } from '../../client/video/pollTasks';
import { idRange, MAX_CONDITIONS, oneOf, type Row, type Step } from '../engine/dataTable';
import { byCall } from '../durable/call';
import { removals } from '../durable/claimKeys';
import { taskLedger, RESULT_TABLE } from '../durable/taskTable';
import { isOwn } from '../run/credential';
import { errorLine } from '../run/nodeErrors';
import type { Run } from '../run/run';

/**
 * What became of the video of an item: a task without an outcome is still generating; `unsent` is an item that a limit has
 * left out. Undefined for an error of the item.
 */
export type Ending = 'completed' | 'failed' | 'generating' | 'unsent' | undefined;

/** The output of an item, and what became of its video. */
export interface Delivered {
	readonly item: INodeExecutionData;
	readonly ending: Ending;
	/** Why the video could not be downloaded; without an ending the error of the item. */
	readonly error?: Error | undefined;
	/** What the service said when it was asked for another URL. */
	readonly report?: TaskReport | undefined;
}

/** Services forget their tasks, and keep the files longer. */
const FORGOTTEN =
	'delivered before, which the service does not know any more: as the task ledger has them';
/** How many names a hint has. */
export const MANY = 10;

/** The first names, by default as many as a message has, and how many there are beside them. */
export function named(names: readonly string[], most = 3): string {
	const more = names.length - most;
	return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * The rows of polled tasks in the task ledger. A table that cannot be used changes nothing in the output; a hint names the
 * tasks that have no row.
 */
export async function openRecords(run: Run, polls: readonly TaskPoll[]) {
	const tell = ({ message }: Error) => {
		run.mention(`The results are not in the task ledger. ${message}`);
		return undefined;
	};
	const finished = polls.filter(({ outcome }) => outcome !== undefined);
	const ids = finished.map(({ taskId }) => taskId);
	const read = async () =>
		taskLedger.read(run, 0)
			? await run.onTable(RESULT_TABLE, { find: oneOf('task_id', ids) })
			: undefined;
	const found = await read().catch(tell);
	const { hint, service } = run;
	const account = found?.length ? service().account : '';
	const rowsOf = (taskId: string) => (found ?? []).filter((row) => row['task_id'] === taskId);
	const ownOf = (taskId: string) => rowsOf(taskId).filter((row) => isOwn(row, account));

	const known = new Map<TaskPoll, TaskPoll>();
	for (const poll of finished.filter(({ outcome }) => outcome === 'refused')) {
		const { taskId: task_id } = poll;
		const [row, ...others] = rowsOf(task_id);
		const report = { task_id, status: 'completed', video_url: String(row?.['video_url']) };
		// A service that counts from 1 again has given the ID to another video.
		const isOnly = others.length === 0 && ownOf(task_id).length === 1;
		if (isOnly && row!['status'] === 'done' && hasVideo(report))
			known.set(poll, { ...poll, outcome: 'completed', report });
	}
	if (known.size > 0) hint(`${counted(known.size, 'video')} ${FORGOTTEN}`);
	return {
		/** What was asked for; undefined where the ledger does not know it, or has several videos with this ID. */
		promptOf: (taskId: string) => {
			const [prompt, ...others] = new Set(ownOf(taskId).map((row) => row['prompt']));
			return others.length > 0 || isBlank(prompt) ? undefined : prompt;
		},
		/** The polls. A task that the service does not know any more is still completed if its row has the video. */
		polls: polls.map((poll) => known.get(poll) ?? poll),
		/**
		 * Writes the results, all at once. Without `finished_at` a task stays open, so that it can be collected: after a
		 * timeout, a rejection or a failed download. A person may have changed a row since the task was created, or since it was read.
		 */
		write: async (ofTask: ReadonlyMap<string, readonly Delivered[]>): Promise<void> => {
			if (found === undefined) return;
			const toWrite = finished.filter(
				(poll) => toReplace(poll, ownOf(poll.taskId)).length > 0,
			);
			const written = await settled(replaceRows(run, toWrite, ofTask));
			if ('error' in written) {
				tell(written.error as Error);
				return;
			}
			const unchanged = finished.flatMap((poll) =>
				toWrite.includes(poll) ? [] : ownOf(poll.taskId),
			);
			const inTable = new Set([...unchanged, ...written.value].map((row) => row['task_id']));
			const missing = ids.filter((id) => !inTable.has(id));
			if (missing.length === 0) return;
			const tasks = named(missing, MANY);
			hint(
				`The results of these tasks have no row in the data table ${RESULT_TABLE.name}: ${tasks}`,
				'info',
			);
		},
	};
}

/** The calls whose rows get the result of a task, by its rows: those that are open, or the newest one with its URL as it is now. */
function toReplace({ outcome }: TaskPoll, own: readonly Row[]): readonly (readonly Row[])[] {
	const calls = [...byCall(own).values()];
	const open = calls.filter((rows) => rows.some((row) => !row['finished_at']));
	return open.length > 0 || outcome !== 'completed' ? open : calls.slice(-1);
}

/**
 * Replaces the rows of tasks by rows with their results, in two writes for 200 of them: before each update n8n adds up the sizes of all
 * data tables, which takes longer than the update itself.
 *
 * All rows of the tasks get one random token, the new rows are inserted, and then those of this account go that still have the token:
 * another service may use the same task ID. Of runs that do so at the same moment the last one to read finds the rows of the
 * others, too. A kill in between leaves two rows of a call, the newer one with its result: the next run replaces both.
 *
 * @returns The rows of this account that were there.
 */
async function replaceRows(
	run: Run,
	polls: readonly TaskPoll[],
	ofTask: ReadonlyMap<string, readonly Delivered[]>,
): Promise<readonly Row[]> {
	const onLedger = async (...steps: readonly Step[]) => await run.onTable(RESULT_TABLE, ...steps);
	const { account } = run.service();
	const all: Row[] = [];
	for (const part of slices(polls, MAX_CONDITIONS)) {
		const [taken, added] = [randomUUID(), randomUUID()];
		const where = oneOf(
			'task_id',
			part.map(({ taskId }) => taskId),
		);
		const rows = [...(await onLedger({ set: { token: taken }, where }))];
		rows.sort((one, other) => Number(one['id']) - Number(other['id']));
		const own = rows.filter((row) => isOwn(row, account));
		all.push(...own);
		/** What takes the place of a row: nothing for one whose call has a newer one. */
		const results = new Map<Row, readonly Row[]>();
		for (const poll of part)
			for (const call of toReplace(
				poll,
				own.filter((row) => row['task_id'] === poll.taskId),
			)) {
				const newest = call.at(-1)!;
				const result = resultRow(poll, ofTask.get(poll.taskId)!, newest);
				for (const row of call) results.set(row, []);
				results.set(newest, [{ ...newest, ...result }]);
			}
		if (results.size === 0) continue;
		const insert = own
			.flatMap((row) => results.get(row) ?? [row])
			.map((row) => ({ ...row, token: added }));
		const isTaken = [['token', 'eq', taken] as const, ...idRange(rows)];
		const owned = { remove: { all: [...isTaken, ['account', 'eq', account] as const] } };
		const cleared = { remove: { all: [...isTaken, ['account', 'isEmpty'] as const] } };
		const removed = own.some((row) => isBlank(row['account'])) ? [owned, cleared] : [owned];
		// Another run may have inserted its rows at the same moment: of each call the newest row stays.
		const now = await onLedger({ insert }, ...removed, { find: where });
		const calls = [...byCall(now.filter((row) => isOwn(row, account))).values()];
		await onLedger(...removals(calls.flatMap((call) => call.slice(0, -1))));
	}
	return all;
}

/** What the ledger has of a task, which may be that of several items. */
function resultRow(
	poll: TaskPoll,
	deliveries: readonly Delivered[],
	{ status, error: known, delivered_at }: Row,
): Row {
	const { report } = deliveries.findLast((each) => each.report) ?? poll;
	const latest = pollResult(report ? { ...poll, report } : poll);
	const { task_id, video_url, reason, error_message } = latest;
	const isHere = deliveries.every(({ ending }) => ending === 'completed');
	const isDone = reason === undefined && isHere;
	const { error } = deliveries.find((each) => each.error) ?? {};
	const problem = error && errorLine(error);
	// A video that was delivered before stays so, if only this delivery fails.
	const isKnown = reason === undefined && !isHere && status === 'done';
	const names = deliveries.map(({ item }) => Object.values(item.binary ?? {})[0]?.fileName);
	const now = new Date().toISOString();
	const isFinal = isDone || reason === 'failed';
	return withoutUndefined({
		task_id,
		status: isKnown ? status : isDone ? 'done' : isFinal ? 'failed' : 'open',
		video_url,
		// Also removes the error of an earlier wait.
		error: isKnown
			? known
			: ((reason === undefined ? problem : (error_message ?? reason)) ?? null),
		file_name: names.findLast(Boolean),
		finished_at: isFinal ? now : undefined,
		delivered_at: reason === undefined && isHere ? (delivered_at ?? now) : undefined,
	});
}

import { InputError } from '../../client/errors';
import { startDeadline, withDeadline } from '../../client/http/failures';
import { pollSummary } from '../../client/video/pollResult';
import {
	pollTasks,
	startPoll,
	withTimesMoved,
	type PollState,
	type TaskPoll,
} from '../../client/video/pollTasks';
import { queryTask, type TaskReport } from '../../client/video/tasks';
import { withChatStream } from '../chat/chatStream';
import { maximumFileSizeField } from '../files/fileKind';
import { notInTools } from '../form/fields';
import { changedAll, count, number, toggle, trimmed, type ValuesOf } from '../form/form';
import { maskError } from '../run/nodeErrors';
import type { Run } from '../run/run';

/** Maximum number of status polls at the same time. */
export const pollConcurrencyField = count('Concurrency', {
	help: 'Maximum number of status polls at the same time',
	default: 10,
	max: 50,
});

export const maximumWaitField = number('Maximum Wait', {
	unit: 'Minutes',
	help: 'Timeout: a video that is not finished by then counts as failed',
	default: 10,
	min: 1,
	// Recommended by the service (spec 3.1).
	max: 10,
});

/** Whether the file of the video is downloaded, and its binary field. A tool returns no files. */
export const downloadFields = changedAll(notInTools, {
	download: toggle('Download Video', {
		help: 'Whether to download the file as binary data',
		default: true,
	}),
	binaryProperty: trimmed('Put Output File in Field', {
		default: 'data',
		hint: 'The name of the output binary field to put the file in',
		displayOptions: { show: { download: [true] } },
	}),
});

/** Which files are downloaded beside the video, their binary field and their name; and how large they may be. */
export const fileFields = changedAll(notInTools, {
	fileName: trimmed('File Name', {
		help: 'Name of the downloaded file, without extension: that follows from the file type. Empty means the task ID.',
		placeholder: 'e.g. {{ $json.topic }}',
	}),
	downloadThumbnail: toggle('Download Thumbnail', {
		help: 'Whether to also download the thumbnail (only some models provide one)',
	}),
	thumbnailProperty: trimmed('Put Thumbnail in Field', {
		help: 'The name of the output binary field to put the thumbnail in',
		default: 'thumbnail',
	}),
	maximumFileSize: maximumFileSizeField,
});

/** The fields of a wait, in the form of either node. */
type WaitValues = ValuesOf<typeof downloadFields> & {
	readonly options: ValuesOf<typeof fileFields>;
};

/** Which files of an item are downloaded, and where they go. */
export type WantedFiles = ReturnType<typeof toWantedFiles>;

/**
 * What the form of an item says about its files. A tool returns none.
 *
 * @throws InputError for the one name that no object can have, and for a thumbnail in the field of its video.
 */
export function toWantedFiles({ isTool }: Run, { download, binaryProperty, options }: WaitValues) {
	const { downloadThumbnail, thumbnailProperty, fileName, maximumFileSize } = options;
	const video = download && !isTool ? binaryProperty : undefined;
	const thumbnail = downloadThumbnail && !isTool ? thumbnailProperty : undefined;
	checkFieldName(binaryProperty, 'Put Output File in Field');
	checkFieldName(thumbnailProperty, 'Put Thumbnail in Field', thumbnail && video);
	return { fields: { video, thumbnail }, fileName, maximumFileSize };
}

function checkFieldName(name: string, label: string, taken?: string): void {
	if (name !== taken && name !== '__proto__') return;
	const problem = name === taken ? 'is also the field of the video' : `is ${name}`;
	throw new InputError(label, problem, 'Enter another name');
}

/** The service answers status polls immediately: without data for this long, the connection counts as lost. */
const IDLE_TIMEOUT_MS = 30_000;
/** Total timeout of a status poll: a response that trickles in must not delay the deadline of the task. */
const QUERY_TIMEOUT_MS = 60_000;

/**
 * How the node polls: in place, in the running process; suspended, with the execution saved between polls; or once,
 * without waiting.
 */
export type WaitMode = 'inPlace' | 'suspend' | 'once';

/** The polling state that n8n stores, with times of the wall clock. */
interface SavedPolls extends PollState {
	readonly savedAtMs: number;
}

/**
 * Polls tasks (spec 3.1), a task of several items once for all: in place until all are finished, suspended for one step,
 * or once, when each is due. What is unfinished then goes on with the next run of this execution: n8n stores it.
 *
 * @param taskIds The task of each item; empty for none.
 * @param options `concurrency`: maximum number of status polls at the same time; `maximumWait`: minutes.
 * @returns The polling state after the run, with times of the wall clock, and the error that ended it, if any.
 */
export async function poll(
	run: Run,
	taskIds: readonly string[],
	progress: Progress,
	mode: WaitMode,
	{ concurrency, maximumWait }: { readonly concurrency: number; readonly maximumWait: number },
) {
	const { clock } = run;
	const nowMs = clock.now();
	const state = run.state<SavedPolls>('polling');
	const stored = state.get() ?? { polls: [], pausedUntilMs: 0, savedAtMs: 0 };
	// Where the wall clock was set back behind the last step, no time counts as passed since.
	const aheadMs = nowMs - Math.max(Date.now(), stored.savedAtMs);
	const { polls: saved, pausedUntilMs } = withTimesMoved(stored, aheadMs);
	// Maps and sets: an object has fields of its own, such as `constructor`, and a task ID may be any text.
	const known = new Map(saved.map((task) => [task.taskId, task]));
	const ownIds = new Set(taskIds.filter((taskId) => taskId !== ''));
	const polls = [...ownIds].map((id) => known.get(id) ?? startPoll(id, nowMs));
	// In a loop, an earlier run of this execution may have polled a task just now: each is polled when it is due.
	const dueMs = Math.max(nowMs, pausedUntilMs, ...polls.map(({ dueAtMs }) => dueAtMs));
	const { error, ...polled } = await pollTasks(
		clock,
		{ polls, pausedUntilMs },
		async (taskId) => {
			progress.remind();
			return await askOnce(run, taskId);
		},
		{
			timeoutMs: maximumWait * 60_000,
			concurrency,
			onChange: progress.update,
			isLast: mode === 'once',
			untilMs: { inPlace: Infinity, suspend: nowMs, once: dueMs }[mode],
		},
	);
	const isOpen = ({ outcome }: TaskPoll) => error === undefined && outcome === undefined;
	const unfinished = polled.polls.filter(isOpen);
	// The last step of a suspended run returns all of its tasks. What else is saved is of other batches of a loop.
	const isSuspended = mode === 'suspend' && unfinished.length > 0;
	const others = saved.filter(({ taskId }) => !ownIds.has(taskId));
	const toSave = [...others, ...(isSuspended ? polled.polls : unfinished)];
	const savedAtMs = Date.now();
	const toWall = (each: PollState) => withTimesMoved(each, savedAtMs - clock.now());
	if (toSave.length === 0) state.clear();
	else state.set({ ...toWall({ ...polled, polls: toSave }), savedAtMs });
	return { ...toWall(polled), isSuspended, error };
}

/** Asks the service for the status of a task, within a total timeout. */
export async function askOnce(run: Run, taskId: string): Promise<TaskReport> {
	const { http } = run.service();
	const timed = withDeadline(http, startDeadline(run.clock, QUERY_TIMEOUT_MS));
	return await queryTask(timed, taskId, IDLE_TIMEOUT_MS).catch((error: unknown) => {
		throw maskError(run, error);
	});
}

/** Minimum interval between two progress lines: with many tasks something changes all the time. */
const MIN_INTERVAL_MS = 2_000;
/** After this time a line is sent although nothing has changed: a person in a chat must not think that nothing happens. */
const REMINDER_MS = 20_000;

/** Reports the progress of polling to a person. */
export type Progress = ReturnType<typeof pollProgress>;

/** Runs `work` with its progress in the chat or the streaming webhook, if there is one, and at its end below the output. */
export async function withProgress<T>(
	run: Run,
	work: (progress: Progress) => Promise<T>,
): Promise<T> {
	const show = async (sendText: (text: string) => void = () => undefined) =>
		await work(pollProgress(run, sendText));
	return await withChatStream(run, 0, run.isStreamed, show);
}

/**
 * Progress lines in the chat, if there is one. The last line of a step is a hint below the output.
 *
 * @param sendText Writes to the chat.
 */
export function pollProgress(
	{ clock, withoutSecrets, hint }: Run,
	sendText: (text: string) => void,
) {
	let latest: readonly TaskPoll[] = [];
	let beganAtMs = Infinity;
	let last = { state: '', atMs: -Infinity };

	/** Sends the line as it is now, if the last one is that old; without an age, if it said something else. */
	function report(minAgeMs?: number, note = '', lost: ReadonlySet<string> = new Set()): string {
		const nowMs = clock.now();
		if (minAgeMs !== undefined && nowMs - last.atMs < minAgeMs) return '';
		const elapsedMs = Math.max(0, ...latest.map((each) => each.elapsedMs));
		beganAtMs = Math.min(beganAtMs, nowMs - elapsedMs);
		const state = `${pollSummary(latest, 0, lost)}${note}`;
		const line = withoutSecrets(`${pollSummary(latest, nowMs - beganAtMs, lost)}${note}`);
		const isNew = minAgeMs !== undefined || state !== last.state;
		if (latest.length === 0 || !isNew) return line;
		last = { state, atMs: nowMs };
		// The chat renders Markdown: a single line break would join the lines.
		sendText(`${line}\n\n`);
		return line;
	}

	return {
		/** A task has changed. Throttled to one line per interval. */
		update: (polls: readonly TaskPoll[]) => {
			latest = polls;
			report(MIN_INTERVAL_MS);
		},
		/** The node is still polling. */
		remind: () => {
			report(REMINDER_MS);
		},
		/**
		 * Polling, or this step of it, has ended. `note` follows the progress; of the `lost` tasks, or of an item without
		 * a task, nothing comes out.
		 */
		finish: (polls: readonly TaskPoll[], note = '', lost: ReadonlySet<string> = new Set()) => {
			if (polls.length === 0) return;
			latest = polls;
			// The download of the files may have taken longer than polling.
			hint(report(undefined, note, lost), lost.size === 0 ? 'info' : 'warning');
		},
	};
}

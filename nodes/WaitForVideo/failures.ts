import { ServiceError } from '../client/errors';
import type { TaskPoll } from '../client/video/poll/task';
import { pollResult, type PollResult } from '../client/video/poll/result';
import { counted } from '../client/video/poll/summary';
import { errorLine } from '../shared/run/nodeErrors';

/** The error that stops the node where videos are not there; `undefined` where all are. */
export function failedVideos(polls: readonly TaskPoll[]): ServiceError | undefined {
	const failed = polls.map(pollResult).filter(({ reason }) => reason !== undefined);
	if (failed.length === 0) return undefined;
	const [first] = failed;
	return new ServiceError(
		'failed',
		polls.length === 1
			? 'The video was not made'
			: `${failed.length} of ${counted(polls.length)} were not made`,
		'Those that are completed are not lost: asking again for a task ID is free of charge',
		{
			serviceMessage: failed
				.map((result) => `${result.task_id} (${result.reason}): ${said(result)}`)
				.join('; '),
			...(polls.length === 1 ? { subject: { task_id: first!.task_id } } : {}),
		},
	);
}

function said({ error_message: message = 'no reason given' }: PollResult): string {
	return message;
}

/** The result of a task that is completed but whose file did not come; the address of the file stays in it. */
export function failedDownload(result: PollResult, error: Error): PollResult {
	return { ...result, reason: 'download', error_message: errorLine(error) };
}

/** Every task ID of a run and how its task stands, for an error that would lose them. */
export function describeTasks(taskIds: readonly string[], polls: readonly TaskPoll[]): string {
	const groups = new Map<string, string[]>();
	for (const taskId of new Set(taskIds.filter((each) => each !== ''))) {
		const kind = polls.find((wait) => wait.taskId === taskId)?.outcome?.kind ?? 'not finished';
		groups.set(kind, [...(groups.get(kind) ?? []), taskId]);
	}
	return [...groups].map(([kind, ids]) => `Tasks ${kind}: ${ids.join(', ')}`).join('. ');
}

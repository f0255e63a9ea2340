import { readResult } from '../client/concurrency';
import { isCanceled } from '../client/errors';
import { shown } from '../client/values';
import { readBatching } from '../shared/form/callOptions';
import { errorLine } from '../shared/run/nodeErrors';
import type { Run } from '../shared/run/run';
import { deliver } from '../shared/wait/deliver';
import { poll, withProgress } from '../shared/wait/poll';
import type { Delivered } from '../shared/wait/record';
import type { PlannedVideo } from './plan';
import { createVideoForm } from './properties';

/** What can be done in this node. */
export const TO_GO_ON =
	'To go on without them, set On Error to Continue and retry with the currently saved workflow';

/** Whether the node waits for the videos: one value for all items. Where it is invalid, each item has that error. */
export function readWaits(run: Run): boolean {
	const waits = readResult(() => createVideoForm.fields.waitUntilFinished.read(run, 0));
	return 'value' in waits && waits.value;
}

/** What a run of the node creates, and what becomes of the videos when one of them fails. */
export interface CreateRun {
	/** Whether a video that fails stops the node, when those under way have come to an end. */
	readonly stops: boolean;
	/** Whether the others go on then. */
	readonly leaves: boolean;
	/** The validated items by their index. */
	readonly planned: Map<number, PlannedVideo>;
}

/**
 * Waits for the tasks of all items together, and adds the results and the files to them. Items without a task stay as
 * they are: those of a dry run, and those whose creation failed.
 *
 * @throws NodeApiError or NodeOperationError when a video fails and the node does not fail later, with the task IDs of all items. With
 *   *On Error: Continue* its item has the error instead. A tool never fails after the creation, because an agent's model would
 *   create the video again: the result says what happened.
 */
export async function waitForCreated(
	run: Run,
	created: readonly Delivered[],
	{ planned, stops, leaves }: CreateRun,
): Promise<readonly Delivered[]> {
	const taskIds = created.map(({ item }) => shown(item.json['task_id'] ?? ''));
	if (taskIds.every((taskId) => taskId === '')) return created;
	const { isTool } = run;
	return await withProgress(run, async (progress) => {
		// Of several values the longest: no video ends before its own.
		const waits = [...planned.values()].map(({ options }) => options.maximumWait);
		const options = { ...readBatching(run), maximumWait: Math.max(...waits) };
		const polled = await poll(run, taskIds, progress, 'inPlace', options);
		if (isTool && polled.error !== undefined && !isCanceled(polled.error)) {
			const error_message = errorLine(polled.error as Error);
			return created.map(({ item, ending }) => {
				return { item: { ...item, json: { ...item.json, error_message } }, ending };
			});
		}
		const items = created.map((given, item) => {
			const taskId = taskIds[item]!;
			return taskId ? { taskId, files: planned.get(item)!.files } : { taskId, given };
		});
		const rule = { failsItems: !isTool && !stops, dropsAll: stops && !leaves };
		const delivered = await deliver(run, progress, { ...polled, items, ...rule });
		return delivered.map((each, index) => {
			if (each.ending === undefined || taskIds[index] === '') return each;
			// The fields of the result come first, as from Wait for Video.
			const { item } = each;
			const json = { ...item.json, ...created[index]!.item.json, ...item.json };
			return { ...each, item: { ...item, json } };
		});
	});
}

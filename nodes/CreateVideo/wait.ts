import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { isCanceled } from '../client/errors';
import { shown } from '../client/values';
import { readBatching } from '../shared/form/callOptions';
import { form } from '../shared/form/form';
import { isToolRun } from '../shared/run/nodeContext';
import { errorLine } from '../shared/run/nodeErrors';
import { deliver } from '../shared/wait/deliver';
import { maximumWaitField } from '../shared/wait/options';
import { poll, withProgress } from '../shared/wait/poll';
import type { PlannedVideo } from './plan';
import { createVideoForm } from './properties';

const ADVICE = {
	advice: 'The tasks are not lost: a retry goes on with them and pays for nothing again, and Wait for Video gets them by their task_id. To create failed videos again, execute the workflow again',
	toGoOn: 'To go on without them, set On Error to Continue',
} as const;

const { maximumWait } = form({ maximumWait: maximumWaitField }, 'options.').fields;

/** Whether the node waits for the videos: one value for all items. */
export function readWaits(context: IExecuteFunctions): boolean {
	return createVideoForm.fields.waitUntilFinished.read(context, 0);
}

/**
 * Waits for the tasks of all items together, and adds the results and the files to them. Items without a task stay as
 * they are: those of a dry run, and with *On Error: Continue* those whose creation failed.
 *
 * @throws NodeApiError or NodeOperationError when a video fails, with the task IDs of all items. With *On Error: Continue*
 *   its item has the error instead. A tool never fails after the creation, because an agent's model would create the
 *   video again: the result says what happened.
 */
export async function waitForCreated(
	context: IExecuteFunctions,
	created: readonly INodeExecutionData[],
	planned: ReadonlyMap<number, PlannedVideo>,
): Promise<INodeExecutionData[]> {
	const taskIds = created.map(({ json }) => shown(json['task_id'] ?? ''));
	if (taskIds.every((taskId) => taskId === '')) return [...created];
	const withoutTask = new Map(
		[...created.entries()]
			.filter(([index]) => taskIds[index] === '')
			.map(([index, item]) => [index, { item, ending: 'completed' as const }]),
	);
	const isTool = isToolRun(context);
	return await withProgress(context, async (progress) => {
		const options = {
			...readBatching(context),
			maximumWait: maximumWait.read(context, 0),
		};
		const polled = await poll(context, taskIds, progress, 'inPlace', options);
		if (isTool && polled.error !== undefined && !isCanceled(polled.error)) {
			const error_message = errorLine(polled.error as Error);
			return created.map((item) => ({ ...item, json: { ...item.json, error_message } }));
		}
		// Items without a task have none.
		const wanted = taskIds.map((_id, item) => ({ value: planned.get(item)?.files }));
		const tasks = { ...polled, taskIds, wanted, withoutTask, ...ADVICE, failsNode: !isTool };
		const delivered = await deliver(context, progress, tasks);
		return delivered.map(({ item, ending }, index) => {
			// The fields of the result come first, as from Wait for Video.
			const json = { ...item.json, ...created[index]!.json, ...item.json };
			return ending === undefined ? item : { ...item, json };
		});
	});
}

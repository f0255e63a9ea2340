import type { IExecuteFunctions, INodeExecutionData, INodeProperties } from 'n8n-workflow';

import { isCanceled } from '../client/errors';
import { shown } from '../client/values';
import { fileGroup } from '../shared/files/downloadLimits';
import { readBatching } from '../shared/form/callOptions';
import { booleanField, notInTools, shownFor } from '../shared/form/fields';
import { propertiesOf } from '../shared/form/options';
import { isToolRun } from '../shared/run/nodeContext';
import { errorLine } from '../shared/run/nodeErrors';
import { deliver } from '../shared/wait/deliver';
import { downloadFields, fileOptions, pollOptions } from '../shared/wait/options';
import { poll, withProgress } from '../shared/wait/poll';

const ADVICE = {
	advice: 'The tasks are not lost: a retry goes on with them and pays for nothing again, and Wait for Video gets them by their task_id. To create failed videos again, execute the workflow again',
	toGoOn: 'To go on without them, set On Error to Continue',
} as const;

/** Whether the node waits for the videos: one value for all items. */
export function readWaits(context: IExecuteFunctions): boolean {
	return context.getNodeParameter('waitUntilFinished', 0, false) === true;
}

/** Whether the node waits, and the fields for the file. */
export const waitFields: readonly INodeProperties[] = [
	{
		...booleanField(
			'Wait Until Finished',
			'waitUntilFinished',
			'Whether to wait for the video and output its file. If not, the node outputs the task_id at once, for Wait for Video.',
		),
		default: false,
		noDataExpression: true,
	},
	...downloadFields.map((field) => shownFor(field, { waitUntilFinished: true })),
];

/** The options of the wait. */
export const waitOptions: readonly INodeProperties[] = [
	pollOptions.maximumWait.property,
	...[...propertiesOf(fileOptions), fileGroup.property].map(notInTools),
].map((field) => shownFor(field, { '/waitUntilFinished': true }));

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
): Promise<INodeExecutionData[]> {
	const taskIds = created.map(({ json }) => shown(json['task_id'] ?? ''));
	if (taskIds.every((taskId) => taskId === '')) return [...created];
	const withoutTask = new Map([...created.entries()].filter(([item]) => taskIds[item] === ''));
	const isTool = isToolRun(context);
	return await withProgress(context, async (progress) => {
		const { concurrency } = readBatching(context);
		const polled = await poll(context, taskIds, progress, 'inPlace', concurrency);
		if (isTool && polled.error !== undefined && !isCanceled(polled.error)) {
			const error_message = errorLine(polled.error as Error);
			return created.map((item) => ({ ...item, json: { ...item.json, error_message } }));
		}
		const tasks = { ...polled, taskIds, withoutTask, ...ADVICE, failsNode: !isTool };
		const delivered = await deliver(context, progress, tasks);
		return delivered.map(({ item, ending }, index) => {
			// The fields of the result come first, as from Wait for Video.
			const json = { ...item.json, ...created[index]!.json, ...item.json };
			return ending === undefined ? item : { ...item, json };
		});
	});
}

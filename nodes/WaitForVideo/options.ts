import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import type { PollSchedule } from '../client/video/poll/schedule';
import { fileSizeOption } from '../shared/files/fileSizeOption';
import { notInTools } from '../shared/form/fromAi';
import {
	booleanOption,
	choiceOption,
	numberOption,
	optionsProperty,
	textOption,
} from '../shared/form/options';

/** The service asks for a poll every 5 to 10 seconds, for at most 10 minutes (spec 3.1). */
const MIN_INTERVAL_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 10;
const MAX_WAIT_MINUTES = 10;

const concurrencyOption = numberOption({
	name: 'concurrency',
	label: 'Concurrency',
	help: 'Maximum number of status polls at the same time',
	default: 10,
	min: 1,
	max: 50,
	integer: true,
});

const jitterOption = numberOption({
	name: 'jitter',
	label: 'Jitter',
	unit: 'Percent',
	help: 'Random variation of the polling interval, so that tasks created together are not polled together',
	default: 10,
	min: 0,
	max: 50,
});

const maximumIntervalOption = numberOption({
	name: 'maximumInterval',
	label: 'Maximum Interval',
	unit: 'Seconds',
	help: 'The polling interval of a task grows up to this value',
	default: MAX_INTERVAL_SECONDS,
	min: MIN_INTERVAL_SECONDS,
	max: MAX_INTERVAL_SECONDS,
});

const minimumIntervalOption = numberOption({
	name: 'minimumInterval',
	label: 'Minimum Interval',
	unit: 'Seconds',
	help: 'Time between the first and the second poll of a task',
	default: MIN_INTERVAL_SECONDS,
	min: MIN_INTERVAL_SECONDS,
	max: MAX_INTERVAL_SECONDS,
});

const maximumWaitOption = numberOption({
	name: 'maximumWait',
	label: 'Maximum Wait',
	unit: 'Minutes',
	help: 'Timeout: a video that is not finished by then counts as failed',
	default: MAX_WAIT_MINUTES,
	min: 1,
	max: MAX_WAIT_MINUTES,
});

const onFailedOption = choiceOption<'output' | 'fail'>({
	name: 'onFailed',
	label: 'On Failed Videos',
	help: 'What happens when a video fails, is not finished in time or cannot be downloaded',
	default: 'output',
	choices: [
		{
			value: 'output',
			label: 'Send to Failed Output',
			help: 'Each failed video leaves through Failed with its reason',
		},
		{
			value: 'fail',
			label: 'Fail the Node',
			help: 'The node fails when all videos are finished; the error names every task ID',
		},
	],
});

/** Whether the thumbnail is downloaded, too. */
export const downloadThumbnailOption = booleanOption({
	name: 'downloadThumbnail',
	label: 'Download Thumbnail',
	help: 'Whether to also download the thumbnail (only some models provide one)',
});

/** The binary field of the thumbnail. */
export const thumbnailFieldOption = textOption({
	name: 'thumbnailProperty',
	label: 'Put Thumbnail in Field',
	help: 'The name of the output binary field to put the thumbnail in',
	default: 'thumbnail',
});

/** Name of the downloaded file; empty means the task ID. */
export const fileNameOption = textOption({
	name: 'fileName',
	label: 'File Name',
	help: 'Name of the downloaded file, without extension: that follows from the file type',
	default: '={{ $json.task_id }}',
	fallback: '',
	placeholder: 'e.g. {{ $json.topic }}',
});

/** The options of Wait for Video. */
export const waitForVideoOptions: INodeProperties = optionsProperty([
	concurrencyOption.property,
	jitterOption.property,
	maximumIntervalOption.property,
	maximumWaitOption.property,
	minimumIntervalOption.property,
	{ ...onFailedOption.property, noDataExpression: true },
	...[downloadThumbnailOption, fileNameOption, fileSizeOption, thumbnailFieldOption].map(
		({ property }) => notInTools(property),
	),
]);

/** The poll options of a run. n8n evaluates them for the first item, and they apply to all. */
export function readPolling(context: IExecuteFunctions): {
	readonly schedule: PollSchedule;
	readonly concurrency: number;
} {
	const firstMs = minimumIntervalOption.read(context, 0) * 1000;
	return {
		schedule: {
			firstMs,
			maxMs: Math.max(firstMs, maximumIntervalOption.read(context, 0) * 1000),
			timeoutMs: maximumWaitOption.read(context, 0) * 60_000,
			jitter: jitterOption.read(context, 0) / 100,
		},
		concurrency: concurrencyOption.read(context, 0),
	};
}

/** Whether a failed video fails the node instead of leaving through the output Failed. */
export function readFailsNode(context: IExecuteFunctions): boolean {
	return onFailedOption.read(context, 0) === 'fail';
}

import type { IExecuteFunctions } from 'n8n-workflow';

import { fromJson, parseJson } from '../client/json';
import type { CreatedTask } from '../client/video/tasks';
import type { VideoPlan } from '../client/video/videoRequest';
import type { Row } from '../shared/ledger/dataTable';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import type { CallKind } from '../shared/ledger/callKind';
import { openCalls, type PaidCalls } from '../shared/ledger/paidCalls';
import { TASK_TABLE, taskIdOf } from '../shared/ledger/taskTable';
import { readBatching } from '../shared/form/callOptions';
import type { PlannedVideo } from './plan';

/** A created task, with what was sent for it. */
export type CreatedVideo = CreatedTask & {
	readonly request: Partial<VideoPlan['request']>;
	readonly adjustments?: VideoPlan['adjustments'];
	readonly estimated_cost?: number;
};

/** Creations of videos in the task ledger. */
const CREATIONS: CallKind<CreatedVideo> = {
	table: TASK_TABLE,
	// Keys are kept: they promise that no second video is created.
	expired: {
		days: 90,
		rows: [
			['finished_at', 'isNotEmpty'],
			['idempotency_key', 'isEmpty'],
		],
	},
	toRow: ({ task_id, status, model }) => ({ task_id, status, model }),
	toResult: (row) => {
		const { adjustments, estimated_cost: cost } = row;
		const taskId = taskIdOf(row);
		if (taskId === '') return undefined;
		// A person can change any cell.
		const changes = parseJson(String(adjustments));
		const { prompt, model, duration, size, audio: generate_audio } = row;
		const sent = { prompt, model, duration, size, generate_audio };
		return {
			task_id: taskId,
			status: String(row['status']),
			model: String(model),
			request: Object.fromEntries(
				Object.entries(sent).filter(([, value]) => value !== null && value !== ''),
			),
			...(typeof cost === 'number' ? { estimated_cost: cost } : {}),
			...(Array.isArray(changes) ? { adjustments: fromJson(changes) } : {}),
		};
	},
};

/** Opens the creations of a run in the task ledger: all but the dry runs. */
export async function openTasks(
	context: IExecuteFunctions,
	videos: readonly PlannedVideo[],
): Promise<PaidCalls<CreatedVideo>> {
	const planned = videos
		.filter(({ options }) => !options.dryRun)
		.map((video) => ({
			item: video.item,
			key: video.options.idempotencyKey,
			entered: video.fingerprint,
			retryOutcomeUnknown: video.options.retryOutcomeUnknown,
			row: toRow(video),
		}));
	return await openCalls(context, CREATIONS, planned, {
		isOn: ledgerOptions.taskLedger.read(context, 0),
		smallestBatch: readBatching(context).concurrency,
	});
}

/** What a creation asks for, as columns. */
function toRow({ plan, estimatedCost, options }: PlannedVideo): Row {
	const { request, adjustments } = plan;
	return {
		model: request.model,
		prompt: request.prompt,
		duration: request.duration ?? null,
		size: request.size ?? '',
		audio: request.generate_audio ?? null,
		adjustments: adjustments.length === 0 ? '' : JSON.stringify(adjustments),
		estimated_cost: estimatedCost ?? null,
		idempotency_key: options.idempotencyKey,
	};
}

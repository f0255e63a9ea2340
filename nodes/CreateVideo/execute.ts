import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { HttpPort } from '../client/ports';
import { withRetry } from '../client/http/retry';
import { createVideo } from '../client/video/createVideo';
import { videoRequest, type VideoPlan } from '../client/video/videoRequest';
import { readTimeoutSeconds } from '../shared/chat/callOptions';
import { n8nClock, n8nService } from '../shared/run/host';
import { callOnce } from '../shared/run/callLog';
import { readRetry } from '../shared/form/retryOptions';
import { withinToolLimit } from './maximumVideos';
import { readVideoInput, withAddresses } from './input';
import { readVideoOptions, TIMEOUT_SECONDS, type VideoOptions } from './options';

/** What an item asks for, checked. */
interface Prepared {
	/** What was entered, as text to compare. */
	readonly asked: string;
	readonly plan: VideoPlan;
	readonly http: HttpPort;
	readonly options: VideoOptions;
	readonly idleTimeoutMs: number;
}

/**
 * Reads and checks what an item asks for; sends nothing.
 *
 * @throws InputError when it cannot be sent.
 */
export async function prepareVideo(
	context: IExecuteFunctions,
	itemIndex: number,
): Promise<Prepared> {
	const options = readVideoOptions(context, itemIndex);
	const input = readVideoInput(context, itemIndex);
	const service = await n8nService(context);
	const entered = withAddresses(context, itemIndex, input, service);
	return {
		// Without the addresses: a signed one differs on every try.
		asked: JSON.stringify(input),
		plan: videoRequest(entered, options.unsupported),
		http: service.http,
		options,
		idleTimeoutMs: readTimeoutSeconds(context, itemIndex, TIMEOUT_SECONDS) * 1000,
	};
}

/**
 * Starts the task that an item asks for, or tells what an earlier try of this execution has made of it.
 *
 * @returns The task as the service gives it, with `adjustments` where the request is not what was entered; for a dry run
 *   `request` and `adjustments`.
 * @throws InputError when nothing can be sent; ServiceError when the creation failed, now or in an earlier try.
 */
export async function createForItem(
	context: IExecuteFunctions,
	itemIndex: number,
): Promise<IDataObject> {
	const { asked, plan, http, options, idleTimeoutMs } = await prepareVideo(context, itemIndex);
	if (options.dryRun) return { ...plan };

	const create = async () => ({
		...(await withRetry(
			n8nClock(context),
			// The option is for Retry On Fail only: a billed creation is never sent twice within one run.
			{ ...readRetry(context, itemIndex), retryOutcomeUnknown: false },
			async () => await createVideo(http, plan.request, idleTimeoutMs),
		)),
		...report(plan),
	});
	const created = await callOnce(
		context,
		{ item: itemIndex, request: asked, retryOutcomeUnknown: options.retryOutcomeUnknown },
		async () => await withinToolLimit(context, itemIndex, create),
	);
	return { ...created };
}

function report({ adjustments }: VideoPlan): Partial<VideoPlan> {
	return adjustments.length > 0 ? { adjustments } : {};
}

import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { HttpPort } from '../client/ports';
import { withRetry } from '../client/http/retry';
import { createVideo } from '../client/video/createVideo';
import { videoRequest, type VideoPlan } from '../client/video/videoRequest';
import { n8nClock, n8nService } from '../shared/run/host';
import { callOnce } from '../shared/run/callLog';
import { readSafeRetry } from '../shared/form/retryOptions';
import { withinMaximumVideos } from './maximumVideos';
import { readVideoInput, withAddresses } from './input';
import { readOptions, type CreateVideoOptions } from './options';

/** What an item asks for, checked. */
interface Prepared {
	/** What was entered, as text to compare. */
	readonly asked: string;
	readonly plan: VideoPlan;
	readonly http: HttpPort;
	readonly options: CreateVideoOptions;
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
	const options = readOptions(context, itemIndex);
	const input = readVideoInput(context, itemIndex);
	const service = await n8nService(context);
	const entered = withAddresses(context, itemIndex, input, service);
	return {
		// Without the addresses: a signed one differs on every try.
		asked: JSON.stringify(input),
		plan: videoRequest(entered, options.unsupportedValues),
		http: service.http,
		options,
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
	const { asked, plan, http, options } = await prepareVideo(context, itemIndex);
	if (options.dryRun) return { ...plan } as unknown as IDataObject;

	const create = async () => ({
		...(await withRetry(
			n8nClock(context),
			readSafeRetry(context, itemIndex),
			async () => await createVideo(http, plan.request, options.idleTimeoutMs),
		)),
		...report(plan),
	});
	const created = await callOnce(
		context,
		{ item: itemIndex, request: asked, retryOutcomeUnknown: options.retryOutcomeUnknown },
		async () => await withinMaximumVideos(context, itemIndex, create),
	);
	return { ...created } as unknown as IDataObject;
}

function report({ adjustments }: VideoPlan): Partial<VideoPlan> {
	return adjustments.length > 0 ? { adjustments } : {};
}

import type { IExecuteFunctions } from 'n8n-workflow';

import type { HttpPort } from '../client/ports';
import type { VideoRequest } from '../client/video/createVideo';
import { readPair, type OwnModel } from '../client/video/models';
import { videoRequest, type VideoPlan } from '../client/video/videoRequest';
import { n8nService } from '../shared/run/host';
import { readVideoInput, withUrls } from './input';
import { readCreateOptions, type CreateVideoOptions } from './options';

/** The validated input of an item, ready to be sent. */
export interface PlannedVideo {
	/** Index of the item. */
	readonly item: number;
	/** The entered values as text, to recognize the same call in a retry. Binary files have no URL in it: each try signs a new one. */
	readonly fingerprint: string;
	/** Price per Second times the seconds of the video; undefined where one of them is unknown. */
	readonly estimatedCost: number | undefined;
	readonly http: HttpPort;
	readonly options: CreateVideoOptions;
	/** The request as the output shows it. It names the fields of binary files. */
	readonly plan: VideoPlan;
	/** The request to send. Its URLs of binary files are signed again by each call, because they expire after an hour. */
	readonly sign: () => VideoRequest;
}

/**
 * Reads and validates the input of an item; sends nothing.
 *
 * @param own The video models in the credential.
 * @throws InputError when the input is invalid.
 */
export async function planVideo(
	context: IExecuteFunctions,
	item: number,
	own: readonly OwnModel[],
): Promise<PlannedVideo> {
	const options = readCreateOptions(context, item);
	const input = readVideoInput(context, item);
	const { code: model, like } = readPair(input.model, own);
	const service = await n8nService(context);
	const build = (isShown: boolean) =>
		videoRequest(
			{ ...withUrls(context, item, input, service, isShown), model, like },
			options.unsupportedValues,
			options,
		);
	const sign = () => build(false).request;
	// A file that cannot be published is an error before anything is sent.
	sign();
	const plan = build(true);
	const { pricePerSecond: price } = options;
	return {
		item,
		fingerprint: JSON.stringify(input),
		estimatedCost:
			price === 0 || plan.seconds === undefined ? undefined : roundCost(price * plan.seconds),
		http: service.http,
		options,
		plan,
		sign,
	};
}

/** Rounds a sum of money to ten digits, which removes the noise of binary fractions (0.1 times 3). */
export function roundCost(cost: number): number {
	return Number(cost.toPrecision(10));
}

import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { checkPublicUrl, type PublicUrlOptions } from '../client/http/publicUrl';
import type { HttpPort } from '../client/ports';
import { type VideoRequest, VIDEO_FIELDS, REFERENCES } from '../client/video/fields';
import { readPair, type OwnModel } from '../client/video/models';
import { videoRequest, type VideoPlan } from '../client/video/videoRequest';
import { fieldNames, signedFileUrl } from '../shared/files/signedFileUrl';
import { n8nService } from '../shared/run/host';
import { readModel, readPromptText, readText } from '../shared/run/parameters';
import { readCreateOptions, type CreateVideoOptions } from './properties';

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
	/** The request as the output shows it: in place of a signed URL, with which anybody can read the file, it names the binary field. */
	readonly plan: VideoPlan;
	/** The request to send. Its URLs of binary files are signed again by each call, because they expire after an hour. */
	readonly sign: () => VideoRequest;
}

/**
 * Reads and validates the input of an item; sends nothing.
 *
 * @param own The video models in the credential.
 * @throws InputError when the input is invalid, or the service cannot fetch a file.
 * @throws NodeOperationError when the item has no such binary field.
 */
export async function planVideo(
	context: IExecuteFunctions,
	item: number,
	own: readonly OwnModel[],
): Promise<PlannedVideo> {
	const options = readCreateOptions(context, item);
	const input = readInput(context, item);
	const { code: model, like } = readPair(input.model, own);
	const { http, isPrivate: allowPrivate } = await n8nService(context);
	const build = (urlOf: (property: string, urlOptions: PublicUrlOptions) => string) => {
		const references = input.references.map(({ field, kind, source }) => {
			const urlOptions = { field, allowPrivate };
			const url =
				'url' in source
					? checkPublicUrl(source.url, urlOptions)
					: urlOf(source.property, urlOptions);
			return { kind, url };
		});
		const entered = { ...input, references, model, like };
		return videoRequest(entered, options.unsupportedValues);
	};
	const sign = () =>
		build((property, urlOptions) => signedFileUrl(context, item, property, urlOptions)).request;
	// A file that cannot be published is an error before anything is sent.
	sign();
	const plan = build((property) => `binary field ${property}`);
	const { pricePerSecond: price } = options;
	return {
		item,
		fingerprint: JSON.stringify(input),
		estimatedCost:
			price === 0 || plan.seconds === undefined ? undefined : roundCost(price * plan.seconds),
		http,
		options,
		plan,
		sign,
	};
}

/** Rounds a sum of money to ten digits, which removes the noise of binary fractions (0.1 times 3). */
export function roundCost(cost: number): number {
	return Number(cost.toPrecision(10));
}

/** An entry of the References field: a URL, or the names of binary fields. */
interface ReferenceEntry {
	readonly kind?: string;
	readonly source?: 'url' | 'binary';
	/** A URL, or from an expression a list of URLs. */
	readonly url?: unknown;
	readonly binaryProperty?: unknown;
}

function readInput(context: IExecuteFunctions, itemIndex: number) {
	const entries = context.getNodeParameter(
		'references.file',
		itemIndex,
		[],
	) as readonly ReferenceEntry[];
	return {
		model: readModel(context, itemIndex),
		prompt: readPromptText(context, 'prompt', itemIndex, 'Prompt'),
		fields: Object.fromEntries(
			VIDEO_FIELDS.map(({ key }) => [key, readText(context, key, itemIndex)]),
		),
		references: entries.flatMap((entry, index) =>
			readEntry(context, itemIndex, entry, `References: entry ${index + 1}`),
		),
	};
}

/** @param field Name of the entry in errors. */
function readEntry(
	context: IExecuteFunctions,
	itemIndex: number,
	{ kind: entered = 'image', source = 'url', url = '', binaryProperty = '' }: ReferenceEntry,
	field: string,
) {
	const kind = REFERENCES.find((row) => row.kind === entered)?.kind;
	if (kind === undefined) {
		const kinds = REFERENCES.map((row) => row.kind).join(', ');
		throw new InputError(field, `has the unknown kind ${entered}`, `Use one of ${kinds}`);
	}
	const sources =
		source === 'url'
			? [url].flat().map((each) => urlSource(each, field))
			: fieldNames(binaryProperty, field).map((property) => {
					// It identifies the file in a retry, which signs a new URL for it.
					const { id = '' } = context.helpers.assertBinaryData(itemIndex, property);
					return { property, id };
				});
	return sources.map((each) => ({ field, kind, source: each }));
}

function urlSource(url: unknown, field: string) {
	if (typeof url === 'string' && url.trim() !== '') return { url: url.trim() };
	throw new InputError(
		field,
		'has no URL',
		'Enter a URL, or an expression that returns one; an empty list means no file',
	);
}

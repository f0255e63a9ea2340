import { InputError } from '../client/errors';
import { checkPublicUrl } from '../client/http/publicUrl';
import { withoutUndefined } from '../client/json';
import { counted, readChoice } from '../client/values';
import { readPair, REFERENCES, VIDEO_FIELDS, type OwnModel } from '../client/video/models';

import { videoRequest } from '../client/video/videoRequest';
import { placeOfItem } from '../shared/engine/rest';
import { fileSources, hashOfFile, signedFileUrl, type FileEntry } from '../shared/files/fileSource';
import type { Run } from '../shared/run/run';
import { unansweredHint, type Limit } from '../shared/durable/limit';
import { TASK_TABLE } from '../shared/durable/taskTable';

import type { ValuesOf } from '../shared/form/form';
import { toWantedFiles } from '../shared/wait/poll';
import type { videoFields } from './modelProperties';
import { createVideoForm, readCreateOptions } from './properties';

/** The validated input of an item, ready to be sent. */
export type PlannedVideo = Awaited<ReturnType<typeof planVideo>>;

/**
 * Reads and validates the input of an item; sends nothing.
 *
 * @param own The video models in the credential.
 * @throws InputError when the input is invalid, or the service cannot fetch a file.
 */
export async function planVideo(run: Run, item: number, own: readonly OwnModel[]) {
	const { context } = run;
	const values = createVideoForm.read(run, item);
	const options = readCreateOptions(run, item, values);
	const mistake = run.reading?.mistake;
	if (mistake !== undefined) throw mistake;
	const input = readInput(run, item, values);
	const { code: model, like } = readPair(input.model, own);
	const { http, isPrivate: allowPrivate } = run.service();
	/** How binary files are signed, by what the plan has in place of their URL, which is no URL. */
	const signers = new Map<string, () => string>();
	const references = input.references.map(({ field, kind, source }) => {
		const urlOptions = { field, allowPrivate };
		if ('url' in source) return { kind, url: checkPublicUrl(source.url, urlOptions) };
		const url = `binary field ${source.property}`;
		const sign = () => signedFileUrl(run, source.file, urlOptions);
		// A file that cannot be published is an error before anything is sent.
		sign();
		signers.set(url, sign);
		return { kind, url };
	});
	const plan = videoRequest({ ...input, references, model, like });
	const sources = await Promise.all(
		input.references.map(async ({ kind, source }) => [
			kind,
			'url' in source ? source.url : await hashOfFile(context, source.file.id ?? ''),
		]),
	);
	const { request, adjustments, seconds = 0 } = plan;
	const { idempotencyKey, useExistingVideo, pricePerSecond, retryOutcomeUnknown } = options;
	const estimatedCost = roundCost(pricePerSecond * seconds) || undefined;
	const cost = withoutUndefined({ estimated_cost: estimatedCost });
	/** What the output of a video has beside the answer of the service. */
	const details = { request, ...(adjustments.length > 0 && { adjustments }), ...cost };
	return {
		/** Index of the item. */
		item,
		call: {
			index: item,
			place: placeOfItem(context, item),
			useExisting: useExistingVideo,
			// Files by their content, as each execution stores them under another ID.
			entered: { ...input, references: sources },
			retryOutcomeUnknown,
			row: {
				model: request.model,
				prompt: request.prompt,
				duration: request.duration ?? null,
				size: request.size ?? '',
				audio: request.generate_audio ?? null,
				details: JSON.stringify(details),
				adjustments: adjustments.length === 0 ? '' : JSON.stringify(adjustments),
				estimated_cost: estimatedCost ?? null,
				idempotency_key: idempotencyKey,
			},
		},
		details,
		/** Price per Second times the seconds of the video; undefined where one of them is unknown. */
		estimatedCost,
		/** The files to download when the node waits; undefined if it does not. */
		files: values.waitUntilFinished ? toWantedFiles(run, values) : undefined,
		http,
		options,
		/** The request as the output shows it: in place of a signed URL, with which anybody can read the file, it names the binary field. */
		plan,
		/** The request to send. Its URLs of binary files are signed again by each call, because they expire after an hour. */
		sign: () => {
			const again = (url: string) => signers.get(url)?.() ?? url;
			const signed = REFERENCES.map(
				({ apiName: name }) => [name, request[name]?.map(again)] as const,
			);
			return withoutUndefined({ ...request, ...Object.fromEntries(signed) });
		},
	};
}

function readInput(
	run: Run,
	item: number,
	{ model, prompt, references, options, ...others }: ReturnType<typeof createVideoForm.read>,
) {
	const texts = others as unknown as ValuesOf<typeof videoFields>;
	return {
		model,
		prompt,
		extra: options.extraBody,
		fields: Object.fromEntries(VIDEO_FIELDS.map(({ key }) => [key, texts[key]!])),
		references: references.flatMap((entry, index) =>
			readEntry(run, item, entry, `References: entry ${index + 1}`),
		),
	};
}

/** @param field Name of the entry in errors. */
function readEntry(
	run: Run,
	item: number,
	{ kind: entered = 'image', ...entry }: FileEntry,
	field: string,
) {
	const kinds = REFERENCES.map(({ kind }) => kind);
	const kind = readChoice(entered, `${field}, Kind`, kinds);
	const sources = fileSources(run, item, entry, field);
	return sources.map((source) => ({ field, kind, source }));
}

/** Rounds a sum of money to ten digits, which removes the noise of binary fractions (0.1 times 3). */
const roundCost = (cost: number) => Number(cost.toPrecision(10));

/** The limits, each with the sum that it holds for, and the words of its error. */
const LIMITS = [
	['maximumVideos', 'videos', 'Maximum Videos', 'create', 'created'],
	['maximumCost', 'cost', 'Maximum Cost', 'cost', 'cost'],
] as const;

/** The periods, each with its unit, whose videos count, and the words for when. */
const PERIODS = {
	execution: [undefined, 'execution', 'so far'],
	day: ['day', 'workflow', 'today'],
	month: ['month', 'workflow', 'this month'],
} as const;

/**
 * What the videos of a run may spend. Where the items have different limits the smallest holds. Undefined where none is set.
 */
export function limitOf(
	{ context, isTool }: Run,
	videos: readonly PlannedVideo[],
): Limit | undefined {
	const isSet = ({ options }: PlannedVideo) =>
		LIMITS.some(([option]) => options[option] !== undefined);
	if (!videos.some(isSet)) return undefined;
	const [unit, who, when] = PERIODS[videos[0]!.options.limitPeriod];
	return {
		since: () => {
			if (unit === undefined) return undefined;
			const start = context.evaluateExpression(`{{ $now.startOf('${unit}').toMillis() }}`, 0);
			return new Date(start as number).toISOString();
		},
		takesWhatFits: videos.some(({ options }) => options.takeWhatFits),
		dryRuns: videos.flatMap(({ item, options }) => (options.dryRun ? [item] : [])),
		verify({ unpriced }) {
			if (!videos.some(({ options }) => options.maximumCost !== undefined)) return;
			videos.forEach(checkCostKnown);
			if (unpriced === 0) return;
			throw new InputError(
				'Maximum Cost',
				`cannot be checked: ${counted(unpriced, 'video')} of this ${who} ${when} ${unpriced === 1 ? 'has' : 'have'} no estimated cost`,
				`Nothing was sent. Add Price per Second to every node that creates them, and enter estimated_cost in their rows of the data table ${TASK_TABLE.name}`,
			);
		},
		excessOf(spent, items) {
			// In a retry nothing may be left for what it has already.
			if (items.length === 0) return undefined;
			const own = videos.filter(({ item }) => items.includes(item));
			const cost = own.reduce((sum, { estimatedCost = 0 }) => sum + estimatedCost, 0);
			const added = { videos: items.length, cost };
			const { unanswered: open } = spent;
			for (const [option, sum, label, would, has] of LIMITS) {
				const limit = Math.min(...videos.map(({ options }) => options[option] ?? Infinity));
				if (roundCost(spent[sum] + added[sum]) <= limit) continue;
				return new InputError(
					label,
					`is ${limit}. This run would ${would} ${roundCost(added[sum])}, and this ${who} has ${has} ${roundCost(spent[sum])} ${when}`,
					isTool
						? 'Create no more videos now, and tell the user'
						: `Nothing was sent. Use fewer items, raise ${label}, or switch on Take What Fits${open > 0 ? `. ${unansweredHint(open)}` : ''}`,
				);
			}
			return undefined;
		},
	};
}

/**
 * Checks that the estimated cost is known, as Maximum Cost needs it.
 *
 * @throws InputError that says what is missing.
 */
export function checkCostKnown({ estimatedCost, options }: PlannedVideo): void {
	if (estimatedCost !== undefined) return;
	if (options.pricePerSecond === 0)
		throw new InputError(
			'Price per Second',
			'is not set',
			'Maximum Cost needs it: add the option with a price above 0 for every item, or remove Maximum Cost',
		);
	throw new InputError(
		'Maximum Cost',
		'cannot be checked: the length of the video is unknown',
		'Enter a Duration for a model that is not in the list. A video to edit keeps its own length: create it without Maximum Cost',
	);
}

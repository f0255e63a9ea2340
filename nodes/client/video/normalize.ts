import { InputError } from '../errors';
import { withoutUndefined, type JsonValue } from '../json';
import type { VideoRequest } from './createVideo';
import { VIDEO_FIELDS, type VideoField } from './fields';
import { defaultSizeOf, type VideoModel } from './models';
import { countOf, maxReferences, REFERENCES } from './references';
import { listed } from './validate';

/** What to do with values that the model does not support: adjust and report them, or reject them. */
export type UnsupportedValues = 'adjust' | 'reject';

/** A value that is not sent as it was entered: a field of the node's output. */
export interface Adjustment {
	/** Field name in the request. */
	readonly field: string;
	readonly from: JsonValue;
	/** `null` where the field is not sent. */
	readonly to: JsonValue;
	readonly reason: string;
}

type Rule = (request: VideoRequest, model: VideoModel | undefined) => readonly Adjustment[];

const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/**
 * Normalization rules, in the order in which they apply: what the service would change or ignore (spec 2.8, 2.11).
 *
 * | input                                       | sent                                      |
 * | ------------------------------------------- | ----------------------------------------- |
 * | more files than the model or service allows | the first ones                            |
 * | audio, for a model without audio            | no audio                                  |
 * | a field that the model ignores              | no such field                             |
 * | an unsupported value                        | the closest supported one                 |
 * | duration and sound, for a video to edit     | no duration, no generated sound           |
 * | a size that does not match the quality mode | a match, keeping what is not the default  |
 */
const RULES: readonly Rule[] = [
	excessFiles,
	ignoredFields,
	unsupportedValues,
	editedVideo,
	sizeAndMode,
];

/**
 * Normalizes the request for the model.
 *
 * @param model Undefined for a model that is not in the table: then only the service's limits for files apply.
 * @param unsupported `reject` throws instead of adjusting a value. The model's default values are adjusted even so: the
 *   form fills them in.
 * @throws InputError for the first unsupported value.
 */
export function normalize(
	entered: VideoRequest,
	model: VideoModel | undefined,
	unsupported: UnsupportedValues,
): { readonly request: VideoRequest; readonly adjustments: readonly Adjustment[] } {
	let request = entered;
	const adjustments: Adjustment[] = [];
	for (const rule of RULES) {
		for (const adjustment of rule(request, model)) {
			if (unsupported === 'reject' && !isDefault(adjustment, model))
				throw toInputError(adjustment);
			adjustments.push(adjustment);
			request = withoutUndefined<VideoRequest>({
				...request,
				[adjustment.field]: adjustment.to ?? undefined,
			});
		}
	}
	return { request, adjustments };
}

function excessFiles(request: VideoRequest, model: VideoModel | undefined): readonly Adjustment[] {
	return REFERENCES.flatMap((row) => {
		const { image_mode: imageMode } = request;
		const from = [...(request[row.apiName] ?? [])];
		const max = maxReferences(row, model, imageMode);
		if (from.length <= max) return [];
		const subject =
			model === undefined
				? 'The service'
				: row.kind === 'image' && imageMode !== undefined
					? `${model.code} with image mode ${imageMode}`
					: model.code;
		return [
			{
				field: row.apiName,
				from,
				to: max === 0 ? null : from.slice(0, max),
				reason:
					max === 0
						? `${subject} does not support ${row.several}`
						: `${subject} supports at most ${countOf(row, max)}`,
			},
		];
	});
}

function ignoredFields(
	request: VideoRequest,
	model: VideoModel | undefined,
): readonly Adjustment[] {
	if (model === undefined) return [];
	return FIELDS.filter(
		(field) => request[field.apiName] !== undefined && field.values(model).length === 0,
	).map(({ apiName, label }) => ({
		field: apiName,
		from: request[apiName]!,
		to: null,
		reason: `${model.code} does not support ${label}`,
	}));
}

function unsupportedValues(
	request: VideoRequest,
	model: VideoModel | undefined,
): readonly Adjustment[] {
	if (model === undefined) return [];
	return FIELDS.flatMap(({ apiName, label, values, closest }) => {
		const from = request[apiName];
		if (from === undefined || closest === undefined || values(model).includes(from)) return [];
		return [
			{
				field: apiName,
				from,
				to: closest(from, model) ?? null,
				reason: `${model.code} supports ${label} ${listed(values(model))}`,
			},
		];
	});
}

function editedVideo(
	{ videos = [], duration, generate_audio: sound }: VideoRequest,
	model: VideoModel | undefined,
): readonly Adjustment[] {
	if (model === undefined || !model.editsVideos || videos.length === 0) return [];
	const keeps = (what: string) => `${model.code} keeps the ${what} of an edited video`;
	return [
		...(duration === undefined
			? []
			: [{ field: 'duration', from: duration, to: null, reason: keeps('length') }]),
		...(sound === true
			? [{ field: 'generate_audio', from: true, to: false, reason: keeps('sound') }]
			: []),
	];
}

function sizeAndMode(
	{ size, mode }: VideoRequest,
	model: VideoModel | undefined,
): readonly Adjustment[] {
	if (model?.resolution.by !== 'sizeAndMode' || size === undefined || mode === undefined)
		return [];
	const { sizeByMode } = model.resolution;
	const matchingSize = sizeByMode[mode];
	const matchingMode = Object.keys(sizeByMode).find((each) => sizeByMode[each] === size);
	if (size === matchingSize || matchingSize === undefined || matchingMode === undefined)
		return [];
	const pairs = Object.entries(sizeByMode).map(([each, its]) => `${each}: ${its}`);
	const reason = `${model.code} pairs Quality Mode and Size (${pairs.join(', ')})`;
	return size === defaultSizeOf(model)
		? [{ field: 'size', from: size, to: matchingSize, reason }]
		: [{ field: 'mode', from: mode, to: matchingMode, reason }];
}

function isDefault({ field, from }: Adjustment, model: VideoModel | undefined): boolean {
	const row = FIELDS.find(({ apiName }) => apiName === field);
	return row !== undefined && model !== undefined && row.defaultValue(model) === from;
}

function toInputError({ field, from, to, reason }: Adjustment): InputError {
	const label = [...FIELDS, ...REFERENCES].find(({ apiName }) => apiName === field)!.label;
	const given = Array.isArray(from) ? `are ${from.length}` : `is ${String(from)}`;
	const instead = Array.isArray(to)
		? `Use at most ${to.length}`
		: to === null
			? Array.isArray(from)
				? 'Remove them'
				: 'Leave it empty'
			: `Use ${String(to)}`;
	return new InputError(
		label,
		`${given}. ${reason}`,
		`${instead}, or set Unsupported Values to Adjust and Report`,
	);
}

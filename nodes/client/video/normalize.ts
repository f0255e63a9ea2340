import { InputError } from '../errors';
import { withoutUndefined, type JsonValue } from '../json';
import type { VideoRequest } from './createVideo';
import { VIDEO_FIELDS, type VideoField } from './fields';
import type { VideoModel } from './models';
import { countOf, maxReferences, REFERENCES } from './references';
import { inWords } from './validate';

/** What is done with values that the model does not take. */
export type UnsupportedValues = 'adjust' | 'refuse';

/** A value that is not sent as it was entered. */
export interface Adjustment {
	/** Field name in the request. */
	readonly field: string;
	readonly from: JsonValue;
	/** `null` where the field is not sent at all. */
	readonly to: JsonValue;
	readonly reason: string;
}

type Rule = (request: VideoRequest, model: VideoModel | undefined) => readonly Adjustment[];

const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/**
 * What the service would take otherwise than it was entered (spec 2.8, 2.11), in the order in which it is settled:
 *
 * | what was entered                          | what is sent                         |
 * | ----------------------------------------- | ------------------------------------ |
 * | more files than the model or service takes | the first ones                      |
 * | audio, for a model without                 | no audio                            |
 * | a field that the model ignores             | without it                          |
 * | a value outside the model's                | the closest of its own              |
 * | length and sound, for a video to edit      | no length, no new sound             |
 * | size and quality mode that disagree        | the one that is not the default     |
 */
const RULES: readonly Rule[] = [
	excessFiles,
	ignoredFields,
	outsideValues,
	editedVideo,
	sizeAndMode,
];

/**
 * The request as the model takes it, and what had to be changed for that.
 *
 * @param model Undefined where the model is not one of ours: then only the service's caps for files apply.
 * @param unsupported `refuse` throws instead of changing; the model's own defaults may be changed even so, since nobody
 *   asked for them.
 * @throws InputError that names the first value which would be changed.
 */
export function adjust(
	entered: VideoRequest,
	model: VideoModel | undefined,
	unsupported: UnsupportedValues,
): { readonly request: VideoRequest; readonly adjustments: readonly Adjustment[] } {
	let request = entered;
	const adjustments: Adjustment[] = [];
	for (const rule of RULES) {
		for (const adjustment of rule(request, model)) {
			if (unsupported === 'refuse' && !isDefault(adjustment, model))
				throw refusal(adjustment);
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
		const most = maxReferences(row, model, imageMode);
		if (from.length <= most) return [];
		const who =
			model === undefined
				? 'The service'
				: row.kind === 'image' && imageMode !== undefined
					? `${model.code} with image mode ${imageMode}`
					: model.code;
		const takes = most === 0 ? `no ${row.several}` : `at most ${countOf(row, most)}`;
		return [
			{
				field: row.apiName,
				from,
				to: most === 0 ? null : from.slice(0, most),
				reason: `${who} takes ${takes}`,
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
		reason: `${model.code} takes no ${label}`,
	}));
}

function outsideValues(
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
				reason: `${model.code} takes ${label} ${inWords(values(model))}`,
			},
		];
	});
}

function editedVideo(
	{ videos = [], duration, generate_audio: sound }: VideoRequest,
	model: VideoModel | undefined,
): readonly Adjustment[] {
	if (model === undefined || !model.editsVideos || videos.length === 0) return [];
	const keeps = (what: string) => `${model.code} keeps the ${what} of the video that it edits`;
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
	if (model === undefined || size === undefined || mode === undefined) return [];
	const sizeOfMode = model.sizes[model.modes.indexOf(mode)]!;
	if (size === sizeOfMode) return [];
	const reason = `Size and Quality Mode of ${model.code} go together`;
	return size === model.defaultSize
		? [{ field: 'size', from: size, to: sizeOfMode, reason }]
		: [{ field: 'mode', from: mode, to: model.modes[model.sizes.indexOf(size)]!, reason }];
}

function isDefault({ field, from }: Adjustment, model: VideoModel | undefined): boolean {
	const row = FIELDS.find(({ apiName }) => apiName === field);
	return row !== undefined && model !== undefined && row.defaultValue(model) === from;
}

function refusal({ field, from, to, reason }: Adjustment): InputError {
	const label = [...FIELDS, ...REFERENCES].find(({ apiName }) => apiName === field)!.label;
	const given = Array.isArray(from) ? `are ${from.length}` : `is ${String(from)}`;
	const instead = Array.isArray(to)
		? `Give ${to.length} at most`
		: to === null
			? 'Leave it out'
			: `Use ${String(to)}`;
	return new InputError(
		label,
		`${given}. ${reason}`,
		`${instead}, or set Values the Model Does Not Take to Adjust and Report`,
	);
}

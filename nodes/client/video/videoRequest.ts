import { emptyText, InputError } from '../errors';
import type { JsonObject } from '../json';
import { counted, readNumber, readSwitch } from '../values';
import {
	findModel,
	maxReferences,
	REFERENCES,
	VIDEO_FIELDS,
	type Reference,
	type VideoField,
	type VideoModel,
	type VideoRequest,
	type VideoValue,
} from './models';

/** The input for one video. */
export interface EnteredVideo {
	readonly model: string;
	/** Code of the row that the model behaves like; its own without one. */
	readonly like?: string;
	readonly prompt: string;
	/** Texts by the keys of VIDEO_FIELDS; an empty text stands for the model's default. */
	readonly fields: Readonly<Record<string, string>>;
	readonly references: readonly Reference[];
	/** More fields of the request, for parameters that the specification does not have; see `REQUEST_NAMES`. */
	readonly extra?: JsonObject;
}

/** A duration that is not sent as it was entered: for the output. */
export interface Adjustment {
	/** Field name in the request. */
	readonly field: string;
	readonly from: VideoValue;
	readonly to: VideoValue;
	readonly reason: string;
}

/** Parsers of the entered texts, by the type of the field. */
const PARSERS: Readonly<
	Record<VideoField['type'], (text: string, label: string) => VideoValue | undefined>
> = {
	text: (text) => text,
	// 0 stands for the model's default.
	seconds: (text, label) => readNumber(text, label, { min: 0, integer: true }, 5) || undefined,
	flag: readSwitch,
};

/**
 * Builds the creation request (spec 2.8). What the model does not take is rejected before anything is sent (spec 2.11):
 *
 * | input                                                  | sent                                 |
 * | ------------------------------------------------------ | ------------------------------------ |
 * | an empty field                                         | no such field: the model's default   |
 * | a value in another case                                | the model's spelling                 |
 * | a duration that the service maps to one of the model's | that one, reported                   |
 * | duration and sound, for a video to edit                | no such field                        |
 * | another unsupported value, too many files              | nothing: an error with what it takes |
 *
 * @throws InputError for the first mistake. A model that is not in the table takes every value, and as many files as the service.
 */
export function videoRequest(entered: EnteredVideo) {
	const { model: code, like = code, prompt, fields, references, extra = {} } = entered;
	if (code === '') throw new InputError('Model', 'is empty', 'Choose a model, or enter its code');
	if (prompt.trim() === '') throw emptyText('Prompt');
	const model = findModel({ code, like });
	const adjustments: Adjustment[] = [];
	const sent: Record<string, VideoValue | readonly string[]> = {};
	for (const { kind, apiName } of REFERENCES) {
		const urls = references.flatMap((each) => (each.kind === kind ? each.url : []));
		if (urls.length > 0) sent[apiName] = urls;
	}
	const isEdited = model?.editsVideos === true && sent['videos'] !== undefined;
	// The image mode is about images; an edited video keeps its length and its sound (spec 2.8, 2.11).
	const unused = new Set([
		...(sent['images'] ? [] : ['image_mode']),
		...(isEdited ? ['duration', 'generate_audio'] : []),
	]);
	for (const field of VIDEO_FIELDS) {
		const { key, apiName, label, type } = field;
		const text = (fields[key] ?? '').trim();
		const from = text === '' ? undefined : PARSERS[type](text, label);
		if (from === undefined || unused.has(apiName)) continue;
		const to = model ? supported(field, from, model) : from;
		sent[apiName] = to;
		if (model && type === 'seconds' && to !== from)
			adjustments.push({ field: apiName, from, to, reason: takes(field, model) });
	}
	const { size, mode } = sent;
	if (model?.modesInPlaceOfSize && size !== undefined && mode !== undefined)
		throw new InputError(
			'Quality Mode',
			`is ${String(mode)} beside the Size ${String(size)}, which says the same`,
			'Leave one of them empty',
		);
	const request: VideoRequest = { model: code, prompt, ...sent, ...extra };
	checkFiles(request, model);
	return {
		/** Ready to be sent. */
		request,
		/** Durations that are not sent as they were entered. */
		adjustments,
		/** Length of the video; undefined for one to edit, which keeps its length, and where nothing says it. */
		seconds: isEdited ? undefined : (request.duration ?? model?.defaultDuration),
	};
}

/** All values that the model supports. */
const valuesOf = ({ values, unlisted }: VideoField, model: VideoModel) => [
	...values(model),
	...(unlisted?.(model) ?? []),
];

const takes = (field: VideoField, model: VideoModel) =>
	`${model.code} supports ${field.label} ${listed(valuesOf(field, model))}`;

/** The value of the model that an entered one is, or that the service makes of it. */
function supported(field: VideoField, entered: VideoValue, model: VideoModel): VideoValue {
	const { label, type } = field;
	const known = valuesOf(field, model);
	const text = String(entered).toLowerCase();
	const found =
		known.find((value) => String(value).toLowerCase() === text) ??
		(type === 'seconds' ? mappedDuration(Number(entered), model) : undefined);
	if (found !== undefined) return found;
	const problem = `is ${entered}, a field that ${model.code} does not have`;
	if (known.length === 0) throw new InputError(label, problem, 'Leave it empty');
	throw new InputError(label, `is ${entered}. ${takes(field, model)}`, `Use ${listed(known)}`);
}

/** What the service makes of another duration, in seconds; undefined where it rejects it. */
function mappedDuration(
	entered: number,
	{ durations, durationRule }: VideoModel,
): number | undefined {
	if (durationRule === 'longer')
		return durations.find((each) => each >= entered) ?? durations.at(-1);
	if (durationRule === undefined) return undefined;
	const distance = (each: number) => Math.abs(each - entered);
	return durations.toSorted((a, b) => distance(a) - distance(b))[0];
}

/** @throws InputError for files that the model, or the service, does not take in this number or alone (spec 2.8, 8). */
function checkFiles(request: VideoRequest, model: VideoModel | undefined): void {
	const { images = [], videos = [], audios = [], image_mode: mode } = request;
	for (const row of REFERENCES) {
		const { length } = request[row.apiName] ?? [];
		const max = maxReferences(row, model, mode);
		if (length <= max) continue;
		const who = model?.code ?? 'The service';
		const withMode = row.kind === 'image' && mode ? ` with Image Mode ${mode}` : '';
		const limit = max === 0 ? `no ${row.noun}` : `at most ${max}${withMode}`;
		throw new InputError(
			'References',
			`contain ${counted(length, row.noun)}. ${who} supports ${limit}`,
			max === 0 ? 'Remove it' : `Use at most ${max}`,
		);
	}
	if (audios.length > 0 && images.length + videos.length === 0)
		throw new InputError(
			'References',
			'contain audio alone',
			'Add at least one image or video',
		);
}

/** Values as text: `4, 8 or 12`. */
export function listed(values: readonly VideoValue[]): string {
	if (values.length < 2) return values.join('');
	return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

import { emptyText, InputError } from '../errors';
import { withoutUndefined } from '../json';
import { counted, readNumber, readSwitch } from '../values';
import {
	maxReferences,
	REFERENCES,
	VIDEO_FIELDS,
	type Reference,
	type ReferenceRow,
	type VideoField,
	type VideoRequest,
	type VideoValue,
} from './fields';
import { findModel, VIDEO_MODELS, type VideoModel } from './models';

/** The input for one video. */
export interface EnteredVideo {
	readonly model: string;
	/** Code of the row that the model behaves like; its own without one. */
	readonly like?: string;
	readonly prompt: string;
	/** Texts by the keys of VIDEO_FIELDS; an empty text stands for the model's default. */
	readonly fields: Readonly<Record<string, string>>;
	readonly references: readonly Reference[];
}

/** A duration that is not sent as it was entered: for the output. */
export interface Adjustment {
	/** Field name in the request. */
	readonly field: string;
	readonly from: VideoValue;
	/** `null` where the field is not sent. */
	readonly to: VideoValue | null;
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
 * Builds the creation request (spec 2.8). What the model does not take is refused before anything is sent (spec 2.11):
 *
 * | input                                                   | sent                                   |
 * | ------------------------------------------------------- | -------------------------------------- |
 * | an empty field                                          | no such field: the model's default     |
 * | a value in another case                                 | the model's spelling                   |
 * | a duration that the service maps to one of the model's  | that one, reported                     |
 * | the default of a field that the model does not have     | no such field: a form may have kept it |
 * | another unsupported value, too many files               | nothing: an error with what it takes   |
 * | duration and sound, for a video to edit                 | no duration, reported; no sound        |
 * | size and quality mode                                   | both alike, by what is not the default |
 *
 * @throws InputError for the first mistake. A model that is not in the table takes every value, and as many files as the service.
 */
export function videoRequest(entered: EnteredVideo) {
	const { model: code, like = code, prompt, fields, references } = entered;
	if (code === '') throw new InputError('Model', 'is empty', 'Choose a model, or enter its code');
	if (prompt.trim() === '') throw emptyText('Prompt');
	const model = findModel({ code, like });
	const adjustments: Adjustment[] = [];
	const urlsOf = ({ kind }: ReferenceRow) =>
		references.flatMap((each) => (each.kind === kind ? each.url : []));
	const files = Object.fromEntries(REFERENCES.map((row) => [row.apiName, urlsOf(row)]));
	const isEdited = model?.editsVideos === true && files['videos']!.length > 0;

	function toSend(field: VideoField): VideoValue | undefined {
		const { key, apiName, label, type } = field;
		const text = (fields[key] ?? '').trim();
		const from = text === '' ? undefined : PARSERS[type](text, label);
		if (from === undefined || model === undefined) return from;
		// As the service does, whatever is sent.
		if (isEdited && apiName === 'generate_audio') return false;
		const isIgnored = isEdited && apiName === 'duration';
		const to = isIgnored ? undefined : supported(field, from, model);
		const isUnset = isIgnored && from === model.defaultDuration;
		if (apiName !== 'duration' || to === from || isUnset) return to;
		const reason = isIgnored
			? `${code} keeps the length and the sound of an edited video`
			: takes(field, model);
		adjustments.push({ field: apiName, from, to: to ?? null, reason });
		return to;
	}

	// Without images the image mode has no meaning.
	const hasMode = files['images']!.length > 0;
	const rows = VIDEO_FIELDS.filter(({ apiName }) => apiName !== 'image_mode' || hasMode);
	const values = Object.fromEntries(rows.map((field) => [field.apiName, toSend(field)]));
	const sent = Object.entries(files).filter(([, urls]) => urls.length > 0);
	const whole: VideoRequest = { model: code, prompt, ...Object.fromEntries(sent), ...values };
	checkFiles(whole, model);
	const request = withoutUndefined<VideoRequest>(model ? withOneSize(whole, model) : whole);
	const seconds = isEdited ? undefined : (request.duration ?? model?.defaultDuration);
	return {
		/** Ready to be sent. */
		request,
		/** Durations that are not sent as they were entered. */
		adjustments,
		/** Length of the video; undefined for one to edit, which keeps its length, and where nothing says it. */
		seconds,
	};
}

const takes = ({ label, values }: VideoField, model: VideoModel) =>
	`${model.code} supports ${label} ${listed(values(model))}`;

/** The value of the model that an entered one is, or that the service makes of it; undefined for the default of another model. */
function supported(
	field: VideoField,
	entered: VideoValue,
	model: VideoModel,
): VideoValue | undefined {
	const { apiName, label, values, defaultValue } = field;
	const isEntered = (value?: VideoValue) =>
		String(value).toLowerCase() === String(entered).toLowerCase();
	const known = values(model);
	if (known.length === 0) {
		if (isEntered(defaultValue(model))) return undefined;
		const problem = `is ${entered}, which ${model.code} does not support`;
		const others = orAnother((each) => values(each).some(isEntered));
		throw new InputError(label, problem, `Leave it empty${others}`);
	}
	const found =
		known.find(isEntered) ??
		(apiName === 'duration' ? mappedDuration(Number(entered), model) : undefined);
	if (found !== undefined) return found;
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
	return durations.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}

/** The models that take it, as the end of a hint. */
function orAnother(takesIt: (model: VideoModel) => boolean): string {
	const codes = VIDEO_MODELS.filter(takesIt).map(({ code }) => code);
	return codes.length === 0 ? '' : `, or use a model like ${listed(codes)}`;
}

/** @throws InputError for files that the model, or the service, does not take in this number or alone (spec 2.8, 8). */
function checkFiles(request: VideoRequest, model: VideoModel | undefined): void {
	const { images = [], videos = [], audios = [], image_mode: mode } = request;
	for (const row of REFERENCES) {
		const { length } = request[row.apiName] ?? [];
		const max = maxReferences(row, model, mode);
		if (length <= max) continue;
		const who = model?.code ?? 'The service';
		if (max === 0) {
			const problem = `contain ${row.one}, which ${who} does not support`;
			const others = orAnother((each) => maxReferences(row, each) > 0);
			throw new InputError('References', problem, `Remove it${others}`);
		}
		const withMode = row.kind === 'image' && mode ? ` with Image Mode ${mode}` : '';
		const problem = `contain ${counted(length, row.noun)}. ${who} supports at most ${max}${withMode}`;
		throw new InputError('References', problem, `Use at most ${max}`);
	}
	if (audios.length > 0 && images.length + videos.length === 0)
		throw new InputError(
			'References',
			'contain audio alone',
			'Add at least one image or video',
		);
}

/** Size and quality mode of a model mean the same: the one that is not the default decides, and the other one follows. */
function withOneSize(request: VideoRequest, { modes, sizes }: VideoModel): VideoRequest {
	const { size, mode, ...others } = request;
	const all = Object.keys(modes);
	if (size === undefined || all.length === 0) return request;
	const isSet = mode !== undefined && mode !== all[0];
	const meant = isSet ? mode : all.find((each) => modes[each] === size)!;
	if (sizes.length === 0) return { ...others, mode: meant };
	return { ...others, size: modes[meant]!, ...(mode !== undefined && { mode: meant }) };
}

/** Values as text: `4, 8 or 12`. */
export function listed(values: readonly VideoValue[]): string {
	if (values.length < 2) return values.join('');
	return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

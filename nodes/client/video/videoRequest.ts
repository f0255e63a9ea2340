import { emptyText, InputError } from '../errors';
import { withoutUndefined, type JsonValue } from '../json';
import { counted, readNumber } from '../values';
import {
	isDefault,
	maxReferences,
	REFERENCES,
	VIDEO_FIELDS,
	type Reference,
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

/** Parsers of the entered texts, by the type of the field. */
const PARSERS: Readonly<
	Record<VideoField['type'], (text: string, label: string) => VideoValue | undefined>
> = {
	text: (text) => text,
	// 0 stands for the model's default.
	seconds: (text, label) => readNumber(text, label, { min: 0, integer: true }, 5) || undefined,
	flag(text, label) {
		if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
		throw new InputError(label, `is ${text}`, 'Enter true or false');
	},
};

/**
 * Builds the creation request (spec 2.8), validated and normalized for the model (spec 2.11). An empty field is not
 * sent: the model's default applies.
 *
 * @throws InputError when the input is invalid, or when a value is unsupported and `unsupported` is `reject`.
 */
export function videoRequest(entered: EnteredVideo, unsupported: UnsupportedValues) {
	const { model: code, like = code } = entered;
	const model = findModel({ code, like });
	const all = enteredRequest(entered);
	validate(all, model);
	const { request, adjustments } = normalize(all, model, unsupported);
	const isEdited = model?.editsVideos === true && request.videos !== undefined;
	const seconds = isEdited ? undefined : (request.duration ?? model?.defaultDuration);
	return {
		/** Ready to be sent. */
		request,
		/** Values that are not sent as they were entered. */
		adjustments,
		/** Length of the video; undefined for one to edit, which keeps its length, and where nothing says it. */
		seconds,
	};
}

function enteredRequest({ model, prompt, fields, references }: EnteredVideo): VideoRequest {
	const files = REFERENCES.map(({ kind, apiName }) => {
		const urls = references.filter((each) => each.kind === kind).map(({ url }) => url);
		return [apiName, urls.length > 0 ? urls : undefined] as const;
	});
	const hasImages = references.some(({ kind }) => kind === 'image');
	const values = VIDEO_FIELDS.filter(
		// Without images the image mode has no meaning.
		({ apiName }) => apiName !== 'image_mode' || hasImages,
	).map((field) => [field.apiName, valueOf(field, fields[field.key] ?? '')] as const);
	const entries = Object.fromEntries<string[] | VideoValue | undefined>([...files, ...values]);
	return withoutUndefined({ model, prompt, ...entries });
}

function valueOf({ label, type }: VideoField, entered: string): VideoValue | undefined {
	const text = entered.trim();
	return text === '' ? undefined : PARSERS[type](text, label);
}

/** What to do with values that the model does not support: adjust and report them, or reject them. */
export type UnsupportedValues = 'adjust' | 'reject';

/** A value that is not sent as it was entered: for the output. */
export interface Adjustment {
	/** Field name in the request. */
	readonly field: string;
	readonly from: JsonValue;
	/** `null` where the field is not sent. */
	readonly to: JsonValue;
	readonly reason: string;
}

type Rule = (request: VideoRequest, model: VideoModel | undefined) => readonly Adjustment[];

/**
 * Normalizes the request for the model.
 *
 * @param model Undefined for a model that is not in the table: then only the service's limits for files apply.
 * @param unsupported `reject` throws instead of adjusting a value. A default value is changed in both cases, and not
 *   reported: nobody set it, the form fills it in.
 * @throws InputError for the first value without a supported one that is close, or with `reject` the first unsupported one.
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
			const { field, from } = adjustment;
			const row = VIDEO_FIELDS.find(({ apiName }) => apiName === field);
			const isSet =
				from !== null && !(row && model && isDefault(row, entered[row.apiName], model));
			if (unsupported === 'reject' && isSet) throw toInputError(adjustment);
			if (isSet) adjustments.push(adjustment);
			request = withoutUndefined<VideoRequest>({
				...request,
				[field]: adjustment.to ?? undefined,
			});
		}
	}
	return { request, adjustments };
}

const excessFiles: Rule = (request, model) =>
	REFERENCES.flatMap((row) => {
		const { image_mode: imageMode } = request;
		const from = [...(request[row.apiName] ?? [])];
		const max = maxReferences(row, model, imageMode);
		if (from.length <= max) return [];
		const withMode = row.kind === 'image' && imageMode ? ` with image mode ${imageMode}` : '';
		const subject = model === undefined ? 'The service' : model.code + withMode;
		const [to, reason] =
			max === 0
				? [null, `${subject} does not support ${row.noun}s`]
				: [from.slice(0, max), `${subject} supports at most ${counted(max, row.noun)}`];
		return [{ field: row.apiName, from, to, reason }];
	});

const unsupportedValues: Rule = (request, model) => {
	if (model === undefined) return [];
	return VIDEO_FIELDS.flatMap(({ apiName: field, label, values, closest }): Adjustment[] => {
		const from = request[field];
		const known = values(model);
		if (from === undefined || known.includes(from)) return [];
		if (known.length === 0)
			return [{ field, from, to: null, reason: `${model.code} does not support ${label}` }];
		if (closest === undefined) return [];
		const supported = listed(known);
		const reason = `${model.code} supports ${label} ${supported}`;
		const to = closest(from, model);
		if (to === undefined)
			throw new InputError(label, `is ${from}. ${reason}`, `Use ${supported}`);
		return [{ field, from, to, reason }];
	});
};

const editedVideo: Rule = ({ videos = [], duration = null, generate_audio: sound }, model) => {
	if (model === undefined || !model.editsVideos || videos.length === 0) return [];
	const reason = `${model.code} keeps the length and the sound of an edited video`;
	return [
		{ field: 'duration', from: duration, to: null, reason },
		{ field: 'generate_audio', from: sound ?? false, to: false, reason },
	].filter(({ from, to }) => from !== to);
};

const sizeAndMode: Rule = ({ size, mode }, model) => {
	const { code, modes = {}, sizes = [] } = model ?? {};
	const [first, ...others] = Object.keys(modes);
	if (first === undefined || size === undefined) return [];
	const isSet = mode !== undefined && mode !== first;
	const meant = isSet ? mode : (others.find((each) => modes[each] === size) ?? first);
	const hasSize = sizes.length > 0;
	const reason = `${code}: Quality Mode ${meant} means Size ${modes[meant]}`;
	return [
		...(hasSize && mode === undefined
			? []
			: [{ field: 'mode', from: mode ?? null, to: meant, reason }]),
		{ field: 'size', from: size, to: hasSize ? modes[meant]! : null, reason },
	].filter(({ from, to }) => from !== to);
};

/**
 * Normalization rules, in the order in which they apply: what the service would change or ignore (spec 2.8, 2.11).
 *
 * | input                                       | sent                                      |
 * | ------------------------------------------- | ----------------------------------------- |
 * | more files than the model or service allows | the first ones                            |
 * | audio, for a model without audio            | no audio                                  |
 * | a field that the model ignores              | no such field                             |
 * | an unsupported value                        | the closest supported one, or an error    |
 * | duration and sound, for a video to edit     | no duration, no generated sound           |
 * | a size that does not match the quality mode | a match, keeping what is not the default  |
 * | a size, for a model with quality modes only | the quality mode that means it            |
 */
const RULES: readonly Rule[] = [excessFiles, unsupportedValues, editedVideo, sizeAndMode];

function toInputError({ field, from, to, reason }: Adjustment): InputError {
	const label = [...VIDEO_FIELDS, ...REFERENCES].find(({ apiName }) => apiName === field)!.label;
	const [given, instead] = Array.isArray(from)
		? [`are ${from.length}`, Array.isArray(to) ? `Use at most ${to.length}` : 'Remove them']
		: [`is ${String(from)}`, to === null ? 'Leave it empty' : `Use ${String(to)}`];
	return new InputError(
		label,
		`${given}. ${reason}`,
		`${instead}, or set Unsupported Values to Adjust and Report`,
	);
}

/** Values as text: `4, 8 or 12`. */
export function listed(values: readonly (string | number | boolean)[]): string {
	if (values.length < 2) return values.join('');
	return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/**
 * Rejects what the service would answer 400 to (spec 7.2), and input that the video would not match, where no supported
 * value comes close to it.
 *
 * @param model Undefined for a model that is not in the table.
 * @throws InputError for the first mistake.
 */
export function validate(
	{ model: code, prompt, images = [], videos = [], audios = [], image_mode: mode }: VideoRequest,
	model: VideoModel | undefined,
): void {
	if (code === '') throw new InputError('Model', 'is empty', 'Choose a model, or enter its code');
	if (prompt.trim() === '') throw emptyText('Prompt');
	if (videos.length > 0 && model?.maxVideos === 0) {
		const others = VIDEO_MODELS.filter(({ maxVideos }) => maxVideos > 0);
		throw new InputError(
			'References',
			`contain a video, which ${model.code} does not support`,
			`Remove the video, or use a model like ${listed(others.map((each) => each.code))}`,
		);
	}
	// A model without audio ignores it, and generates the video from the prompt alone.
	if (audios.length > 0 && images.length + videos.length === 0 && model?.maxAudios !== 0)
		throw new InputError(
			'References',
			'contain audio alone',
			'Add at least one image or video',
		);
	if (mode !== undefined && model !== undefined && !Object.hasOwn(model.imageModes, mode)) {
		throw new InputError(
			'Image Mode',
			`is ${mode}, which ${model.code} does not support`,
			`Use ${listed(Object.keys(model.imageModes))}, or another model`,
		);
	}
}

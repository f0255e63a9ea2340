import { emptyText, InputError } from '../errors';
import type { VideoRequest } from './createVideo';
import { VIDEO_MODELS, type VideoModel } from './models';

/** A validation rule: the error, or false. `model` is undefined where it is not in the table. */
type Rule = (request: VideoRequest, model: VideoModel | undefined) => InputError | false;

/** The codes of the models that meet a condition, as text. */
function modelsThat(matches: (model: VideoModel) => boolean): string {
	return listed(VIDEO_MODELS.filter(matches).map(({ code }) => code));
}

/** Values as text: `4, 8 or 12`. */
export function listed(values: readonly (string | number | boolean)[]): string {
	if (values.length < 2) return values.join('');
	return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/**
 * What is rejected before it is sent: the service would answer 400 (spec 7.2), or the video would not match the input,
 * and no supported value comes close to it.
 */
const RULES: readonly Rule[] = [
	({ model }) =>
		model === '' && new InputError('Model', 'is empty', 'Choose a model, or enter its code'),
	({ prompt }) => prompt.trim() === '' && emptyText('Prompt'),
	({ videos = [] }, model) =>
		videos.length > 0 &&
		model?.maxVideos === 0 &&
		new InputError(
			'References',
			`contain a video, which ${model.code} does not support`,
			`Remove the video, or use a model like ${modelsThat(({ maxVideos }) => maxVideos > 0)}`,
		),
	({ images = [], videos = [], audios = [] }, model) =>
		// A model without audio ignores it, and generates the video from the prompt alone.
		audios.length > 0 &&
		images.length + videos.length === 0 &&
		model?.maxAudios !== 0 &&
		new InputError('References', 'contain audio alone', 'Add at least one image or video'),
	({ image_mode: mode }, model) =>
		mode !== undefined &&
		model !== undefined &&
		!Object.hasOwn(model.imageModes, mode) &&
		new InputError(
			'Image Mode',
			`is ${mode}, which ${model.code} does not support`,
			`Use ${listed(Object.keys(model.imageModes))}, or another model`,
		),
];

/**
 * Validates the request.
 *
 * @throws InputError for the first rule that the request violates.
 */
export function validate(request: VideoRequest, model: VideoModel | undefined): void {
	for (const rule of RULES) {
		const error = rule(request, model);
		if (error !== false) throw error;
	}
}

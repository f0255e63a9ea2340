import { InputError } from '../errors';
import type { VideoRequest } from './createVideo';
import { VIDEO_MODELS, type VideoModel } from './models';

interface Violation {
	readonly field: string;
	readonly problem: string;
	readonly hint: string;
}

/** A validation rule; `model` is undefined where it is not in the table. */
type Rule = (request: VideoRequest, model: VideoModel | undefined) => Violation | undefined;

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
		model === ''
			? {
					field: 'Model',
					problem: 'is empty',
					hint: 'Choose a model, or enter its code',
				}
			: undefined,
	({ prompt }) =>
		prompt.trim() === ''
			? {
					field: 'Prompt',
					problem: 'is empty',
					hint: 'Enter a text, or an expression that returns one for every item',
				}
			: undefined,
	({ videos = [] }, model) =>
		videos.length > 0 && model?.maxVideos === 0
			? {
					field: 'References',
					problem: `contain a video, which ${model.code} does not support`,
					hint: `Remove the video, or use ${modelsThat(({ maxVideos }) => maxVideos > 0)}`,
				}
			: undefined,
	({ images = [], videos = [], audios = [] }, model) =>
		images.length > 0 && videos.length > 0 && audios.length > 0 && model?.maxAudios === 0
			? {
					field: 'References',
					problem: `contain images, videos and audio together, which ${model.code} does not support`,
					hint: `Remove one kind, or use ${modelsThat(({ maxAudios }) => maxAudios > 0)}`,
				}
			: undefined,
	({ images = [], videos = [], audios = [] }, model) =>
		// A model without audio ignores it, and generates the video from the prompt alone.
		audios.length > 0 && images.length + videos.length === 0 && model?.maxAudios !== 0
			? {
					field: 'References',
					problem: 'contain audio alone',
					hint: 'Add at least one image or video',
				}
			: undefined,
	({ image_mode: mode }, model) =>
		mode !== undefined && model !== undefined && !Object.hasOwn(model.imageModes, mode)
			? {
					field: 'Image Mode',
					problem: `is ${mode}, which ${model.code} does not support`,
					hint: `Use ${listed(Object.keys(model.imageModes))}, or another model`,
				}
			: undefined,
];

/**
 * Validates the request.
 *
 * @throws InputError for the first rule that the request violates.
 */
export function validate(request: VideoRequest, model: VideoModel | undefined): void {
	for (const rule of RULES) {
		const violation = rule(request, model);
		if (violation !== undefined) {
			throw new InputError(violation.field, violation.problem, violation.hint);
		}
	}
}

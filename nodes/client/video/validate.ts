import { InputError } from '../errors';
import type { VideoRequest } from './createVideo';
import { VIDEO_MODELS, type VideoModel } from './models';

interface Refusal {
	readonly field: string;
	readonly problem: string;
	readonly hint: string;
}

/** A rule that a request breaks or not; `model` is undefined where it is not one of ours. */
type Rule = (request: VideoRequest, model: VideoModel | undefined) => Refusal | undefined;

/** The codes of the models for which something holds, in words. */
function modelsThat(holds: (model: VideoModel) => boolean): string {
	return inWords(VIDEO_MODELS.filter(holds).map(({ code }) => code));
}

/** Values as a list in words: `4, 8 or 12`. */
export function inWords(values: readonly (string | number | boolean)[]): string {
	if (values.length < 2) return values.join('');
	return `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}

/**
 * What is refused before it is sent: the service would answer 400 (spec 7.2), or the video would have nothing to do with
 * what was entered, and nothing that comes near it can be sent instead.
 */
const RULES: readonly Rule[] = [
	({ model }) =>
		model === ''
			? {
					field: 'Model',
					problem: 'is empty',
					hint: 'Choose a model, or type its code',
				}
			: undefined,
	({ prompt }) =>
		prompt.trim() === ''
			? {
					field: 'Prompt',
					problem: 'is empty',
					hint: 'Enter a text, or an expression that gives one for every item',
				}
			: undefined,
	({ videos = [] }, model) =>
		videos.length > 0 && model?.maxVideos === 0
			? {
					field: 'References',
					problem: `hold a video, which ${model.code} does not take`,
					hint: `Leave the video out, or use ${modelsThat(({ maxVideos }) => maxVideos > 0)}`,
				}
			: undefined,
	({ images = [], videos = [], audios = [] }, model) =>
		images.length > 0 && videos.length > 0 && audios.length > 0 && model?.maxAudios === 0
			? {
					field: 'References',
					problem: `hold images, videos and audio together, which ${model.code} does not take`,
					hint: `Leave one kind out, or use ${modelsThat(({ maxAudios }) => maxAudios > 0)}`,
				}
			: undefined,
	({ images = [], videos = [], audios = [] }, model) =>
		// Elsewhere audio has no effect, so that a text is left, which is enough.
		audios.length > 0 && images.length + videos.length === 0 && model?.maxAudios !== 0
			? {
					field: 'References',
					problem: 'hold audio alone',
					hint: 'Add at least one image or video',
				}
			: undefined,
	({ image_mode: mode }, model) =>
		mode !== undefined && model !== undefined && !Object.hasOwn(model.imageModes, mode)
			? {
					field: 'Image Mode',
					problem: `is ${mode}, which ${model.code} does not have`,
					hint: `Use ${inWords(Object.keys(model.imageModes))}, or another model`,
				}
			: undefined,
];

/** @throws InputError for the first rule that the request breaks. */
export function refuse(request: VideoRequest, model: VideoModel | undefined): void {
	for (const rule of RULES) {
		const broken = rule(request, model);
		if (broken !== undefined) {
			throw new InputError(broken.field, broken.problem, broken.hint);
		}
	}
}

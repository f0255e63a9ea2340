import { emptyText, InputError } from '../errors';
import type { VideoRequest } from './createVideo';
import { VIDEO_MODELS, type VideoModel } from './models';

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

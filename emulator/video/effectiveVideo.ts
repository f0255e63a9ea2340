import { checkPublicUrl } from '../checkPublicUrl';
import { ServiceError } from '../errors';
import { clipReferences, type Reference } from './clipReferences';
import type { ImageMode, VideoModel, VideoSize } from './models';
import type { VideoBody } from './requestSchema';

/** What the service makes of a creation request once the model's rules are applied. */
export interface EffectiveVideo {
	readonly model: string;
	readonly prompt: string;
	readonly size: VideoSize;
	readonly aspect_ratio: string;
	/** Seconds. */
	readonly duration: number;
	readonly image_mode: ImageMode | null;
	readonly images: readonly string[];
	readonly videos: readonly Reference[];
	readonly audios: readonly Reference[];
	readonly generate_audio: boolean;
	readonly watermark: boolean;
}

const MODE_SIZES: Readonly<Record<string, VideoSize>> = { std: '720P', pro: '1080P' };

function oneOf(field: string, value: string | number, allowed: readonly (string | number)[]) {
	if (allowed.includes(value)) return;
	throw new ServiceError(400, `${field} must be one of ${allowed.join(', ')} for this model`);
}

const DURATION_RULES = {
	refused(asked: number, durations: readonly number[]) {
		oneOf('duration', asked, durations);
		return asked;
	},
	fiveOrTen: (asked: number) => (asked <= 5 ? 5 : 10),
	nearest: (asked: number, durations: readonly number[]) =>
		durations.reduce((best, next) =>
			Math.abs(next - asked) < Math.abs(best - asked) ? next : best,
		),
};

function sizeOf(body: VideoBody, model: VideoModel): VideoSize {
	if (body.mode !== undefined && model.hasMode) oneOf('mode', body.mode, Object.keys(MODE_SIZES));
	if (body.size !== undefined && model.sizes.length > 0) {
		oneOf('size', body.size, model.sizes);
		return body.size.toUpperCase() as VideoSize;
	}
	if (body.mode !== undefined && model.hasMode) return MODE_SIZES[body.mode]!;
	return model.defaultSize.toUpperCase() as VideoSize;
}

function imagesOf(
	body: VideoBody,
	model: VideoModel,
): Pick<EffectiveVideo, 'image_mode' | 'images'> {
	const { images = [] } = body;
	if (images.length === 0) return { image_mode: null, images };

	const modes = model.images.map(([mode]) => mode);
	const image_mode = body.image_mode ?? modes[0]!;
	oneOf('image_mode', image_mode, modes);
	const [, most] = model.images.find(([mode]) => mode === image_mode)!;
	return { image_mode, images: images.slice(0, most) };
}

/**
 * Applies a model's rules to a creation request: defaults, snapping, caps, truncation and the fields
 * it ignores (spec 2.8, 2.11).
 * @throws ServiceError 400 for values the model does not take and references out of reach
 */
export function effectiveVideo(body: VideoBody, model: VideoModel): EffectiveVideo {
	for (const field of ['images', 'videos', 'audios'] as const) {
		body[field]?.forEach((url, index) => {
			checkPublicUrl(url, `${field}[${index}]`);
		});
	}
	const { aspect_ratio = '16:9' } = body;
	oneOf('aspect_ratio', aspect_ratio, model.ratios);
	const size = sizeOf(body, model);
	const images = imagesOf(body, model);
	const { videos, audios } = clipReferences(
		(body.videos ?? []).slice(0, model.mostVideos),
		(body.audios ?? []).slice(0, model.mostAudios),
	);
	if (audios.length > 0 && videos.length === 0 && images.images.length === 0) {
		throw new ServiceError(400, 'audios cannot be used alone: add an image or a video');
	}

	const edited = model.editsVideos ? videos[0] : undefined;
	const asked = body.duration ?? model.defaultDuration;
	return {
		model: model.code,
		prompt: body.prompt,
		size,
		aspect_ratio,
		duration: edited?.seconds ?? DURATION_RULES[model.durationRule](asked, model.durations),
		...images,
		videos,
		audios,
		generate_audio: model.hasAudio && !edited && (body.generate_audio ?? true),
		watermark: body.watermark ?? false,
	};
}

import { requirePublicUrl } from '../requirePublicUrl';
import { HttpError } from '../errors';
import { parseCdnVideo } from './cdnVideo';
import { EMULATED_MODELS, type EmulatedModel, type VideoSize } from './models';
import type { VideoBody } from './requestSchema';

/** Effective settings of a creation request, after the model's rules are applied. */
export type EffectiveVideo = ReturnType<typeof effectiveVideo>;

const MODE_SIZES: Readonly<Record<string, VideoSize>> = { std: '720P', pro: '1080P' };

type Value = string | number;
function requireOneOf(field: string, value: Value, allowed: readonly Value[]): void {
	if (allowed.includes(value)) return;
	throw new HttpError(400, `${field} must be one of ${allowed.join(', ')} for this model`);
}

const DURATION_POLICIES = {
	reject(requested: number, durations: readonly number[]) {
		requireOneOf('duration', requested, durations);
		return requested;
	},
	fiveOrTen: (requested: number) => (requested <= 5 ? 5 : 10),
	nearest: (requested: number, durations: readonly number[]) =>
		durations.reduce((best, next) =>
			Math.abs(next - requested) < Math.abs(best - requested) ? next : best,
		),
};

function sizeOf(body: VideoBody, model: EmulatedModel): VideoSize {
	if (body.mode !== undefined && model.hasMode)
		requireOneOf('mode', body.mode, Object.keys(MODE_SIZES));
	if (body.size !== undefined && model.sizes.length > 0) {
		requireOneOf('size', body.size, model.sizes);
		return body.size.toUpperCase() as VideoSize;
	}
	if (body.mode !== undefined && model.hasMode) return MODE_SIZES[body.mode]!;
	return model.defaultSize.toUpperCase() as VideoSize;
}

function imagesOf(body: VideoBody, model: EmulatedModel) {
	const { images = [] } = body;
	if (images.length === 0) return { image_mode: null, images };

	const modes = model.images.map(([mode]) => mode);
	const image_mode = body.image_mode ?? modes[0]!;
	requireOneOf('image_mode', image_mode, modes);
	const [, max] = model.images.find(([mode]) => mode === image_mode)!;
	return { image_mode, images: images.slice(0, max) };
}

/** Maximum total duration of the reference videos and audios of a request (spec 2.8). */
const MAX_TOTAL_SECONDS = 15;

/** Assumed duration of files that are not the emulator's own; it fetches nothing. */
const UNKNOWN_CLIP_SECONDS = 5;

const secondsOf = (url: string): number =>
	parseCdnVideo(new URL(url).pathname)?.seconds ?? UNKNOWN_CLIP_SECONDS;

/** Truncates reference videos, then audios, to a total of 15 seconds (spec 2.8); each with the seconds used of it. */
function clipReferences(videoUrls: readonly string[], audioUrls: readonly string[]) {
	let left = MAX_TOTAL_SECONDS;
	const clip = (url: string) => {
		const seconds = Math.min(secondsOf(url), left);
		left -= seconds;
		return seconds > 0 ? [{ url, seconds }] : [];
	};
	const videos = videoUrls.flatMap(clip);
	return { videos, audios: audioUrls.flatMap(clip) };
}

/**
 * Applies a model's rules to a creation request: defaults, snapping of durations, limits, truncation
 * and ignored fields (spec 2.8, 2.11).
 * @throws HttpError 400 for values that the model does not support and unreachable references
 */
export function effectiveVideo(body: VideoBody, model: EmulatedModel) {
	for (const field of ['images', 'videos', 'audios'] as const) {
		body[field]?.forEach((url, index) => {
			requirePublicUrl(url, `${field}[${index}]`);
		});
	}
	const { aspect_ratio = '16:9' } = body;
	requireOneOf('aspect_ratio', aspect_ratio, model.ratios);
	const size = sizeOf(body, model);
	const images = imagesOf(body, model);
	const { videos, audios } = clipReferences(
		(body.videos ?? []).slice(0, model.maxVideos),
		(body.audios ?? []).slice(0, model.maxAudios),
	);
	if (audios.length > 0 && videos.length === 0 && images.images.length === 0) {
		throw new HttpError(400, 'audios cannot be used alone. Add an image or a video.');
	}

	const edited = model.editsVideos ? videos[0] : undefined;
	const requested = body.duration ?? model.defaultDuration;
	return {
		model: model.code,
		prompt: body.prompt,
		size,
		aspect_ratio,
		duration:
			edited?.seconds ?? DURATION_POLICIES[model.durationPolicy](requested, model.durations),
		...images,
		videos,
		audios,
		generate_audio: model.hasAudio && !edited && (body.generate_audio ?? true),
		watermark: body.watermark ?? false,
	};
}

/** Whether a video has a sound track: a new one, or that of the video that was edited (spec 2.8 `generate_audio`). */
export function hasSound({ model, generate_audio, videos }: EffectiveVideo): boolean {
	const [source] = EMULATED_MODELS.find(({ code }) => code === model)!.editsVideos ? videos : [];
	const original = source && parseCdnVideo(new URL(source.url).pathname);
	return generate_audio || (original?.sound ?? false);
}

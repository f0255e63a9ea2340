import MODELS from './modelRows.json';

export type EmulatedImageMode = 'reference' | 'first_last_frame';
export type VideoSize = '480P' | '720P' | '1080P';

/** Handling of a duration that is not in the model's list. */
export type DurationPolicy = 'reject' | 'fiveOrTen' | 'nearest';

/**
 * Capabilities of a video model (spec 2.11). Written from the specification independently of
 * `nodes/client`, so that a misreading on one side fails the tests.
 */
export interface EmulatedModel {
	readonly code: string;
	readonly ratios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationPolicy: DurationPolicy;
	/** In the model's spelling; empty if it has no size parameter. */
	readonly sizes: readonly string[];
	/** Size of the video without `size` and `mode`. */
	readonly defaultSize: string;
	/** Whether the model supports `mode` (`std`, `pro`). */
	readonly hasMode: boolean;
	/** Maximum number of images per image mode; the first mode is the default, others are rejected. */
	readonly images: readonly (readonly [mode: EmulatedImageMode, max: number])[];
	readonly maxVideos: number;
	readonly maxAudios: number;
	/** Whether `generate_audio` has an effect. */
	readonly hasAudio: boolean;
	/** Whether `videos` are edited: `duration` is ignored and the original audio is kept (spec 2.8). */
	readonly editsVideos: boolean;
	/** Whether completed tasks have `thumbnail_url`. */
	readonly thumbnail: boolean;
	/** Whether completed tasks have `enhanced_prompt`. */
	readonly enhancedPrompt: boolean;
	/** Whether tasks start in `processing` instead of `queued`. */
	readonly skipsQueue: boolean;
}

/**
 * All video models (spec 2.11), one row each, with what differs from a model that takes text alone. Which ones return thumbnails and enhanced prompts is our
 * choice. A new size also needs an entry in `VideoSize` and in the CDN path (`cdnVideo.ts`).
 */
export const EMULATED_MODELS = MODELS.rows.map((row) => ({
	...MODELS.textOnly,
	...row,
})) as unknown as readonly EmulatedModel[];

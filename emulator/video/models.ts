import MODELS from './modelRows.json';

export type EmulatedImageMode = 'reference' | 'first_last_frame';
export type VideoSize = '480P' | '720P' | '1080P';

/** Handling of a duration that is not in the model's list. */
export type DurationPolicy = 'reject' | 'fiveOrTen' | 'nearest';

/**
 * Capabilities of a video model (spec 2.11), described in its rows. Written from the specification independently of
 * `nodes/client`, so that a misreading on one side fails the tests.
 */
export interface EmulatedModel extends Omit<typeof MODELS.textOnly, 'sizes'> {
	readonly code: string;
	readonly sizes: readonly string[];
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationPolicy: DurationPolicy;
	readonly images: readonly (readonly [mode: EmulatedImageMode, max: number])[];
}

/**
 * All video models (spec 2.11), one row each, with what differs from a model that takes text alone. Which ones return thumbnails and enhanced prompts is our
 * choice. A new size also needs an entry in `VideoSize` and in the CDN path (`cdnVideo.ts`).
 */
export const EMULATED_MODELS = MODELS.rows.map((row) => ({
	...MODELS.textOnly,
	...row,
})) as unknown as readonly EmulatedModel[];

/** Body of a creation request, before the model's rules are applied (spec 2.8). */
export interface VideoBody {
	readonly prompt: string;
	readonly model: string;
	readonly images?: readonly string[];
	readonly videos?: readonly string[];
	readonly audios?: readonly string[];
	readonly size?: string;
	readonly aspect_ratio?: string;
	readonly duration?: number;
	readonly mode?: string;
	readonly image_mode?: 'reference' | 'first_last_frame';
	readonly generate_audio?: boolean;
	readonly watermark?: boolean;
}

const NOT_EMPTY = { type: 'string', pattern: '\\S' };
const ADDRESSES = { type: 'array', items: { type: 'string' } };

/** JSON schema of {@link VideoBody}; unknown fields are ignored. */
export const VIDEO_SCHEMA = {
	type: 'object',
	required: ['prompt', 'model'],
	properties: {
		prompt: NOT_EMPTY,
		model: NOT_EMPTY,
		images: ADDRESSES,
		videos: ADDRESSES,
		audios: ADDRESSES,
		size: { type: 'string' },
		aspect_ratio: { type: 'string' },
		duration: { type: 'integer', minimum: 1 },
		mode: { type: 'string' },
		image_mode: { type: 'string', enum: ['reference', 'first_last_frame'] },
		generate_audio: { type: 'boolean' },
		watermark: { type: 'boolean' },
	},
} as const;

/** JSON schema of a task query (spec 2.10). */
export const TASK_SCHEMA = {
	type: 'object',
	required: ['task_id'],
	properties: { task_id: NOT_EMPTY },
} as const;

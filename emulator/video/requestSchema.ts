import SCHEMA from './requestSchema.json';

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

/** JSON schema of {@link VideoBody}; unknown fields are ignored. */
export const VIDEO_SCHEMA = SCHEMA;

/** JSON schema of a task query (spec 2.10). */
export const TASK_SCHEMA = {
	type: 'object',
	required: ['task_id'],
	properties: { task_id: { type: 'string', pattern: '\\S' } },
} as const;

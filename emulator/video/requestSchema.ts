import SCHEMA from './requestSchema.json';
import TASK from './taskSchema.json';

/** Body of a creation request, before the model's rules are applied (spec 2.8). */
export interface VideoBody extends Readonly<
	Partial<Record<'images' | 'videos' | 'audios', readonly string[]>> &
		Partial<Record<'size' | 'aspect_ratio' | 'mode', string>>
> {
	readonly prompt: string;
	readonly model: string;
	readonly duration?: number;
	readonly image_mode?: 'reference' | 'first_last_frame';
	readonly generate_audio?: boolean;
	readonly watermark?: boolean;
}

/** JSON schema of {@link VideoBody}; unknown fields are ignored. */
export const VIDEO_SCHEMA = SCHEMA;

/** JSON schema of a task query (spec 2.10). */
export const TASK_SCHEMA = TASK;

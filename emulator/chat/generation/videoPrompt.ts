import type { Question } from './question';

const SHOTS = [
	'Slow aerial shot of',
	'Low-angle tracking shot of',
	'Wide establishing shot of',
	'Close, quiet shot of',
	'Handheld medium shot following',
	'Smooth crane shot revealing',
] as const;

const LIGHTS = [
	'in the warm light of the golden hour',
	'under soft, hazy morning light',
	'in deep blue twilight',
	'beneath a bright, clear sky',
	'lit from behind with a glowing rim of light',
	'under dramatic, fast-moving clouds',
] as const;

const DETAILS = [
	'fine particles drifting through the beams',
	'small reflections shimmering in the foreground',
	'a light breeze stirring everything that can move',
	'rich textures in crisp focus',
	'long shadows sliding across the ground',
	'thin mist parting to show the background',
] as const;

const CAMERAS = [
	'the camera gliding forward at a steady pace',
	'the camera circling slowly to the left',
	'the camera pulling back to reveal the surroundings',
	'a gentle push-in that ends on the main subject',
	'the camera rising until the horizon appears',
] as const;

const STYLES = [
	'cinematic 35 mm look with natural colors',
	'documentary style with a calm mood',
	'painterly colors and a dreamy mood',
	'high contrast, elegant and modern',
	'soft film grain and a nostalgic mood',
] as const;

/**
 * Writes a detailed video prompt of one sentence (spec 2.8 `prompt`).
 * @param turn number of the prompt, if there are several about one topic
 */
export function writeVideoPrompt({ topic, choose }: Question, turn = 0): string {
	const subject = topic.replace(
		/^(?:a |the )?(?:short )?(?:video|clip|film)\s+(?:of|about)\s+/i,
		'',
	);
	return [
		`${choose(SHOTS, 'shot', turn)} ${subject} ${choose(LIGHTS, 'light', turn)}`,
		choose(DETAILS, 'detail', turn),
		choose(CAMERAS, 'camera', turn),
		`${choose(STYLES, 'style', turn)}.`,
	].join(', ');
}

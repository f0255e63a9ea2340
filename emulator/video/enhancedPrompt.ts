import { pick } from '../random';

const ENDINGS = [
	'soft natural light, shallow depth of field, gentle camera movement',
	'warm evening light, fine film grain, a slow push-in',
	'crisp daylight, rich colours, a steady tracking shot',
	'cool blue light, drifting haze, a wide establishing frame',
] as const;

/** The model's own, fuller version of a prompt (spec 2.10). */
export function enhancedPrompt(prompt: string, seed: number): string {
	return `${prompt.trim().replace(/[.!]+$/, '')}, ${pick(ENDINGS, seed, prompt)}.`;
}

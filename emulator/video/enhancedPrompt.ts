import { pick } from '../random';

const ENDINGS = [
	'soft natural light, shallow depth of field, gentle camera movement',
	'warm evening light, fine film grain, a slow push-in',
	'crisp daylight, rich colors, a steady tracking shot',
	'cool blue light, drifting haze, a wide establishing frame',
] as const;

/** `enhanced_prompt`: a more detailed version of a prompt (spec 2.10). */
export function enhancedPrompt(prompt: string, seed: number): string {
	return `${prompt.trim().replace(/[.!]+$/, '')}, ${pick(ENDINGS, seed, prompt)}.`;
}

import { languageOf } from '../chat/generation/language';
import { pick } from '../random';

/** `enhanced_prompt`: a more detailed version of a prompt (spec 2.10). */
export function enhancedPrompt(prompt: string, seed: number): string {
	return `${prompt.trim().replace(/[.!。！]+$/, '')}, ${pick(languageOf(prompt).lists['enhancement']!, seed, prompt)}.`;
}

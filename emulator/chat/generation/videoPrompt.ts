import type { Question } from './question';
import TEXTS from './texts.json';

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
		`${choose(TEXTS.shots, 'shot', turn)} ${subject} ${choose(TEXTS.lights, 'light', turn)}`,
		choose(TEXTS.details, 'detail', turn),
		choose(TEXTS.cameras, 'camera', turn),
		`${choose(TEXTS.styles, 'style', turn)}.`,
	].join(', ');
}

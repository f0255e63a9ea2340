import type { TextDelta } from './types';

/**
 * Turns what arrives of a reply into the text that a person watches: the answer, and the thinking before it where
 * that is wanted, set off by an empty line.
 */
export function liveText({ withReasoning }: { readonly withReasoning: boolean }) {
	let thinking = false;

	return ({ content, reasoning }: TextDelta): string => {
		const thoughts = withReasoning ? reasoning : '';
		const gap = (thinking || thoughts !== '') && content !== '' ? '\n\n' : '';
		thinking = (thinking || thoughts !== '') && content === '';
		return thoughts + gap + content;
	};
}

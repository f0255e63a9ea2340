import type { TextDelta } from './types';

/**
 * Creates a stateful mapper from text deltas to the text shown in a chat: the answer, optionally preceded by the
 * reasoning and an empty line.
 */
export function liveText({ withReasoning }: { readonly withReasoning: boolean }) {
	let isReasoning = false;

	return ({ content, reasoning }: TextDelta): string => {
		const shown = withReasoning ? reasoning : '';
		const separator = (isReasoning || shown !== '') && content !== '' ? '\n\n' : '';
		isReasoning = (isReasoning || shown !== '') && content === '';
		return shown + separator + content;
	};
}

import type { ChatDelta } from './types';

/**
 * Reasoning in front of the answer, where a server does not tell the two apart: in tags, or up to a closing one that has a line
 * of its own.
 */
const THOUGHT =
	/^\s*<think(?:ing)?>[^]*?(?:<\/think(?:ing)?>\s*|$)|^(?:(?!<think)[^])*?(?:^|\n)[^\S\n]*<\/think(?:ing)?>[^\S\n]*(?:\n\s*|$)/;
/** The tag that begins one, and what may become that: a reply of blanks is not read again with each piece. */
const BEGIN = /^\s*<think(?:ing)?>/;
const MAY_BEGIN = /^\s{0,1000}(?:<[a-z]{0,8})?$/;
/** The tag that ends it; the same, or what may become it, or the end. */
const END = /^<\/think(?:ing)?>\s*/;
const MAY_END = /<\/think(?:ing)?>|<[/a-z]*$|$/;

/** A text without its reasoning. */
export function withoutThought(text: string): string {
	return text.replace(THOUGHT, '');
}

/**
 * Shows a thought in front of the answer, in tags, as reasoning while it arrives. Holds back only what may become a tag, until the
 * last delta.
 */
export function withThoughtsApart(show: (delta: ChatDelta) => void) {
	let phase: 'begin' | 'thought' | 'answer' = 'begin';
	let held = '';
	return (delta: ChatDelta, isLast = false): void => {
		let { content, reasoning } = delta;
		if (phase !== 'answer') {
			held += content;
			content = '';
			if (phase === 'begin' && (isLast || !MAY_BEGIN.test(held))) {
				const rest = held.replace(BEGIN, '');
				phase = rest === held ? 'answer' : 'thought';
				held = rest;
			}
			if (phase === 'thought') {
				const at = isLast ? held.length : held.search(MAY_END);
				reasoning += held.slice(0, at);
				const rest = held.slice(at);
				held = rest.replace(END, '');
				if (held !== rest) phase = 'answer';
			}
			if (phase === 'answer') [content, held] = [held, ''];
		}
		if (!isLast || content + reasoning !== '') show({ ...delta, content, reasoning });
	};
}

import { maskIn } from '../http/secrets';
import type { Secrets } from '../ports';
import type { ChatDelta } from './types';

/** Shows what arrives of a reply without secrets. Holds back only what may begin one, until the next piece. */
export function maskedDeltas<R>(onDelta: (delta: ChatDelta) => R, secrets: Secrets) {
	const held = { content: '', reasoning: '' };
	function next(name: keyof typeof held, text: string, isLast: boolean): string {
		const all = secrets.mask(held[name] + text);
		const end = isLast ? all.length : all.length - secrets.tailOf(all);
		held[name] = all.slice(end);
		return all.slice(0, end);
	}
	const show = ({ content, reasoning, progress }: ChatDelta, isLast: boolean) =>
		onDelta({
			reasoning: next('reasoning', reasoning, isLast || content !== ''),
			content: next('content', content, isLast),
			progress: maskIn(progress, secrets),
		});
	return {
		show,
		end: () => {
			if (held.content + held.reasoning !== '')
				show({ content: '', reasoning: '', progress: [] }, true);
		},
	};
}

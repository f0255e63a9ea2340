import { InputError } from '../errors';
import type { ChatMessage } from './types';

/**
 * The messages for a prompt, after an optional system message (spec 2.2).
 *
 * @throws InputError when the prompt is empty: the service refuses messages without content.
 */
export function promptMessages(prompt: string, systemMessage = ''): ChatMessage[] {
	if (prompt.trim() === '') {
		throw new InputError(
			'Prompt',
			'is empty',
			'Enter a text, or an expression that gives one for every item',
		);
	}
	const user: ChatMessage = { role: 'user', content: prompt };
	return systemMessage.trim() === ''
		? [user]
		: [{ role: 'system', content: systemMessage }, user];
}

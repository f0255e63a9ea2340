import { ServiceError } from './errors';
import { hasTrigger } from './triggers';

/**
 * Rejects sensitive words (spec 7).
 * @param what what holds the text, for the message: `The question`, `The prompt`
 * @throws ServiceError 409 for the forbidden word, 503 for the word that breaks the service
 */
export function moderate(what: string, text: string): void {
	if (hasTrigger(text, 'forbiddenQuestion')) {
		throw new ServiceError(409, `Content moderation failed: ${what} holds sensitive words.`);
	}
	if (hasTrigger(text, 'abnormal')) {
		throw new ServiceError(503, 'Interface call abnormal. Please retry later.');
	}
}

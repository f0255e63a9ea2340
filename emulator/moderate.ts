import { HttpError } from './errors';
import { hasTrigger } from './triggers';

/**
 * Content moderation by trigger words (spec 7).
 * @param what source of the text, for the message: `the question`, `the prompt`
 * @throws HttpError 409 for `forbidden-word`, 503 for `broken-service`
 */
export function moderate(what: string, text: string): void {
	if (hasTrigger(text, 'forbiddenQuestion')) {
		throw new HttpError(409, `Content moderation failed: ${what} contains sensitive words.`);
	}
	if (hasTrigger(text, 'abnormal')) {
		throw new HttpError(503, 'Interface call abnormal. Please retry later.');
	}
}

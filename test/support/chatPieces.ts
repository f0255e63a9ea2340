import type { ServerResponse } from 'node:http';

import type { ChatCompletion, ReplyMessage } from '../../nodes/client/chat/types';

/** Writes each piece in a later turn of the event loop, as a slow model sends them, and ends the response. */
export function inPieces(response: ServerResponse, [piece, ...rest]: readonly string[]): void {
	if (piece === undefined) response.end();
	else response.write(piece, () => setImmediate(inPieces, response, rest));
}

/** A chunk of a stream: these fields of the message, and others of the choice. */
export const delta = (fields: object, more: object = {}) => ({
	choices: [{ index: 0, delta: fields, ...more }],
});

/** A whole reply. */
export const replyOf = (
	content: string | null,
	message: Partial<ReplyMessage> = {},
	finish_reason = 'stop',
): ChatCompletion => ({
	choices: [{ index: 0, message: { role: 'assistant', content, ...message }, finish_reason }],
});

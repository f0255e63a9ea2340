import { delta } from './chatPieces';
import { events, json, type Script } from './scriptedServer';

export const STOP = { finish_reason: 'stop' };

/** A reply in one piece (spec 2.4): its message, the other fields of its choice, and those beside it. */
export const bodyOf = (message: object, end: object = STOP, more: object = {}) => ({
	choices: [{ index: 0, message: { role: 'assistant', ...message }, ...end }],
	...more,
});

/** Answers with a reply as it is asked: in one piece, or streamed. */
export const replyWith =
	(message: object, end: object = STOP, more: object = {}): Script =>
	(response, { body }) => {
		const { stream } = body as { readonly stream?: boolean };
		if (stream !== true) json(response, 200, bodyOf(message, end, more));
		else events(response, [delta(message), { ...delta({}, end), ...more }, '[DONE]']);
	};

/** Answers with an error of the service (spec 7). */
export const fails =
	(status: number, message = 'no', headers: object = {}): Script =>
	(response) => {
		json(response, status, { error: { message } }, headers);
	};

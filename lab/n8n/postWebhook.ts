import { Agent } from 'node:http';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import axios, { type ResponseType } from 'axios';

const DATABASE_NOT_READY = 'Database is not ready!';
/** The webhook of a workflow answers 404 for a moment after activation. */
const REGISTRATION_LIMIT_MS = 60_000;
const ANSWER_LIMIT_MS = 120_000;
/** A new connection for each request: n8n may close an idle one just when it is used again. */
const httpAgent = new Agent({ keepAlive: false });

export interface WebhookAnswer<T> {
	readonly data: T;
	/** When the answered request was sent, in milliseconds since 1970. */
	readonly sentAtMs: number;
}

/**
 * Posts to the webhook of an active workflow.
 *
 * @param limitMs Timeout of the response, in milliseconds.
 * @param headers Login of the sender, if the webhook wants one.
 * @throws Error if the webhook does not answer with status 200.
 */
export async function postWebhook<T>(
	url: string,
	body: object,
	responseType: ResponseType = 'json',
	limitMs = ANSWER_LIMIT_MS,
	headers: Readonly<Record<string, string>> = {},
): Promise<WebhookAnswer<T>> {
	for (const deadline = Date.now() + REGISTRATION_LIMIT_MS; ;) {
		const sentAtMs = Date.now();
		const { status, data } = await axios.post<T>(url, body, {
			proxy: false,
			headers,
			httpAgent,
			responseType,
			timeout: limitMs,
			validateStatus: () => true,
		});
		if (status === 200) return { data, sentAtMs };
		if (status !== 404 || Date.now() > deadline) {
			const answer = data instanceof Readable ? await readText(data) : JSON.stringify(data);
			// n8n has started nothing when its database did not answer in time.
			if (status === 503 && answer.includes(DATABASE_NOT_READY) && Date.now() < deadline) {
				await sleep(1_000);
				continue;
			}
			throw new Error(`The webhook answered with status ${status}: ${answer}`);
		}
		// An unread stream would keep its connection open.
		if (data instanceof Readable) data.destroy();
		await sleep(100);
	}
}

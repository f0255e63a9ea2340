import type { ServerResponse } from 'node:http';

import type { N8nClient } from '../../../lab/n8n/N8nClient';
import { postWebhook } from '../../../lab/n8n/postWebhook';
import { SESSION_TABLE } from '../../../nodes/SuperAssistant/execute';
import { events, type Script } from '../../support/scriptedServer';
import { END, text } from './heldReply';

const SENDERS = 4;

/** An assistant that opens a session for each request without one. It answers the first ones once all of them have come. */
export function crowdedAssistant(): Script {
	const waiting: (readonly [response: ServerResponse, session: string])[] = [];
	let requests = 0;
	return (response, { body }) => {
		const { session_id: session = `s-${requests}` } = body as { session_id?: string };
		waiting.push([response, session]);
		requests += 1;
		if (requests < SENDERS) return;
		for (const [each, session_id] of waiting.splice(0))
			events(each, [{ session_id }, text('Hi'), END, '[DONE]']);
	};
}

/**
 * Sends first messages of the key `one` at the same moment, and a later one.
 *
 * @returns The sessions of the first messages, the one in the newest row of the key, and the one of the later message.
 */
export async function sendAtOnce(client: N8nClient, url: string) {
	const send = async () =>
		(await postWebhook<{ session_id: string }>(url, { message: 'Hello', key: 'one' })).data
			.session_id;
	const first = await Promise.all(Array.from({ length: SENDERS }, send));
	const rows = (await client.dataTableRows(SESSION_TABLE.name))!;
	const ofKey = rows.filter((row) => row['session_key'] === 'key one');
	return { first, newest: ofKey.at(-1)!['session_id'], later: await send() };
}

import { setTimeout as sleep } from 'node:timers/promises';

import { failureOf } from '../../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import { postWebhook } from '../../../lab/n8n/postWebhook';
import { events, type Script } from '../../support/scriptedServer';
import { heldReply, text } from './heldReply';

const SENDERS = 8;

/** An assistant whose first reply is held; a request without a session opens a new one. */
interface HeldAssistant {
	readonly script: Script;
	/** Sends the first reply. */
	finish(): void;
	/** The session of each request; `undefined` where it opened one. */
	readonly sessions: readonly (string | undefined)[];
}

export function heldAssistant(): HeldAssistant {
	const sessions: (string | undefined)[] = [];
	const first = heldReply([], [{ session_id: 's-0' }, text('Hi')]);
	const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
	return {
		sessions,
		finish: () => {
			first.finish();
		},
		script: (response, request, index) => {
			const { session_id: id } = request.body as { session_id?: string };
			const opened = `s-${sessions.length}`;
			sessions.push(id);
			if (sessions.length === 1) first.script(response, request, index);
			else events(response, [{ session_id: id ?? opened }, text('Hi'), end, '[DONE]']);
		},
	};
}

/**
 * Sends eight messages of one key at the same moment. The reply to the first is held until all executions exist.
 *
 * @returns The sessions of the replies.
 */
export async function sendAtOnce(
	client: N8nClient,
	ref: WorkflowRef,
	url: string,
	assistant: HeldAssistant,
): Promise<readonly string[]> {
	const before = (await client.executions(ref)).length;
	const replies = Promise.all(
		Array.from({ length: SENDERS }, () =>
			postWebhook<{ session_id: string }>(url, { message: 'Hello', key: 'one' }),
		),
	).catch(async (cause: unknown) => {
		const executions = (await client.executions(ref)).map(({ id }) =>
			client.waitForExecution(id),
		);
		const ended = await Promise.allSettled(executions);
		const failures = ended.map((each) => 'value' in each && failureOf(each.value));
		throw new Error(`${String(cause)}\n${failures.filter(Boolean).join('\n')}`, { cause });
	});
	const begun = async () => {
		const ready = async () =>
			assistant.sessions.length > 0 &&
			(await client.executions(ref)).length === before + SENDERS;
		while (!(await ready())) await sleep(50);
	};
	// A webhook that fails ends the wait.
	await Promise.race([begun(), replies]);
	assistant.finish();
	return (await replies).map(({ data }) => data.session_id);
}

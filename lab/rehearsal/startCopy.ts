import { randomUUID } from 'node:crypto';

import { imageFile } from '../../emulator/media/mediaFiles';
import { formData } from '../n8n/formData';
import { postWebhook } from '../n8n/postWebhook';
import type { Start } from './copyWorkflow';

/** Message of a chat without a pinned one. */
const MESSAGE = 'Make a video of "a lighthouse at dawn" for the email "ada@example.com".';
const PICTURE = new File([imageFile()], 'picture.jpg', { type: 'image/jpeg' });
/** A suspended execution goes on after a minute. */
export const RUN_LIMIT_MS = 6 * 60_000;

/** Starts a copy as its caller does. Resolves when n8n has answered, with any status, or has been killed. */
export async function startCopy(n8nUrl: string, { kind, node, pinned }: Start): Promise<void> {
	const chat = { action: 'sendMessage', sessionId: randomUUID(), chatInput: MESSAGE };
	const query = new URLSearchParams(pinned['query'] as Record<string, string> | undefined);
	const [path, body] = {
		webhook: () =>
			[`webhook/${node.webhookId}?${query.toString()}`, pinned['body'] ?? {}] as const,
		chat: () => [`webhook/${node.webhookId}/chat`, { ...chat, ...pinned }] as const,
		form: () => [`form/${node.webhookId}`, formData(node, pinned, PICTURE)] as const,
	}[kind]();
	const answer = postWebhook(`${n8nUrl}/${path}`, body, 'text', RUN_LIMIT_MS);
	await answer.catch((error: unknown) => {
		if (!String(error).includes('status 404')) return;
		throw new Error(`n8n does not know the ${kind} of ${node.name}`);
	});
}

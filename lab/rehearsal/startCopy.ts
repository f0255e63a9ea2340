import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';

import type { Start } from './copyWorkflow';

/** Message of a chat without a pinned one. */
const MESSAGE = 'Make a video of "a lighthouse at dawn" for the email "ada@example.com".';
/** A picture of one pixel. */
const PICTURE =
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Entries of a form without pinned ones, by type of field. */
const ENTRIES: Readonly<Record<string, string>> = {
	email: 'ada@example.com',
	number: '5',
	date: '2026-01-31',
};

/** A field of n8n's form. */
interface FormField {
	readonly fieldName?: string;
	readonly fieldLabel?: string;
	readonly fieldType?: string;
	readonly fieldOptions?: { readonly values?: readonly { readonly option: string }[] };
}

/** Starts a copy as its caller does. Resolves when n8n has answered, with any status, or has been killed. */
export async function startCopy(n8nUrl: string, { kind, node, pinned }: Start): Promise<void> {
	const [path, body] = {
		webhook: () => [`webhook/${node.webhookId}`, pinned['body'] ?? {}] as const,
		chat: () => [`webhook/${node.webhookId}/chat`, chatBody(pinned)] as const,
		form: () => [`form/${node.webhookId}`, formData(node, pinned)] as const,
	}[kind]();
	const options = { proxy: false, responseType: 'text', validateStatus: () => true } as const;
	// n8n answers 404 for a moment after the activation of a workflow.
	for (let tries = 0; tries < 300; tries++) {
		const params = kind === 'webhook' ? pinned['query'] : undefined;
		const answer = axios.post(`${n8nUrl}/${path}`, body, { ...options, params });
		const status = await answer.then(
			(response) => response.status,
			() => undefined,
		);
		if (status !== 404) return;
		await sleep(100);
	}
	throw new Error(`n8n does not know the ${kind} of ${node.name}`);
}

const chatBody = (pinned: Start['pinned']) => ({
	action: 'sendMessage',
	sessionId: randomUUID(),
	chatInput: MESSAGE,
	...pinned,
});

function formData({ parameters }: Start['node'], pinned: Start['pinned']): FormData {
	const { values = [] } = (parameters['formFields'] ?? {}) as { values?: readonly FormField[] };
	const form = new FormData();
	for (const [index, field] of values.entries()) {
		const { fieldName = '', fieldLabel = '', fieldType = '', fieldOptions } = field;
		const choice =
			fieldOptions?.values?.[0]?.option ?? ENTRIES[fieldType] ?? 'A lighthouse at dawn';
		const picture = new Blob([Buffer.from(PICTURE, 'base64')], { type: 'image/png' });
		if (fieldType === 'file') form.append(`field-${index}`, picture, 'picture.png');
		else
			form.append(
				`field-${index}`,
				String(pinned[fieldName] ?? pinned[fieldLabel] ?? choice),
			);
	}
	return form;
}

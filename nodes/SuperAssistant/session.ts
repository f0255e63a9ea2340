import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { readText } from '../shared/run/parameters';
import { findSession, saveSession } from './sessionTable';

/** The session that an item's call goes on with. */
export interface AssistantSession {
	/** What the service calls it; none for a new one. */
	readonly id?: string;
	/** Told the session that the service used, also when the call failed. */
	readonly keep: (sessionId: string) => Promise<void>;
}

/** How each choice of the field Session is read. */
const SESSIONS: Readonly<
	Record<
		string,
		(context: IExecuteFunctions, item: number, appCode: string) => Promise<AssistantSession>
	>
> = {
	new: () => Promise.resolve({ keep: nowhere }),
	id: (context, item) =>
		Promise.resolve({ id: required(context, item, 'sessionId', 'Session ID'), keep: nowhere }),
	key: async (context, item, appCode) => {
		const owner = { appCode, key: required(context, item, 'sessionKey', 'Key') };
		const id = await findSession(context, owner);
		return {
			...(id === undefined ? {} : { id }),
			keep: async (sessionId) => {
				if (sessionId !== id) await saveSession(context, owner, sessionId);
			},
		};
	},
};

/**
 * The session that the fields of an item ask for (spec 2.7).
 *
 * @throws InputError when its ID or key is empty.
 */
export async function readSession(
	context: IExecuteFunctions,
	itemIndex: number,
	appCode: string,
): Promise<AssistantSession> {
	return await SESSIONS[readText(context, 'session', itemIndex)]!(context, itemIndex, appCode);
}

/** Names the session that an item goes on with, so that those of one session take turns; empty for a new one. */
export function sessionName(context: IExecuteFunctions, itemIndex: number): string {
	const session = readText(context, 'session', itemIndex);
	if (session === 'new') return '';
	return readText(context, session === 'id' ? 'sessionId' : 'sessionKey', itemIndex).trim();
}

function required(
	context: IExecuteFunctions,
	itemIndex: number,
	name: string,
	label: string,
): string {
	const text = readText(context, name, itemIndex).trim();
	if (text !== '') return text;
	throw new InputError(label, 'is empty', 'Enter one, or set Session to New');
}

function nowhere(): Promise<void> {
	return Promise.resolve();
}

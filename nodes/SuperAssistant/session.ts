import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { readText } from '../shared/run/parameters';
import { findSession, saveSession } from './sessionTable';

/** The session in which an item calls the assistant. */
export interface AssistantSession {
	/** The service's `session_id`; none for a new session. */
	readonly id?: string;
	/** Stores the ID of the session that the service used, where later executions need it. */
	readonly remember: (sessionId: string) => Promise<void>;
}

/** A reader for each choice of the field Session. */
const SESSIONS: Readonly<
	Record<
		string,
		(context: IExecuteFunctions, item: number, appCode: string) => Promise<AssistantSession>
	>
> = {
	new: () => Promise.resolve({ remember: doNothing }),
	id: (context, item) =>
		Promise.resolve({
			id: required(context, item, 'sessionId', 'Session ID'),
			remember: doNothing,
		}),
	key: async (context, item, appCode) => {
		const owner = { appCode, key: required(context, item, 'sessionKey', 'Key') };
		const id = await findSession(context, owner);
		return {
			...(id === undefined ? {} : { id }),
			remember: async (sessionId) => {
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

/** Key of the session for `keyedMutex`: calls in one session run one after another. Empty for a new session. */
export function sessionLockKey(context: IExecuteFunctions, itemIndex: number): string {
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
	throw new InputError(label, 'is empty', 'Enter a value, or set Session to New');
}

function doNothing(): Promise<void> {
	return Promise.resolve();
}

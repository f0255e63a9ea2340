import type { IExecuteFunctions } from 'n8n-workflow';

import type { AssistantReply } from '../client/chat/askAssistant';
import { isJsonObject, parseJsonObject, type JsonValue } from '../client/json';
import type { Row } from '../shared/ledger/dataTable';
import {
	CALLER_COLUMNS,
	STATUS_COLUMNS,
	type CallKind,
	type PlannedCall,
} from '../shared/ledger/callKind';
import { safeRetryGroup } from '../shared/form/retryOptions';
import { readFields, type AssistantFields } from './input';

/** Calls of super assistants in a ledger of their own. A row is needed until its execution needs no retry any more. */
export const ASSISTANT_CALLS: CallKind<AssistantReply> = {
	table: {
		name: 'agent_video_calls',
		columns: {
			...STATUS_COLUMNS,
			session_key: 'string',
			message: 'string',
			reply: 'string',
			app_code: 'string',
			session_id: 'string',
			...CALLER_COLUMNS,
		},
	},
	// As long as n8n keeps executions by default.
	expired: { days: 14, rows: [['status', 'eq', 'answered']] },
	toRow: (reply) => {
		const { session_id: sessionId } = reply.completion;
		const session = sessionId === undefined ? {} : { session_id: sessionId };
		return { status: 'answered', ...session, reply: JSON.stringify(reply) };
	},
	toResult: toReply,
};

/**
 * An item's call before it is sent: its fields, and the columns that a person wants to see.
 *
 * @throws The error of an expression.
 */
export function planCall(
	context: IExecuteFunctions,
	item: number,
): PlannedCall & { readonly fields: AssistantFields } {
	const fields = readFields(context, item);
	const { appCode, session, sessionValue, message, entered } = fields;
	return {
		fields,
		item,
		key: '',
		entered,
		retryOutcomeUnknown: safeRetryGroup.options.retryOutcomeUnknown.read(context, item),
		row: {
			app_code: appCode,
			session_key: session === 'key' ? sessionValue : '',
			session_id: session === 'id' ? sessionValue : '',
			message: message.trim(),
		},
	};
}

/** The reply in a row; none if the row has no complete reply, for example because a person has changed it. */
function toReply({ reply }: Row): AssistantReply | undefined {
	const value = parseJsonObject(String(reply));
	if (!isJsonObject(value?.['completion'])) return undefined;
	const { choices } = value['completion'];
	const { events } = value;
	if (!Array.isArray(choices) || !Array.isArray(events)) return undefined;
	const isWhole = hasText(choices[0]) && events.every(isJsonObject);
	return isWhole ? (value as unknown as AssistantReply) : undefined;
}

function hasText(choice: JsonValue | undefined): boolean {
	const message = isJsonObject(choice) ? choice['message'] : undefined;
	return isJsonObject(message) && typeof (message['content'] ?? '') === 'string';
}

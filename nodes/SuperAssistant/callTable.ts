import type { AssistantReply } from '../client/chat/askAssistant';
import { isJsonObject, objectOf, parseJsonObject, type JsonValue } from '../client/json';
import type { Row } from '../shared/ledger/dataTable';
import { CALLER_COLUMNS, STATUS_COLUMNS, type CallKind } from '../shared/ledger/callKind';

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
	const { message } = objectOf(choice);
	return isJsonObject(message) && typeof (message['content'] ?? '') === 'string';
}

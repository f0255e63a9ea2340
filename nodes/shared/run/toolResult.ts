import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';
import { isToolRun } from './nodeContext';

/** The fields of a result that an agent's model needs; the others would only fill its context. */
const TOOL_FIELDS = {
	reply: ['output', 'json', 'tool_calls', 'media', 'session_id'],
	assistant: ['output', 'json', 'media', 'session_id'],
	video: ['task_id', 'status', 'video_url', 'thumbnail_url', 'reason', 'error_message'],
} as const;

/** The output of a result: all fields, or in a tool run only those the agent's model needs. */
export function forTools(
	context: IExecuteFunctions,
	kind: keyof typeof TOOL_FIELDS,
	result: IDataObject,
): IDataObject {
	if (!isToolRun(context)) return result;
	const fields = TOOL_FIELDS[kind].map((name) => [name, result[name]]);
	return withoutUndefined(Object.fromEntries(fields) as IDataObject);
}

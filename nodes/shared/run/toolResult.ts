import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { isToolRun } from './nodeContext';

/** What the model of an agent needs of a result; the rest would only fill its context. */
const FOR_MODELS = {
	reply: ['content', 'json', 'tool_calls', 'media', 'session_id'],
	assistant: ['content', 'media', 'session_id'],
	agent: ['content', 'json', 'media', 'response', 'reason', 'error', 'message', 'details'],
	video: ['task_id', 'status', 'video_url', 'thumbnail_url', 'reason', 'error_message'],
} as const;

/** The result as it is; as the tool of an agent, what its model needs of it. */
export function forTools(
	context: IExecuteFunctions,
	kind: keyof typeof FOR_MODELS,
	result: IDataObject,
): IDataObject {
	if (!isToolRun(context)) return result;
	return Object.fromEntries(
		FOR_MODELS[kind].flatMap((name) =>
			result[name] === undefined ? [] : [[name, result[name]]],
		),
	);
}

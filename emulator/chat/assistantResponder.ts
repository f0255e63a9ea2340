import { HttpError } from '../errors';
import { readQuestion, runPlugins, type ChatContext, type DraftReply } from './responder';
import { writeJson } from './generation/writeJson';
import { writeText } from './generation/writeText';
import type { Message } from './messages';
import type { PluginRun } from './plugins/plugins';
import type { ToolStep } from './reply';

/** Maximum duration of a call (spec 2.7). */
const MAX_CALL_MS = 600_000;

/** Default duration of a skill, in stream chunks. */
const CHUNKS_PER_STEP = 5;

/** Converts skill runs to steps and cuts them off at the maximum duration of the call. */
function stepsOf(
	plugins: readonly PluginRun[],
	{ nextId, settings }: ChatContext['service'],
): readonly ToolStep[] {
	let leftMs = MAX_CALL_MS;
	return plugins.map(
		({ name, input, result, durationMs = settings.chunkMs * CHUNKS_PER_STEP }) => {
			const spentMs = Math.min(durationMs, leftMs);
			leftMs -= spentMs;
			const timedOut = spentMs < durationMs;
			return {
				id: nextId('call_'),
				tool: name,
				arguments: input,
				result: timedOut ? 'Stopped: the call reached its limit of 600 seconds' : result,
				durationMs: spentMs,
				timedOut,
			};
		},
	);
}

/**
 * Responder of a super assistant: reads the last user message and the session, and runs its own
 * skills (spec 2.7).
 * @throws HttpError 400 if there is no user message
 */
export function respondAsAssistant(context: ChatContext): DraftReply {
	const { body, owner, service } = context;
	const last = body.messages.findLast(({ role }) => role === 'user');
	if (!last) throw new HttpError(400, 'messages must contain a user message');

	const id = body.session_id ?? service.nextId('session-');
	const key = `${owner}\n${id}`;
	const turns = service.sessions.get(key) ?? [];
	const history = turns.map(({ question }): Message => ({ role: 'user', content: question }));
	const question = readQuestion(context, [...history, last]);
	const plugins = runPlugins(context, question);
	const steps = stepsOf(plugins, service);
	const parts = plugins.map((plugin, index) =>
		steps[index]!.timedOut ? `${steps[index]!.result}.` : plugin.content,
	);
	const text = parts.join('\n\n') || writeText(question);
	const isJson = body.response_format?.type === 'json_object' || question.format !== undefined;
	const content = isJson
		? writeJson(question, { unasked: { topic: question.topic, answer: text } })
		: text;
	service.sessions.set(key, [...turns, { question: question.text, answer: text }]);
	return {
		content,
		session: { id, steps },
		extraInput: turns.map((turn) => `${turn.question}\n${turn.answer}`).join('\n'),
	};
}

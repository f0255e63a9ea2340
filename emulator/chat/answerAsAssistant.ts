import { ServiceError } from '../errors';
import { readQuestion, usePlugins, type Ask, type Draft, type UsedPlugin } from './ask';
import { writeText } from './brain/writeText';
import type { Message } from './messages';
import type { Step } from './reply';

/** A call ends after this long, finished or not (spec 2.7). */
const MOST_CALL_MS = 600_000;

/** How many stream chunks long a skill works when it does not say. */
const CHUNKS_OF_A_STEP = 5;

/** The skills as steps, as far as they fit into the time of one call. */
function stepsOf(
	used: readonly UsedPlugin[],
	{ nextId, settings }: Ask['service'],
): readonly Step[] {
	let leftMs = MOST_CALL_MS;
	return used.map(({ name, input, result, tookMs = settings.chunkMs * CHUNKS_OF_A_STEP }) => {
		const spentMs = Math.min(tookMs, leftMs);
		leftMs -= spentMs;
		const cut = spentMs < tookMs;
		return {
			id: nextId('call_'),
			tool: name,
			arguments: input,
			result: cut ? 'Stopped: the call reached its limit of 600 seconds' : result,
			tookMs: spentMs,
			cut,
		};
	});
}

/**
 * The answer of a super assistant: it takes the last user message, remembers the session, and runs its
 * own skills (spec 2.7).
 * @throws ServiceError 400 without a user message
 */
export function answerAsAssistant(ask: Ask): Draft {
	const { body, owner, service } = ask;
	const last = body.messages.findLast(({ role }) => role === 'user');
	if (!last) throw new ServiceError(400, 'messages must hold a user message');

	const id = body.session_id ?? service.nextId('session-');
	const turns = service.sessions.turns(owner, id);
	const history = turns.map(({ question }): Message => ({ role: 'user', content: question }));
	const question = readQuestion(ask, [...history, last]);
	const used = usePlugins(ask, question);
	const steps = stepsOf(used, service);
	const said = used.map((plugin, index) =>
		steps[index]!.cut ? `${steps[index]!.result}.` : plugin.content,
	);
	const text = said.join('\n\n') || writeText(question);
	const isJson = body.response_format?.type === 'json_object';
	const content = isJson ? JSON.stringify({ topic: question.topic, answer: text }) : text;
	service.sessions.add(owner, id, { question: question.text, answer: text });
	return {
		content,
		session: { id, steps },
		alsoRead: turns.map((turn) => `${turn.question}\n${turn.answer}`).join('\n'),
	};
}

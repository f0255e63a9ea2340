import type { ScriptedAnswer } from '../script/script';
import type { ChatContext, DraftReply } from './responder';

/** Responder of a scripted answer, for any kind of application. */
export function respondAsScripted(
	{ body, binding: { app }, service: { nextId } }: ChatContext,
	{ text, chunks = [], toolCalls = [], reasoning }: ScriptedAnswer,
): DraftReply {
	const pieces = chunks.map((chunk) => (typeof chunk === 'string' ? chunk : chunk.text));
	return {
		content: text ?? pieces.join(''),
		toolCalls: toolCalls.map(({ id = nextId('call_'), name, arguments: values = {} }) => ({
			id,
			type: 'function',
			function: {
				name,
				arguments: typeof values === 'string' ? values : JSON.stringify(values),
			},
		})),
		...(reasoning !== undefined && { reasoning }),
		...(app?.kind === 'assistant' && {
			session: { id: body.session_id ?? nextId('session-'), steps: [] },
		}),
		extraInput: '',
	};
}

import { HttpError } from '../errors';
import type { Question } from './generation/question';
import type { ChatBody } from './requestSchema';
import type { Binding } from './resolveBinding';

/** Number of reasoning sentences per effort. */
const SENTENCES: Readonly<Record<string, number>> = { minimal: 1, low: 2, medium: 3, high: 5 };

/** Whether the model thinks. Precedence: request, application, model default (spec 2.1). */
export function isThinkingEnabled({ thinking }: ChatBody, { app, model }: Binding): boolean {
	const setting = thinking?.type ?? app?.thinking[model.code];
	return setting === undefined ? model.thinksByDefault : setting === 'enabled';
}

/** @throws HttpError 400 for a `reasoning_effort` that the model does not support (spec 2.1) */
export function requireSupportedEffort(
	{ reasoning_effort: effort }: ChatBody,
	{ model }: Binding,
): void {
	if (effort === undefined || !model.efforts || model.efforts.includes(effort)) return;
	throw new HttpError(
		400,
		`reasoning_effort must be one of ${model.efforts.join(', ')} for ${model.code}`,
	);
}

/** Writes `reasoning_content`; a higher effort gives a longer text. */
export function writeReasoning(
	{ topic, text, knowledge }: Question,
	effort: string | undefined,
	toolNames: readonly string[],
): string {
	const all = [
		`The user wants something about "${topic}".`,
		toolNames.length > 0
			? `I can call ${[...new Set(toolNames)].join(' and ')} for this.`
			: 'I can answer this directly.',
		`The request has ${text.split(/\s+/).filter(Boolean).length} words, so the answer can be short.`,
		knowledge.length > 0
			? 'The knowledge base has a matching record, so I use it.'
			: 'There is no retrieved knowledge, so I rely on the messages.',
		'I keep the answer short and check the result before I send it.',
	];
	return all.slice(0, SENTENCES[effort ?? 'medium'] ?? 3).join(' ');
}

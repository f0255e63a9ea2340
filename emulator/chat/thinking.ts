import { ServiceError } from '../errors';
import type { Question } from './brain/question';
import type { ChatBody } from './requestSchema';
import type { Binding } from './resolveBinding';

/** How many sentences of thought each strength gives. */
const SENTENCES: Readonly<Record<string, number>> = { minimal: 1, low: 2, medium: 3, high: 5 };

/** Whether the model thinks: the request decides, then the application, then the model (spec 2.1). */
export function thinks({ thinking }: ChatBody, { app, model }: Binding): boolean {
	const setting = thinking?.type ?? app?.thinking[model.code];
	return setting === undefined ? model.thinks : setting === 'enabled';
}

/** @throws ServiceError 400 for a `reasoning_effort` that the model does not take (spec 2.1) */
export function checkEffort({ reasoning_effort: effort }: ChatBody, { model }: Binding): void {
	if (effort === undefined || !model.efforts || model.efforts.includes(effort)) return;
	throw new ServiceError(
		400,
		`reasoning_effort must be one of ${model.efforts.join(', ')} for ${model.code}`,
	);
}

/** The model's thoughts about a question; the stronger the effort, the longer. */
export function thoughts(
	{ topic, text, knowledge }: Question,
	effort: string | undefined,
	toolNames: readonly string[],
): string {
	const all = [
		`The user wants something about "${topic}".`,
		toolNames.length > 0
			? `I can call ${[...new Set(toolNames)].join(' and ')} for that.`
			: 'I can answer this directly.',
		`The request has ${text.split(/\s+/).filter(Boolean).length} words, so the answer can be short.`,
		knowledge.length > 0
			? 'The knowledge base has a matching record, which I should use.'
			: 'There is no retrieved knowledge, so I rely on what I was told.',
		'I keep to the point and check the result once more before I answer.',
	];
	return all.slice(0, SENTENCES[effort ?? 'medium'] ?? 3).join(' ');
}

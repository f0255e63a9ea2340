import { HttpError } from '../errors';
import { languageOf, segments } from './generation/language';
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
	const efforts = model.efforts.join(', ');
	throw new HttpError(400, `reasoning_effort must be one of ${efforts} for ${model.code}`);
}

/** Writes `reasoning_content`; a higher effort gives a longer text. */
export function writeReasoning(
	{ topic, text, knowledge }: Question,
	effort: string | undefined,
	toolNames: readonly string[],
): string {
	const { reasoning, and } = languageOf(text);
	const words = segments(text).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
	return [
		reasoning.about.replace('{topic}', () => topic),
		toolNames.length > 0
			? reasoning.tools.replace('{tools}', () => [...new Set(toolNames)].join(and))
			: reasoning.direct,
		reasoning.length.replace('{words}', String(words)),
		knowledge.length > 0 ? reasoning.known : reasoning.unknown,
		reasoning.last,
	]
		.slice(0, SENTENCES[effort ?? 'medium'] ?? 3)
		.join(' ');
}

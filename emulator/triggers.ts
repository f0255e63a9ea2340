/** Words that make the emulator misbehave on purpose, wherever they stand in a text or an address. */
export const TRIGGERS = {
	/** Moderation rejects the question or the video request with 409 (spec 7). */
	forbiddenQuestion: 'forbidden-word',
	/** The answer would hold the forbidden word: 409 (spec 7.1). */
	forbiddenAnswer: 'forbidden-answer',
	/** The knowledge base of `demo-app` holds a record with the forbidden word: 409 (spec 7.1). */
	forbiddenKnowledge: 'forbidden-knowledge',
	/** The interface call ends abnormally: 503 (spec 7). */
	abnormal: 'broken-service',
	/** A video task that is accepted and fails. */
	failedTask: 'fail-task',
	/** A video task that is accepted and fails moderation later. */
	moderatedTask: 'moderated-task',
	/** A video task that never finishes. */
	stuckTask: 'stuck-task',
	/** A video task that passes through `unknown`. */
	unknownTask: 'unknown-task',
} as const satisfies Readonly<Record<string, string>>;

export type Trigger = keyof typeof TRIGGERS;

/** Whether a text holds a trigger word, in any case. */
export function hasTrigger(text: string, trigger: Trigger): boolean {
	return text.toLowerCase().includes(TRIGGERS[trigger]);
}

/** Trigger words: anywhere in a text or a URL, each makes the emulator fail or behave in a given way. */
export const TRIGGERS = {
	/** Moderation rejects the question or video request: 409 (spec 7). */
	forbiddenQuestion: 'forbidden-word',
	/** Moderation rejects the answer: 409 (spec 7.1). */
	forbiddenAnswer: 'forbidden-answer',
	/** Retrieves the record of `demo-app` that contains the forbidden word: 409 (spec 7.1). */
	forbiddenKnowledge: 'forbidden-knowledge',
	/** Interface call abnormal: 503 (spec 7). */
	abnormal: 'broken-service',
	/** The video task is accepted, then fails. */
	failedTask: 'fail-task',
	/** The video task is accepted, then fails moderation. */
	moderatedTask: 'moderated-task',
	/** The video task never finishes. */
	stuckTask: 'stuck-task',
	/** The video task passes through `unknown`. */
	unknownTask: 'unknown-task',
} as const satisfies Readonly<Record<string, string>>;

export type Trigger = keyof typeof TRIGGERS;

/** Whether a text contains a trigger word, case-insensitively. */
export function hasTrigger(text: string, trigger: Trigger): boolean {
	return text.toLowerCase().includes(TRIGGERS[trigger]);
}

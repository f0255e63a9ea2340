import WORDS from './triggers.json';

/** Trigger words: anywhere in a text or a URL, each makes the emulator fail or behave in a given way. */
export const TRIGGERS = WORDS;

export type Trigger = keyof typeof TRIGGERS;

/** Whether a text contains a trigger word, case-insensitively. */
export function hasTrigger(text: string, trigger: Trigger): boolean {
	return text.toLowerCase().includes(TRIGGERS[trigger]);
}

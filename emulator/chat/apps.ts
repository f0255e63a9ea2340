import ROWS from './appRows.json';

/** Record of a knowledge base. */
export type KnowledgeRecord = Readonly<Record<'title' | 'text', string>>;

/** Target of `app_code`: an application, workflow or super assistant (spec 1, 2.1). */
export interface App extends Omit<typeof ROWS.plain, 'thinking' | 'knowledge' | 'plugins'> {
	readonly code: string;
	readonly kind: 'application' | 'workflow' | 'assistant';
	/** Name of the account that created it, if no other may call it: 403 for all others (spec 5). */
	readonly onlyFor?: string;
	/** Thinking configuration per model; the request overrides it. */
	readonly thinking: Readonly<Record<string, 'enabled' | 'disabled'>>;
	readonly knowledge: readonly KnowledgeRecord[];
	/** Names of plugins (applications, workflows) or skills (assistants). */
	readonly plugins: readonly string[];
	/** Code of the super assistant in the agent node of a workflow (spec 9). */
	readonly assistant?: string;
}

/** All applications, workflows and super assistants of the emulator. */
export const APPS = ROWS.rows.map((row) => ({
	...ROWS.plain,
	...row,
})) as unknown as readonly App[];

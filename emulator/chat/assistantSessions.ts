/** One turn of a talk with a super assistant. */
export interface Turn {
	readonly question: string;
	readonly answer: string;
}

/** The context and memory of super assistants, by session (spec 2.7). */
export class AssistantSessions {
	private readonly sessions = new Map<string, Turn[]>();

	/** The turns of a session so far, oldest first. A session that nobody used has none. */
	turns(owner: string, sessionId: string): readonly Turn[] {
		return this.sessions.get(this.key(owner, sessionId)) ?? [];
	}

	add(owner: string, sessionId: string, turn: Turn): void {
		const turns = this.sessions.get(this.key(owner, sessionId)) ?? [];
		this.sessions.set(this.key(owner, sessionId), [...turns, turn]);
	}

	private key(owner: string, sessionId: string): string {
		return `${owner}\n${sessionId}`;
	}
}

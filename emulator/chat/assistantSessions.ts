/** Turn of a conversation with a super assistant. */
export interface Turn {
	readonly question: string;
	readonly answer: string;
}

/** Session store of super assistants (spec 2.7). Sessions belong to an account. */
export class AssistantSessions {
	private readonly sessions = new Map<string, Turn[]>();

	/** Turns of a session, oldest first; empty for a new session. */
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

/** What was started and has to be stopped, newest first. */
export class Running {
	private readonly things: { stop(): Promise<void> }[] = [];
	private stopped: Promise<void> | undefined;

	/** Keeps what has just been started. */
	keep<T extends { stop(): Promise<void> }>(thing: T): T {
		this.things.push(thing);
		return thing;
	}

	/** Stops all, also where one of them cannot be stopped; a second call waits for the first. */
	stop(): Promise<void> {
		return (this.stopped ??= this.stopInTurn());
	}

	private async stopInTurn(): Promise<void> {
		const errors: unknown[] = [];
		for (const thing of this.things.reverse()) {
			await thing.stop().catch((error: unknown) => errors.push(error));
		}
		if (errors.length > 0) throw new AggregateError(errors, 'Not all could be stopped');
	}
}

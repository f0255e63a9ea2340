/** A stack of started resources: stops them in reverse order. */
export class Running {
	private readonly resources: { stop(): Promise<void> }[] = [];
	private stopped: Promise<void> | undefined;

	/** Adds a resource that has just been started, and returns it. */
	keep<T extends { stop(): Promise<void> }>(resource: T): T {
		this.resources.push(resource);
		return resource;
	}

	/** Stops all resources, even if stopping one of them fails. A second call waits for the first. */
	stop(): Promise<void> {
		return (this.stopped ??= this.stopAll());
	}

	private async stopAll(): Promise<void> {
		const errors: unknown[] = [];
		for (const resource of this.resources.reverse()) {
			await resource.stop().catch((error: unknown) => errors.push(error));
		}
		if (errors.length > 0)
			throw new AggregateError(errors, 'Some resources could not be stopped');
	}
}

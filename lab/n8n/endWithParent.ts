/**
 * Preloaded into n8n: ends it when the process that started it is gone, however that came about.
 *
 * The channel to the parent closes when the parent ends, even when it was killed.
 */
process.once('disconnect', () => {
	process.kill(process.pid, 'SIGTERM');
	// n8n leads a process group of its own, with its task runner in it.
	setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 3_000).unref();
});

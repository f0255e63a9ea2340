/**
 * Preloaded into n8n: stops n8n when the process that started it has ended.
 *
 * The IPC channel to the parent closes even if the parent was killed.
 */
process.once('disconnect', () => {
	process.kill(process.pid, 'SIGTERM');
	// n8n leads its own process group, which includes its task runner.
	setTimeout(() => process.kill(-process.pid, 'SIGKILL'), 3_000).unref();
});

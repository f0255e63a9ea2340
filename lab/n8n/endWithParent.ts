/**
 * Preloaded into n8n: stops n8n when the process that started it has ended, and removes its temporary folder, which that
 * process can no longer do.
 *
 * The IPC channel to the parent closes even if the parent was killed.
 */
import { rmSync } from 'node:fs';

let isAlone = false;
process.once('disconnect', () => {
	isAlone = true;
	// n8n leads its own process group, which includes its task runner.
	setTimeout(() => {
		removeFolder();
		process.kill(-process.pid, 'SIGKILL');
	}, 3_000).unref();
	// While n8n is still loading, nothing handles the signal, and no `exit` would follow.
	if (process.listenerCount('SIGTERM') === 0) process.exit(1);
	process.kill(process.pid, 'SIGTERM');
});

// While n8n is loading it may end before it notices that the channel is closed.
process.once('exit', () => {
	if (isAlone || String(process.ppid) !== process.env['LAB_PARENT']) removeFolder();
});

function removeFolder(): void {
	const folder = process.env['LAB_TEMPORARY_FOLDER'];
	if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

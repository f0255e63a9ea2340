import { installLab } from './n8n/installLab';
import { systemProgram } from './services/systemProgram';

/** Installs what the tests of each change would install when they first need it: n8n, and programs of the operating system. */
async function prepare(): Promise<void> {
	const onProgress = (text: string) => {
		console.log(text);
	};
	for (const name of ['chromium', 'nginx'] as const) await systemProgram(name, onProgress);
	await installLab({ onProgress });
}

prepare().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});

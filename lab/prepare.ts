import { installLab } from './n8n/installLab';
import { SYSTEM_PROGRAMS, systemProgram } from './services/systemProgram';

/** Installs what the tests would install when they first need it: n8n, and programs of the operating system. */
async function prepare(): Promise<void> {
	const onProgress = (text: string) => {
		console.log(text);
	};
	for (const name of SYSTEM_PROGRAMS) await systemProgram(name, onProgress);
	await installLab({ onProgress });
}

prepare().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});

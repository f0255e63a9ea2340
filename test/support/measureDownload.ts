/**
 * A program that runs Wait for Video in n8n's engine with binary data on disk and prints the memory growth of the process
 * as JSON. It needs `--expose-gc`: garbage is collected before each measurement, because Node keeps tens of megabytes of
 * it while a stream is read.
 *
 * Arguments: base URL of the service, folder for the files.
 */
import { createRequire } from 'node:module';

import { BinaryDataService } from 'n8n-core';

import { runNode } from './engine';
import { COMPLETED } from './waitOutputs';

/** The output of the program. Sizes are in bytes. */
export interface Measured {
	readonly status: string;
	/** Size of the stored file. */
	readonly bytes: number | undefined;
	/** n8n's storage mode of the file. */
	readonly mode: string | undefined;
	/** Maximum growth of the resident set during the download. */
	readonly residentGrowth: number;
	/** Maximum growth of the memory outside the JavaScript heap, such as buffers. */
	readonly externalGrowth: number;
}

const [baseUrl = '', folder = ''] = process.argv.slice(2);

async function main(): Promise<void> {
	process.env['N8N_BINARY_DATA_STORAGE_PATH'] = folder;
	process.env['N8N_STORAGE_PATH'] = folder;
	// The engine resolves its services in the container of its own copy of @n8n/di.
	const { Container } = createRequire(require.resolve('n8n-core'))('@n8n/di') as {
		Container: { get(type: typeof BinaryDataService): BinaryDataService };
	};
	await Container.get(BinaryDataService).init();

	const download = async (taskId: string) =>
		await runNode('waitForVideo', {
			credential: { baseUrl, apiKey: 'k' },
			items: [{ task_id: taskId }],
		});
	// The first download loads modules, which must not count.
	await download('small');

	const collect = () => {
		globalThis.gc!({ type: 'minor' });
	};
	collect();
	const before = process.memoryUsage();
	const peak = { rss: 0, external: 0 };
	const sampling = setInterval(() => {
		collect();
		const { rss, external } = process.memoryUsage();
		peak.rss = Math.max(peak.rss, rss);
		peak.external = Math.max(peak.external, external);
	}, 20);
	const { status, outputs } = await download('large');
	clearInterval(sampling);

	const video = outputs[COMPLETED]?.[0]?.binary?.['data'];
	const measured: Measured = {
		status,
		bytes: video?.bytes,
		mode: video?.data,
		residentGrowth: peak.rss - before.rss,
		externalGrowth: peak.external - before.external,
	};
	process.stdout.write(JSON.stringify(measured));
}

void main();

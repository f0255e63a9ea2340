/**
 * A program: runs Wait for Video in n8n's engine with files kept on disk, as n8n keeps them, and prints as JSON what
 * that did to the memory of the process. What is garbage does not count: Node leaves tens of megabytes of it lying,
 * whoever reads a stream. So it needs `--expose-gc`.
 *
 * Arguments: base URL of the service, folder for the files.
 */
import { createRequire } from 'node:module';

import { BinaryDataService } from 'n8n-core';

import { runNode } from './engine';

/** What the program prints. Sizes in bytes. */
export interface Measured {
	readonly status: string;
	/** Size of the file that n8n has stored. */
	readonly bytes: number | undefined;
	/** Where n8n has stored it. */
	readonly mode: string | undefined;
	/** How much the resident set grew at most during the download. */
	readonly residentGrowth: number;
	/** The same for memory outside of the JavaScript heap: buffers. */
	readonly externalGrowth: number;
}

const [baseUrl = '', folder = ''] = process.argv.slice(2);

async function main(): Promise<void> {
	process.env['N8N_BINARY_DATA_STORAGE_PATH'] = folder;
	process.env['N8N_STORAGE_PATH'] = folder;
	// The engine looks its services up in the container of its own dependency.
	const { Container } = createRequire(require.resolve('n8n-core'))('@n8n/di') as {
		Container: { get(type: typeof BinaryDataService): BinaryDataService };
	};
	await Container.get(BinaryDataService).init();

	const download = async (taskId: string) =>
		await runNode('waitForVideo', {
			credential: { baseUrl, apiKey: 'k' },
			items: [{ task_id: taskId }],
		});
	// What is loaded at the first use is not counted.
	await download('small');

	const collect = () => {
		globalThis.gc!({ type: 'minor' });
	};
	collect();
	const before = process.memoryUsage();
	const most = { rss: 0, external: 0 };
	const sampling = setInterval(() => {
		collect();
		const { rss, external } = process.memoryUsage();
		most.rss = Math.max(most.rss, rss);
		most.external = Math.max(most.external, external);
	}, 20);
	const { status, outputs } = await download('large');
	clearInterval(sampling);

	const video = outputs[1]?.[0]?.binary?.['video'];
	const measured: Measured = {
		status,
		bytes: video?.bytes,
		mode: video?.data,
		residentGrowth: most.rss - before.rss,
		externalGrowth: most.external - before.external,
	};
	process.stdout.write(JSON.stringify(measured));
}

void main();

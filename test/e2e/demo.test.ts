// @seconds 10
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { outputItems } from '../../lab/n8n/execution';
import type { N8nClient } from '../../lab/n8n/N8nClient';
import { ROOT } from '../../lab/paths';
import { EXAMPLE_CREDENTIAL, readExample } from '../../lab/n8n/readExample';
import { runBatch, saveVideos } from '../../lab/demo/runBatch';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

/** The videos that the topics of the batch example request. */
const REQUESTED = [
	{ topic: 'A lighthouse at dawn', model: 'video-m1', seconds: 5, width: 1280, height: 720 },
	{ topic: 'A paper boat in the rain', model: 'video-m5', seconds: 3, width: 720, height: 1280 },
	{
		topic: 'A tram at night',
		model: 'video-m3',
		seconds: 10,
		width: 1080,
		height: 1080,
	},
] as const;

let session: Session;
let client: N8nClient;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 8 });
	({ client } = session);
	await client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

describe('the batch example', () => {
	const folder = join(ROOT, '.cache', 'e2e-output');
	afterAll(async () => {
		await rm(folder, { recursive: true, force: true });
	});

	it(
		'generates a video of the requested duration and size for each topic',
		async () => {
			const batch = await client.importWorkflow(await readExample('batch'));
			const lines: string[] = [];
			const execution = await runBatch(client, batch, {
				emulator: session.emulator,
				onProgress: (line) => lines.push(line),
			});

			expect(execution.status).toBe('success');
			expect(lines).toContainEqual(
				expect.stringMatching(/^video-m1 \w+, video-m5 processing, video-m3 \w+$/),
			);
			expect(outputItems(execution, 'Wait for Video', COMPLETED)).toHaveLength(3);
			expect(outputItems(execution, 'Wait for Video', FAILED)).toHaveLength(0);
			expect(await saveVideos(client, execution, folder)).toEqual(
				REQUESTED.map(
					(video) => expect.objectContaining({ ...video, codec: 'h264' }) as unknown,
				),
			);
		},
		RUN_LIMIT_MS,
	);
});

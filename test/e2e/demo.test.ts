// @seconds 10
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { runBatch, saveVideos } from '../../lab/demo/runBatch';
import { outputItems } from '../../lab/n8n/execution';
import { readExample } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { FAILURE } from '../support/failureTexts';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { RUN_LIMIT_MS } from './support/session';
import { useSession } from './support/useSession';

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

const session = useSession({ videoSeconds: 8 });

describe('the test of the credential', () => {
	test.each<[string, object, string, RegExp, number]>([
		['of the service', {}, 'OK', /^The service accepted the API key/, 1],
		['with a wrong key', { apiKey: 'wrong' }, 'Error', new RegExp(`^${FAILURE.badKey}`), 1],
		['without a key', { apiKey: '' }, 'Error', /^API Key is empty/, 0],
	])('%s', async (_title, data, status, message, requests) => {
		const { client, emulator } = session;
		// With the values of the open form.
		const result = await client.testCredential({
			name: 'Tested',
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey: 'demo-key', ...data },
		});
		expect(result).toMatchObject({
			status,
			message: expect.stringMatching(message) as string,
		});
		expect(emulator.journal.of('/v1/videos/tasks')).toHaveLength(requests);
	});
});

describe('the batch example', () => {
	const folder = join(ROOT, '.cache', 'e2e-output');
	afterAll(async () => {
		await rm(folder, { recursive: true, force: true });
	});

	it(
		'generates a video of the requested duration and size for each topic',
		async () => {
			const { client, emulator } = session;
			const batch = await client.importWorkflow(await readExample('batch'));
			const lines: string[] = [];
			const execution = await runBatch(client, batch, {
				emulator,
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

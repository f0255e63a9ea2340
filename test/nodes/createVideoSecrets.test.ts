import { Container } from '@n8n/di';
import type { IDataObject } from 'n8n-workflow';
import { BinaryDataService } from 'n8n-core';

import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

// A signed URL lets everybody read the file for an hour: the service gets it, the output does not.

const TOKEN = 'signed-secret';

const server = serverForEach((response) => {
	json(response, 200, { task_id: 'a', status: 'queued', model: 'video-m1' });
});

beforeEach(() => {
	jest.spyOn(Container.get(BinaryDataService), 'createSignedToken').mockReturnValue(TOKEN);
});
afterEach(() => {
	jest.restoreAllMocks();
});

const FILE = { data: 'filesystem-v2', id: 'filesystem-v2:x', mimeType: 'image/png' };
const file = (binaryProperty: string) => ({ kind: 'image', source: 'binary', binaryProperty });

async function create(parameters: IDataObject, more: Partial<RunOptions> = {}) {
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		parameters: { prompt: 'A lake', ...parameters },
		binaries: [{ data: FILE, 'second one': FILE }],
		...more,
	});
}

const references = {
	file: [file('data, second one'), { kind: 'image', url: 'https://x.example/y' }],
};
const IMAGES = ['binary field data', 'binary field second one', 'https://x.example/y'];

test('the output names the binary field in place of its signed URL; the service gets the URL', async () => {
	const tables = dataTables();
	const { outputs, run } = await create({ references }, { tables });
	const { images } = server.requests[0]!.body as { images: string[] };
	expect(images).toStrictEqual([
		expect.stringContaining(`token=${TOKEN}`),
		expect.stringContaining(`token=${TOKEN}`),
		'https://x.example/y',
	]);
	expect(outputs[0]).toMatchObject([{ json: { request: { images: IMAGES } } }]);
	expect(JSON.stringify([run.data, tables.rows])).not.toContain(TOKEN);
});

test('so does a dry run', async () => {
	const two = { file: [file('data'), file('second one')] };
	const model = { __rl: true, mode: 'id', value: 'video-m3' };
	const { outputs, run } = await create({
		model,
		references: two,
		options: { dryRun: true },
	});
	expect(outputs[0]).toMatchObject([
		{
			json: {
				request: { images: IMAGES.slice(0, 2) },
			},
		},
	]);
	expect(JSON.stringify(run.data)).not.toContain(TOKEN);
	expect(server.requests).toHaveLength(0);
});

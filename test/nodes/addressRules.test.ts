/**
 * n8n reads its rules when something goes out for the first time.
 *
 * @jest-environment node
 */
import { runNode } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { withFakeTimers } from '../support/fakeTimers';

const RULES = {
	N8N_SSRF_PROTECTION_ENABLED: 'true',
	N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost',
};

let server: ScriptedServer;
beforeAll(async () => {
	Object.assign(process.env, RULES);
	server = await startScriptedServer((response, { path }) => {
		if (path === '/v1/videos/tasks') {
			const video_url = `http://127.0.0.1:${server.port}/inside/secret.mp4`;
			json(response, 200, { status: 'completed', model: 'video-m1', video_url });
			return;
		}
		response.end('a secret');
	});
});
afterAll(async () => {
	for (const name of Object.keys(RULES)) Reflect.deleteProperty(process.env, name);
	await server.stop();
});

test('a service at an address that n8n forbids is not contacted, and the error says what to do', async () => {
	const { error } = await runNode('chatCompletion', {
		credential: { baseUrl: `http://127.0.0.1:${server.port}`, apiKey: 'k' },
		parameters: { prompt: 'Hi' },
	});
	expect(error).toMatchObject({
		message: 'n8n does not open this address',
		description: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES') as string,
	});
	expect(server.requests).toHaveLength(0);
});

test('a file at an address that n8n forbids is not fetched, and its task is not lost', async () => {
	const outputs = await withFakeTimers(async ({ passedMs }) => {
		const { outputs } = await runNode('waitForVideo', {
			credential: { baseUrl: `http://localhost:${server.port}`, apiKey: 'k' },
			items: [{ task_id: 'task-1' }],
		});
		// No time passes: another attempt would be refused, too.
		expect(passedMs()).toBeLessThan(1);
		return outputs;
	});
	// The service may name another URL: it is asked once more, which is free.
	const asked = ['/v1/videos/tasks', '/v1/videos/tasks'];
	expect(server.requests.map(({ path }) => path)).toStrictEqual(asked);
	expect(outputs.map((items) => items.map(({ json: fields }) => fields))).toMatchObject([
		[],
		[
			{
				task_id: 'task-1',
				status: 'completed',
				reason: 'download',
				error_message: expect.stringContaining(
					'n8n did not open the URL of the file: The request was blocked because',
				) as string,
			},
		],
	]);
});

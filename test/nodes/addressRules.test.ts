/**
 * n8n reads its rules when something goes out for the first time.
 *
 * @jest-environment node
 */
import { POLL, videoService } from '../support/createdVideos';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';

const RULES = {
	N8N_SSRF_PROTECTION_ENABLED: 'true',
	N8N_SSRF_ALLOWED_HOSTNAMES: 'localhost',
};

beforeAll(() => {
	Object.assign(process.env, RULES);
});
afterAll(() => {
	for (const name of Object.keys(RULES)) Reflect.deleteProperty(process.env, name);
});

const service = videoService();
const { server } = service;

test('a service at an address that n8n forbids is not contacted, and the error says what to do', async () => {
	const { error } = await runNode('chatCompletion', {
		...service.environment(),
		parameters: { prompt: 'Hi' },
	});
	expect(error).toMatchObject({
		message: 'n8n does not open this address',
		description: expect.stringContaining('N8N_SSRF_ALLOWED_HOSTNAMES') as string,
	});
	expect(server.requests).toHaveLength(0);
});

test('a file at an address that n8n forbids is not fetched, and its task is not lost', async () => {
	const credential = { baseUrl: server.url.replace('127.0.0.1', 'localhost'), apiKey: 'k' };
	const outputs = await withFakeTimers(async ({ passedMs }) => {
		const { outputs } = await service.wait([{ task_id: 'task-1' }], {}, { credential });
		// No time passes: another attempt would be refused, too.
		expect(passedMs()).toBeLessThan(1);
		return outputs;
	});
	// The service may name another URL: it is asked once more, which is free.
	expect(server.requests.map(({ path }) => path)).toStrictEqual([POLL, POLL]);
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

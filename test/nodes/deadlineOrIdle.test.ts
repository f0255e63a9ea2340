import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { startScriptedServer } from '../support/scriptedServer';

/** Runs a chat whose reply stops after its headers, in fake time. */
async function silence(options: { maximumDuration: number; timeout: number }): Promise<string> {
	return await withFakeTimers(async (time) => {
		const server = await startScriptedServer((response) => {
			time.hold(response);
			response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
		});
		const { error } = await runNode('chatCompletion', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { prompt: 'Hi', options },
		});
		await server.stop();
		return error!.message;
	});
}

test.each([90, 96, 99])(
	'Maximum Duration at %i % of the Timeout is what ends the call',
	async (percent) => {
		const message = await silence({ maximumDuration: percent, timeout: 100 });
		expect(message).toContain(`The call exceeded its Maximum Duration of ${percent} seconds`);
	},
);

test('a Timeout below Maximum Duration is what ends the call', async () => {
	const message = await silence({ maximumDuration: 110, timeout: 100 });
	expect(message).toContain('The service did not respond in time');
});

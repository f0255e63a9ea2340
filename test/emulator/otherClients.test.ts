import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startService, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const run = promisify(execFile);

/** Runs a client in a process of its own: it is an ES module, which jest cannot load. */
async function talk(script: string, key: string): Promise<Json> {
	const { stdout } = await run(process.execPath, [
		'--disable-warning=ExperimentalWarning',
		join(__dirname, 'clients', script),
		`${service.url}/v1`,
		key,
	]);
	return JSON.parse(stdout) as Json;
}

const ANSWER = 'Here is what I found.\nParis: sky: clear.\nRome: sky: clear.';

describe.each(['demo-key', 'demo-key-demo-app'])('4 other clients of the schema with %s', (key) => {
	it('4 AI SDK: text, stream, thoughts, usage, and its tool loop plain and streamed', async () => {
		const talked = await talk('aiSdk.mts', key);
		expect(talked).toEqual({
			text: '2 + 2 = 4',
			totalTokens: expect.any(Number) as number,
			reasons: key === 'demo-key',
			streamedText: '2 + 2 = 4',
			streamedTokens: talked['totalTokens'],
			answer: ANSWER,
			streamedAnswer: ANSWER,
			asked: ['Paris', 'Rome', 'Paris', 'Rome'],
		});
	});

	it('4 LangChain: text, stream, usage, and tools', async () => {
		const talked = await talk('langchain.mts', key);
		expect(talked).toEqual({
			text: '2 + 2 = 4',
			totalTokens: expect.any(Number) as number,
			streamedText: '2 + 2 = 4',
			streamedTokens: talked['totalTokens'],
			answer: ANSWER,
			asked: ['Paris', 'Rome'],
		});
	});
});

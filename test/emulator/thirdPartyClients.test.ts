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

/** Milliseconds after which a client is killed: before its test ends, which would leave it running. */
const LIMIT_MS = 25_000;

/** Runs a client in its own process, because it is an ES module, which jest cannot load. */
async function runClient(script: string, key: string, { url } = service): Promise<Json> {
	const args = [join(__dirname, 'clients', script), `${url}/v1`, key];
	const { stdout } = await run(
		process.execPath,
		['--disable-warning=ExperimentalWarning', ...args],
		{ timeout: LIMIT_MS },
	);
	return JSON.parse(stdout) as Json;
}

const ANSWER = 'Here is what I found.\nParis: sky: clear.\nRome: sky: clear.';

describe.each(['demo-key', 'demo-key-demo-app'])('4 third-party clients with %s', (key) => {
	it('4 AI SDK: text, stream, reasoning, usage, and tool loop with and without streaming', async () => {
		const result = await runClient('aiSdk.mts', key);
		expect(result).toEqual({
			text: '2 + 2 = 4',
			totalTokens: expect.any(Number) as number,
			reasons: key === 'demo-key',
			streamedText: '2 + 2 = 4',
			streamedTokens: result['totalTokens'],
			answer: ANSWER,
			streamedAnswer: ANSWER,
			toolInputs: ['Paris', 'Rome', 'Paris', 'Rome'],
		});
	});

	it('4 LangChain: text, stream, usage, and tools', async () => {
		const result = await runClient('langchain.mts', key);
		expect(result).toEqual({
			text: '2 + 2 = 4',
			totalTokens: expect.any(Number) as number,
			streamedText: '2 + 2 = 4',
			streamedTokens: result['totalTokens'],
			answer: ANSWER,
			toolInputs: ['Paris', 'Rome'],
		});
	});
});

it('4 gives structured output to instructor, LangChain and AI SDK in all their modes with --openai', async () => {
	const open = await startService({ openai: true });
	const results = await runClient('structured.mts', 'demo-key', open);
	await open.stop();
	const names = [
		...['TOOLS', 'FUNCTIONS', 'JSON', 'MD_JSON', 'JSON_SCHEMA'].map((m) => `instructor ${m}`),
		...['jsonSchema', 'functionCalling', 'jsonMode'].map((m) => `langchain ${m}`),
		...['schema', 'json'].map((m) => `ai-sdk ${m}`),
	];
	const review = { name: 'Ann Lee', email: 'ann@example.com', sentiment: 'positive' };
	expect(Object.keys(results)).toEqual(names);
	for (const name of names) expect([name, results[name]]).toMatchObject([name, review]);
});

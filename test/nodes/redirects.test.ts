import { event } from '../faults/answers';
import { OPERATIONS, WAYS, type Operation, type Outcome } from '../faults/operations';
import { withFakeTimers } from '../support/fakeTimers';
import { FAILURE } from '../support/failureTexts';
import { imitateNetwork } from '../support/imitatedNetwork';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const KEY = 'sk-0f4e-very-secret';
const REDIRECTS = [301, 302, 303, 307, 308];
const REPLY = event('{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}');

let service: ScriptedServer;
let other: ScriptedServer;
let status: number;
let location: string;
beforeAll(async () => {
	service = await startScriptedServer((response, { path }) => {
		if (path === '/elsewhere') response.end(REPLY);
		else response.writeHead(status, { location }).end('moved');
	});
	other = await startScriptedServer((response) => response.end(REPLY));
});
beforeEach(() => {
	service.requests.length = 0;
	other.requests.length = 0;
	location = `${other.url}/elsewhere?token=1`;
});
afterAll(async () => {
	await service.stop();
	await other.stop();
});

async function run(operation: Operation, baseUrl = service.url): Promise<Outcome> {
	return await withFakeTimers(
		async () =>
			await operation.run({ credential: { baseUrl, apiKey: KEY }, ...WAYS.errorOutput }),
	);
}

// 307, which would send a request again as it is, is a fault of the matrix for every operation.
test.each(REDIRECTS)('a redirect with status %i is reported and not followed', async (code) => {
	status = code;
	const { items, error } = await run(OPERATIONS.chat);
	expect(other.requests).toHaveLength(0);
	expect(service.requests).toHaveLength(1);
	const shown = JSON.stringify([items, error?.message, error]);
	expect(shown).toContain(FAILURE.redirect);
	expect(shown).toContain('Check the Base URL');
	expect(shown).toContain('https:// instead of http://');
	expect(shown).toContain(`Location: ${location}`);
});

test('the key does not go to a subdomain of the host in the Base URL', async () => {
	status = 302;
	location = `http://sub.localhost:${service.port}/elsewhere`;
	const network = imitateNetwork();
	for (const name of ['localhost', 'sub.localhost']) network.resolve(name, ['127.0.0.1']);
	await run(OPERATIONS.chat, `http://localhost:${service.port}`);
	network.restore();
	expect(service.requests.map(({ path }) => path)).toStrictEqual(['/v1/chat/completions']);
});

test('a redirected creation was not carried out, unless the status says that its result is elsewhere', async () => {
	const outcomes: unknown[] = [];
	for (status of REDIRECTS) {
		const { items } = await run(OPERATIONS.createVideo);
		outcomes.push((items[0]!.json['details'] as Record<string, unknown>)['outcome_unknown']);
	}
	expect(service.requests).toHaveLength(REDIRECTS.length);
	expect(other.requests).toHaveLength(0);
	expect(outcomes).toStrictEqual([undefined, undefined, true, undefined, undefined]);
});

test('an endless Location is cut', async () => {
	status = 302;
	location = `http://127.0.0.1:9/${'x'.repeat(8_000)}`;
	const { items } = await run(OPERATIONS.chat);
	expect(JSON.stringify(items).length).toBeLessThan(2_000);
});

import dns from 'node:dns';

import { event } from '../faults/answers';
import { OPERATIONS, WAYS, type Operation, type Outcome } from '../faults/operations';
import { withFakeTimers } from '../support/fakeTimers';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

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

const rowOf = (operation: Operation, code: number) => [operation.title, code, operation] as const;
// 307, which would send a request again as it is, is a fault of the matrix for every operation.
test.each([
	...Object.values(OPERATIONS).map((operation) => rowOf(operation, 302)),
	...REDIRECTS.filter((code) => code !== 302).map((code) => rowOf(OPERATIONS.chat, code)),
])(
	'%s reports a redirect with status %i and does not follow it',
	async (_title, code, operation) => {
		status = code;
		const { items, error } = await run(operation);
		expect(other.requests).toHaveLength(0);
		expect(service.requests.map(({ path }) => path)).not.toContain('/elsewhere');
		if (operation.isPaid) expect(service.requests).toHaveLength(1);
		const shown = JSON.stringify([items, error?.message, error]);
		expect(shown).toContain(FAILURE.redirect);
		expect(shown).toContain('Check the Base URL');
		expect(shown).toContain('https:// instead of http://');
		expect(shown).toContain(`Location: ${location}`);
	},
);

test('the key does not go to a subdomain of the host in the Base URL', async () => {
	status = 302;
	location = `http://sub.localhost:${service.port}/elsewhere`;
	const lookup = jest.spyOn(dns, 'lookup').mockImplementation(((
		_name: string,
		options: { all?: boolean },
		done: (error: null, found: unknown, family?: number) => void,
	) => {
		if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
		else done(null, '127.0.0.1', 4);
	}) as never);
	await run(OPERATIONS.chat, `http://localhost:${service.port}`);
	lookup.mockRestore();
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

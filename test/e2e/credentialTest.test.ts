// @seconds 5
import { N8nClient } from '../../lab/n8n/N8nClient';
import { Running } from '../../lab/services/Running';
import { CREDENTIAL_ANSWERS } from '../support/credentialAnswers';
import { startScriptedServer, type Script, type ScriptedServer } from '../support/scriptedServer';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';
import { sharedN8nUrl } from './support/sharedN8n';

const KEY = 'sk-0f4e/very+secret';
const GATEWAY_KEY = 'gw-9d1c-quite-hidden';

const running = new Running();
let server: ScriptedServer;
let script: Script;
let client: N8nClient;

beforeAll(async () => {
	server = running.keep(
		await startScriptedServer((...args) => {
			script(...args);
		}),
	);
	client = await N8nClient.signIn(await sharedN8nUrl());
}, SET_UP_LIMIT_MS);
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

/** Runs the test as the editor does, with the values of the open form. */
async function runTest(data: object = {}) {
	const result = await client.testCredential({
		name: 'Tested',
		type: 'agentVideoApi',
		data: {
			baseUrl: server.url,
			apiKey: KEY,
			extraHeaders: { header: [{ name: 'X-Gateway-Key', value: GATEWAY_KEY }] },
			...data,
		},
	});
	expect(JSON.stringify(result)).not.toMatch(/very|quite/);
	return result;
}

test.each(CREDENTIAL_ANSWERS.map((row) => [row.title, row] as const))(
	'%s',
	async (_title, { answer, says }) => {
		script = answer;
		const { status, message } = await runTest();
		expect({ status, message }).toMatchObject({ status: says.length > 0 ? 'Error' : 'OK' });
		for (const part of says) expect(message).toMatch(part);
		expect(server.requests).toMatchObject([
			{
				path: '/v1/videos/tasks',
				headers: { authorization: `Bearer ${KEY}`, 'x-gateway-key': GATEWAY_KEY },
			},
		]);
	},
);

test.each([
	[{ baseUrl: 'api.example.com' }, /^Base URL is not a valid URL\. Start it with https/],
	[
		{ baseUrl: 'http://127.0.0.1:9' },
		/^Could not connect .* Check host and port of the Base URL/,
	],
	[{ apiKey: '' }, /^API Key is empty/],
	[
		{ extraHeaders: { header: [{ name: 'Host', value: 'x' }] } },
		/row 1 has the name Host, .* Remove the row/,
	],
	[{ baseUrl: '={{ "127.0.0.1" }}' }, /^Base URL is not a valid URL/],
])('%j sends nothing', async (data, message) => {
	expect(await runTest(data)).toMatchObject({
		status: 'Error',
		message: expect.stringMatching(message) as string,
	});
	expect(server.requests).toHaveLength(0);
});

/** What the credential sends, and where: the key, also with an app code at its end, and extra headers; and that errors show none of it. */
import { inspect } from 'node:util';

import type { IDataObject, IHttpRequestOptions, INodePropertyCollection } from 'n8n-workflow';

import { AgentVideoApi } from '../../credentials/AgentVideoApi.credentials';
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { answerWell } from '../faults/acts';
import { body } from '../faults/answers';
import { OPERATIONS, WAYS, type Operation } from '../faults/operations';
import { delta, inPieces } from '../support/chatPieces';
import { runNode } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { imitateNetwork } from '../support/imitatedNetwork';
import { eventsOf, scripted, serverForEach } from '../support/scriptedServer';

const KEY = 'sk-0f4e/very+sesame';
const BEARER = `Bearer ${KEY}`;

const server = scripted();

const credential = (...header: readonly IDataObject[]) => ({
	baseUrl: server.url,
	apiKey: KEY,
	extraHeaders: { header },
});
const TENANT = { name: 'X-Tenant', value: 'acme' };

describe.each(Object.entries(OPERATIONS))('%s', (_id, operation: Operation) => {
	const run = async (...headers: readonly IDataObject[]) =>
		await withFakeTimers(
			async () => await operation.run({ credential: credential(...headers) }),
		);

	test('sends the headers with every request', async () => {
		const { answers } = operation;
		server.script = (response, _request, index) => {
			answerWell(response, answers[Math.min(index, answers.length - 1)]!);
		};
		await run(TENANT, { name: ' x-gateway-key ', value: ' gw-hidden-value\n' });
		expect(server.requests).toHaveLength(answers.length);
		for (const { headers } of server.requests) {
			expect(headers).toMatchObject({
				authorization: BEARER,
				'content-type': 'application/json',
				'x-tenant': 'acme',
				'x-gateway-key': 'gw-hidden-value',
			});
		}
	});

	test('sends nothing with a header that is not possible, and names the row', async () => {
		const { error } = await run(TENANT, { name: 'Authorization', value: 'hidden-value' });
		// The error of a chat model is the cause of the error of its chain.
		expect(inspect(error)).toContain(
			'Extra Headers in the credential: row 2 has the name Authorization',
		);
		expect(server.requests).toHaveLength(0);
	});
});

describe('in other nodes, which may go anywhere', () => {
	const send = async (request: IHttpRequestOptions) =>
		await new AgentVideoApi().authenticate(credential(TENANT), request);

	test('the headers are not added', async () => {
		const sent = await send({ url: `${server.url}/v1/models` });
		expect(sent.headers).toStrictEqual({ Authorization: BEARER });
	});

	test.each([
		{ url: 'http://127.0.0.1:9/' },
		{ url: 'http://127.0.0.1.tracker.example/' },
		{ url: '', uri: 'http://tracker.example/' },
		{ url: '/', baseURL: 'http://tracker.example' },
		{ url: '/v1/models' },
	])('the key is not sent to another host: %j', async (request) => {
		await expect(send(request)).rejects.toThrow(
			`The key of this credential is sent to ${server.url} only`,
		);
	});
});

describe('a redirect', () => {
	const STATUSES = [301, 302, 303, 307, 308];
	const REPLY = eventsOf([delta({ content: 'Hi' }, { finish_reason: 'stop' })]);
	const other = serverForEach((response) => response.end(REPLY));
	let status: number;
	let location: string;
	beforeEach(() => {
		status = 302;
		location = `${other.url}/elsewhere?token=1`;
		server.script = (response, { path }) => {
			if (path === '/elsewhere') response.end(REPLY);
			else response.writeHead(status, { location }).end('moved');
		};
	});

	const run = async (operation: Operation, baseUrl = server.url) => {
		const options = { credential: { baseUrl, apiKey: KEY }, ...WAYS.errorOutput };
		return await withFakeTimers(async () => await operation.run(options));
	};

	// 307, which would send a request again as it is, is a fault of the matrix for every operation.
	test.each(STATUSES)('with status %i is reported and not followed', async (code) => {
		status = code;
		const { items, error } = await run(OPERATIONS.chat);
		expect(other.requests).toHaveLength(0);
		expect(server.requests).toHaveLength(1);
		const shown = JSON.stringify([items, error?.message, error]);
		expect(shown).toContain(FAILURE.redirect);
		expect(shown).toContain('Check the Base URL');
		expect(shown).toContain('https:// instead of http://');
		expect(shown).toContain(`Location: ${location}`);
	});

	test('does not take the key to a subdomain of the host in the Base URL', async () => {
		location = `http://sub.localhost:${server.port}/elsewhere`;
		const network = imitateNetwork();
		for (const name of ['localhost', 'sub.localhost']) network.resolve(name, ['127.0.0.1']);
		await run(OPERATIONS.chat, `http://localhost:${server.port}`).finally(() => {
			network.restore();
		});
		expect(server.requests.map(({ path }) => path)).toStrictEqual(['/v1/chat/completions']);
	});

	test('of a creation was not carried out, unless the status says that its result is elsewhere', async () => {
		const outcomes: unknown[] = [];
		for (status of STATUSES) {
			const { items } = await run(OPERATIONS.createVideo);
			outcomes.push((items[0]!.json['details'] as IDataObject)['outcome_unknown']);
		}
		expect(server.requests).toHaveLength(STATUSES.length);
		expect(other.requests).toHaveLength(0);
		expect(outcomes).toStrictEqual([undefined, undefined, true, undefined, undefined]);
	});

	test('to an endless Location is cut', async () => {
		location = `http://127.0.0.1:9/${'x'.repeat(8_000)}`;
		const { items } = await run(OPERATIONS.chat);
		expect(JSON.stringify(items)).toContain('Location: http://127.0.0.1:9/xxx');
		expect(JSON.stringify(items).length).toBeLessThan(2_000);
	});
});

test('another value, another header or an app code is another account; order and case of the names are not', () => {
	const gateway = { name: 'X-Gateway', value: 'g' };
	const nameOf = (...headers: readonly IDataObject[]) =>
		accountOf(readCredential(credential(...headers)));
	const withApp = { ...credential(), apiKey: `${KEY}-demo-app`, keyIncludesApp: true };
	const same = nameOf(TENANT, gateway);
	expect(nameOf(gateway, { ...TENANT, name: 'x-tenant' })).toBe(same);
	const others = [nameOf(), nameOf(TENANT), nameOf({ ...TENANT, value: 'other' }, gateway)];
	expect(new Set([same, ...others, accountOf(readCredential(withApp))]).size).toBe(5);
	expect(same).toMatch(/^127\.0\.0\.1:\d+ [\w-]+$/);
});

describe('an error', () => {
	/** The failed item of a reply that arrives in these pieces. */
	async function failureOf(pieces: readonly string[], more: object = {}): Promise<string> {
		server.script = (response) => {
			response.writeHead(400, { 'content-type': 'text/plain' });
			inPieces(response, pieces);
		};
		const { outputs } = await runNode('chatCompletion', {
			credential: { ...credential(), ...more },
			parameters: { prompt: 'Hi', streaming: 'off' },
			onError: 'continueErrorOutput',
		});
		return JSON.stringify(outputs);
	}

	const base64 = (text: string) => Buffer.from(text).toString('base64');
	const HEX = Buffer.from(KEY).toString('hex');
	const everyCharacter = (before: string, after = '') =>
		`Bearer ${HEX.replace(/../g, (code) => before + code + after)}`;
	const IN_HEADER = base64(BEARER).slice(12, -4);
	const OF_APP = { apiKey: `${KEY}-demo-app`, keyIncludesApp: true };
	/** The ways to quote the key, and the part of each that gives it away. */
	type Quote = [how: string, quote: string, part: string, more?: object];
	const QUOTES: readonly Quote[] = [
		['plain', BEARER, 'sesame'],
		['with each letter as an escape', everyCharacter('\\u00'), '\\u006d\\u0065'],
		['with each character URL-encoded', everyCharacter('%'), '%6d%65'],
		['with each character as HTML', everyCharacter('&#x', ';'), '&#x6d;&#x65;'],
		['with each character URL-encoded twice', everyCharacter('%25'), '%256d%2565'],
		['URL-encoded', encodeURIComponent(BEARER), 'sesame'],
		[
			'URL-encoded in lower case',
			encodeURIComponent(BEARER).replace(/%../g, (code) => code.toLowerCase()),
			'sesame',
		],
		['with escaped slashes', BEARER.replaceAll('/', '\\/'), 'sesame'],
		[
			'escaped for JSON',
			KEY.replace(/\W/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`),
			'sesame',
		],
		['escaped for HTML', KEY.replaceAll('/', '&#x2F;').replaceAll('+', '&#x2B;'), 'sesame'],
		['in base64', base64(KEY), base64(KEY).slice(4, -4)],
		['in base64 of the header', base64(BEARER), IN_HEADER],
		[
			'in base64 of all headers',
			base64(`Accept: */*\r\nAuthorization: ${BEARER}\r\nHost: x\r\n`),
			base64(`xx${KEY}`).slice(4, -4),
		],
		[
			'in base64url',
			Buffer.from(`x ${BEARER}`).toString('base64url'),
			base64(KEY).slice(4, -4),
		],
		['in hexadecimal', HEX, HEX.slice(8, -8)],
		['in hexadecimal in upper case', HEX.toUpperCase(), HEX.slice(8, -8).toUpperCase()],
		['whole, with its app code', OF_APP.apiKey, 'sesame', OF_APP],
		['without its app code', KEY, 'sesame', OF_APP],
		['without its app code, in base64', base64(BEARER), IN_HEADER, OF_APP],
		['with its app code, in base64', base64(`${BEARER}-demo-app`), IN_HEADER, OF_APP],
		['without its app code, URL-encoded', encodeURIComponent(KEY), 'sesame', OF_APP],
	];

	test.each<Quote>(QUOTES)('masks the key %s', async (_how, quote, part, more = {}) => {
		expect(quote).toContain(part);
		const shown = await failureOf([`before ${quote} after`], more);
		expect(shown).toMatch(/before .*\[masked: API Key\].* after/);
		expect(shown.replaceAll('\\\\', '\\')).not.toContain(part);
	});

	test.each([1, 9, KEY.length - 1])(
		'masks the key where two chunks split it after %i characters',
		async (at) => {
			const pieces = [`before ${KEY.slice(0, at)}`, `${KEY.slice(at)} after`];
			expect(await failureOf(pieces)).toContain('before [masked: API Key] after');
		},
	);

	// The excerpt of an error has 200 characters.
	test.each([200 - KEY.length, 201 - KEY.length, 190, 196])(
		'has no part of a key that stands %i characters from the beginning',
		async (before) => {
			const shown = await failureOf([`${'.'.repeat(before)}${KEY} and more`]);
			expect(shown).not.toContain(KEY.slice(0, 4));
			expect(shown).toContain('[masked: API Key]');
		},
	);

	test('has no part of a key in a refusal that is cut for one line', async () => {
		const message = { role: 'assistant', content: null, refusal: `${'.'.repeat(110)}${KEY}` };
		server.script = (response) => {
			answerWell(response, body({ choices: [{ index: 0, message, finish_reason: 'stop' }] }));
		};
		const { error } = await runNode('chatCompletion', {
			credential: credential(),
			parameters: { prompt: 'Hi', streaming: 'off' },
		});
		expect(error!.message).toMatch(/^The model refused to answer: \.+\[masked: API Key\]…$/);
	});

	test('masks a key of 9,000 characters, which does not fit into its excerpt', async () => {
		const numbers = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(9, 'k'));
		const apiKey = numbers.join('');
		const shown = await failureOf([`The key ${apiKey} is unknown`], { apiKey });
		expect(shown).toContain('The key [masked: API Key]…');
		expect(shown).not.toMatch(/k{3}/);
	});

	test('masks no short key: it may be a word', async () => {
		const shown = await failureOf(['The keyring is empty'], { apiKey: 'key' });
		expect(shown).toContain('The keyring is empty');
	});

	test('masks no short word before a hyphen of a key with an app code', async () => {
		const more = { apiKey: 'my-own-very+secret-demo-app', keyIncludesApp: true };
		expect(await failureOf(['before my-own words after'], more)).toContain(
			'before my-own words after',
		);
	});

	test.each([
		['X-Tenant', 'marketing', undefined, 'Ask the [masked: X-Tenant] team'],
		['X-Tenant', 'marketing', true, 'Ask the [masked: X-Tenant] team'],
		['X-Api-Key', 'marketing', false, 'Ask the marketing team'],
		// Also without its scheme.
		['X-Token', 'Basic marketing', undefined, 'Ask the [masked: X-Token] team'],
	])('has the value of %s, "%s", with Secret: %s, as: %s', async (name, value, secret, text) => {
		const header = { name, value, ...(secret !== undefined && { secret }) };
		expect(await failureOf(['Ask the marketing team'], credential(header))).toContain(text);
	});
});

describe('a key that ends with an app code', () => {
	let emulator: Emulator;
	beforeAll(async () => {
		emulator = await startEmulator({ clock: 'virtual' });
	});
	beforeEach(() => {
		emulator.journal.clear();
	});
	afterAll(async () => {
		await emulator.stop();
	});

	const keyOf = (app: string) => ({
		baseUrl: emulator.url,
		apiKey: `demo-key-${app}`,
		keyIncludesApp: true,
	});

	describe.each(CHAT_NODE_NAMES)('%s', (node) => {
		const ask = async (app: string, parameters: IDataObject = { appCode: '' }) =>
			await askThrough(node, false, emulator.url, parameters, keyOf(app));
		const app = node === 'assistant' ? 'demo-assistant' : 'demo-app';

		test('uses that application, with App Code empty', async () => {
			const { error, json } = await ask(app);
			expect(error).toBe('');
			expect(json).not.toStrictEqual({});
			const [sent] = emulator.journal.of('/v1/chat/completions');
			expect(sent!.status).toBe(200);
			expect(sent!.body).not.toHaveProperty('app_code');
		});

		test('takes no App Code beside it: the error names both, before anything is sent', async () => {
			const { error } = await ask(app, { answeredBy: 'app', appCode: 'demo-app' });
			expect(error).toContain(
				'App Code is entered, but the API Key of the credential ends with an app code as well',
			);
			expect(error).toContain('Leave App Code empty');
			expect(emulator.journal.entries).toStrictEqual([]);
		});

		test('a wrong code is the error of the service', async () => {
			expect((await ask('no-such-app')).error).toContain(FAILURE.noApp);
		});
	});

	test.each<[string, object, IDataObject, message: string, description: string]>([
		[
			'superAssistant',
			{ apiKey: 'demo-key', keyIncludesApp: false },
			{ message: 'Hi' },
			'App Code is empty',
			'switch on API Key Ends With an App Code',
		],
		...['secret', 'secret-', '-app'].map(
			(apiKey): [string, object, IDataObject, string, string] => [
				'chatCompletion',
				{ apiKey },
				{ prompt: 'Hi' },
				'API Key does not end with an app code',
				'',
			],
		),
		[
			'chatCompletion',
			{},
			{ prompt: 'Hi', options: { extraBody: '{ "app_code": "demo-workflow" }' } },
			'Extra Body Fields contains "app_code"',
			'',
		],
	])('%s with %j and %j sends nothing: %s', async (...row) => {
		const [node, more, parameters, message, description] = row;
		const { error } = await runNode(node, {
			credential: { ...keyOf('demo-app'), ...more },
			parameters,
		});
		expect(error!.message).toBe(message);
		expect(error!.description).toContain(description);
		expect(emulator.journal.entries).toStrictEqual([]);
	});

	test('is taken by the video endpoints, from creation to the finished video', async () => {
		const account = keyOf('demo-app');
		const created = await runNode('createVideo', {
			credential: account,
			parameters: { prompt: 'A lake' },
		});
		await emulator.clock.advance(60_000);
		const { json: task } = created.outputs[0]![0]!;
		const waited = await runNode('waitForVideo', {
			credential: account,
			items: [task],
			parameters: { download: false },
		});
		expect(waited.outputs[0]![0]!.json).toMatchObject({ status: 'completed' });
	});
});

test('its form hides the key and the values of headers, which n8n then does not show again', () => {
	const { properties } = new AgentVideoApi();
	const [header] = properties.flatMap(({ name, options }) =>
		name === 'extraHeaders' ? (options as readonly INodePropertyCollection[]) : [],
	);
	const hidden = [...properties, ...header!.values].filter(
		({ typeOptions }) => typeOptions?.password === true,
	);
	expect(hidden.map(({ name }) => name)).toStrictEqual(['apiKey', 'value']);
});

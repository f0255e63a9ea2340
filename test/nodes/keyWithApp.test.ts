import type { IDataObject } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { dataTables } from '../support/dataTables';
import {
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { json, startScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

let emulator: Emulator;
beforeEach(async () => {
	emulator = await startEmulator({ clock: 'virtual' });
});
afterEach(async () => {
	await emulator.stop();
});

/** A credential whose key ends with the code of an application. */
const keyOf = (app: string) => ({
	baseUrl: emulator.url,
	apiKey: `demo-key-${app}`,
	keyIncludesApp: true,
});

type Run = (parameters: IDataObject, options: RunOptions) => Promise<RunResult>;

const node =
	(name: string, own: IDataObject): Run =>
	async (parameters, options) =>
		await runNode(name, { ...options, parameters: { ...own, ...parameters } });

const model: Run = async (parameters, options) =>
	await runWorkflow(
		[
			packageNode('Model', 'agentVideoChatModel', { parameters }),
			modelCallerNode('Chain', { stream: false }),
		],
		{},
		'Chain',
		{ ...options, model: { name: 'Model', of: 'Chain' } },
	);

/** The chat nodes, and an application that each can use. */
const CHATS: readonly (readonly [name: string, app: string, run: Run])[] = [
	['Chat Completion', 'demo-app', node('chatCompletion', { prompt: 'Hi' })],
	['Agent with Tools', 'demo-app', node('functionCallingAgent', { prompt: 'Hi' })],
	['Super Assistant', 'demo-assistant', node('superAssistant', { message: 'Hi' })],
	['Agent Video Chat Model', 'demo-app', model],
];

describe.each(CHATS)('%s, whose API key ends with an app code', (_name, app, run) => {
	test('uses that application, with App Code empty', async () => {
		const { status, outputs } = await run({}, { credential: keyOf(app) });
		expect(status).toBe('success');
		expect(outputs.flat()).toHaveLength(1);
		const [sent] = emulator.journal.of('/v1/chat/completions');
		expect(sent!.status).toBe(200);
		expect(sent!.body).not.toHaveProperty('app_code');
	});

	test('an App Code beside it is an error that names both, before anything is sent', async () => {
		const { error } = await run(
			{ answeredBy: 'app', appCode: 'demo-app' },
			{ credential: keyOf(app) },
		);
		// n8n puts the message of a sub-node into the description.
		const text = `${error!.message}. ${error!.description}`;
		expect(text).toContain(
			'App Code is entered, but the API Key of the credential ends with an app code as well',
		);
		expect(text).toContain('Leave App Code empty');
		expect(emulator.journal.entries).toStrictEqual([]);
	});

	test('a wrong code is the error of the service', async () => {
		const { error } = await run({}, { credential: keyOf('no-such-app') });
		expect(error!.message).toContain(FAILURE.noApp);
	});
});

test('Super Assistant asks for an App Code or such a key', async () => {
	const credential = { baseUrl: emulator.url, apiKey: 'demo-key' };
	const { error } = await runNode('superAssistant', {
		credential,
		parameters: { message: 'Hi' },
	});
	expect(error!.message).toBe('App Code is empty');
	expect(error!.description).toContain('switch on API Key Ends With an App Code');
	expect(emulator.journal.entries).toStrictEqual([]);
});

test.each(['secret', 'secret-', '-app'])(
	'the key %j cannot end with an app code',
	async (apiKey) => {
		const { error } = await runNode('chatCompletion', {
			credential: { ...keyOf(''), apiKey },
			parameters: { prompt: 'Hi' },
		});
		expect(error!.message).toBe('API Key does not end with an app code');
		expect(emulator.journal.entries).toStrictEqual([]);
	},
);

test('the app code of another field is not overruled by extra body fields', async () => {
	const { error } = await runNode('chatCompletion', {
		credential: keyOf('demo-app'),
		parameters: { prompt: 'Hi', options: { extraBody: '{ "app_code": "demo-workflow" }' } },
	});
	expect(error!.message).toContain('contains "app_code"');
	expect(emulator.journal.entries).toStrictEqual([]);
});

test('the assistant of the key remembers a session per key of the form, and each account has its own', async () => {
	const tables = dataTables();
	const say = async (credential: RunOptions['credential'], message: string) => {
		const parameters = { message, session: 'key', sessionKey: 'chat-1' };
		const { outputs } = await runNode('superAssistant', { credential, tables, parameters });
		return outputs[0]![0]!.json;
	};
	const first = await say(keyOf('demo-assistant'), 'My name is Ada');
	const again = await say(keyOf('demo-assistant'), 'What is my name?');
	const bare = await runNode('superAssistant', {
		credential: { baseUrl: emulator.url, apiKey: 'demo-key' },
		tables,
		parameters: {
			appCode: 'demo-assistant',
			message: 'What is my name?',
			session: 'key',
			sessionKey: 'chat-1',
		},
	});
	expect(again['session_id']).toBe(first['session_id']);
	expect(JSON.stringify(again)).toContain('Ada');
	expect(JSON.stringify(bare.outputs)).not.toContain('Ada');
	const rows = tables.rows.filter((row) => 'session_key' in row && row['session_id'] !== '');
	expect(JSON.stringify(rows)).not.toContain('demo-key');
	expect(new Set(rows.map((row) => row['account'])).size).toBe(2);
});

test('the video endpoints take such a key, from creation to the finished video', async () => {
	const credential = keyOf('demo-app');
	const created = await runNode('createVideo', { credential, parameters: { prompt: 'A lake' } });
	await emulator.clock.advance(60_000);
	const { json: task } = created.outputs[0]![0]!;
	const waited = await runNode('waitForVideo', {
		credential,
		items: [task],
		parameters: { download: false },
	});
	expect(waited.outputs[0]![0]!.json).toMatchObject({ status: 'completed' });
});

describe('a service that quotes the key', () => {
	/** What an error shows of a key that the service quotes. */
	const shown = async (quote: string, apiKey: string) => {
		const server = await startScriptedServer((response) => {
			json(response, 400, { error: { message: `before ${quote} after` } });
		});
		const credential = { baseUrl: server.url, apiKey, keyIncludesApp: true };
		const { outputs } = await runNode('chatCompletion', {
			credential,
			parameters: { prompt: 'Hi' },
			onError: 'continueErrorOutput',
		});
		await server.stop();
		return JSON.stringify(outputs);
	};
	const KEY = 'sk-proj-0f4e-very+secret';
	const base64 = (text: string) => Buffer.from(`Bearer ${text}`).toString('base64');

	test.each([
		['the whole key', `${KEY}-demo-app`],
		['the API key without the app code', KEY],
		['the API key in base64', base64(KEY)],
		['the whole key in base64', base64(`${KEY}-demo-app`)],
		['the API key, URL-encoded', encodeURIComponent(KEY)],
	])('shows neither the key nor its API key: %s', async (_what, quote) => {
		const text = await shown(quote, `${KEY}-demo-app`);
		expect(text).toMatch(/before .*\[masked: API Key\].* after/);
		expect(text).not.toContain('secret');
		expect(text).not.toContain(base64(`-${KEY}`).slice(12, -4));
	});

	test('a short word before a hyphen is not masked', async () => {
		expect(await shown('my-own words', 'my-own-very+secret-demo-app')).toContain(
			'before my-own words after',
		);
	});
});

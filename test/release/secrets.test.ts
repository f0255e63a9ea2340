import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { failureOf } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import { chatUrl, streamChat } from '../../lab/n8n/streamChat';
import { newUserFolder } from '../../lab/n8n/userFolder';
import { Running } from '../../lab/services/Running';
import { events, json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { drawn, node, withSubNodes, workflow } from '../e2e/support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';

const PACKAGE = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const CREDENTIAL = 'Of the owner';
const KEY = 'demo-key';
const TENANT = 'tenant-secret-4711';
/** The credential of a service that quotes the key in its replies. */
const QUOTING = 'Quoting';
const QUOTED = `Your key is ${KEY}. Keep it.`;
/** What n8n shows in place of a secret of a saved credential, and puts back when it is saved or tested. */
const HIDDEN = '__n8n_BLANK_VALUE_e5362baf-c777-4d57-a609-6eaf1f9e87f6';

const running = new Running();
let userFolder: string;
let emulator: Emulator;
let trap: ScriptedServer;
let n8n: N8n;
let owner: N8nClient;
let other: N8nClient;
/** The project of the owner. */
let project: string;

const start = async () =>
	running.keep(
		await startN8n({
			userFolder,
			editor: false,
			settings: { N8N_LOG_LEVEL: 'debug' },
			keptLogLines: 20_000,
		}),
	);

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 0.01 }));
	trap = running.keep(
		await startScriptedServer((response) => {
			json(response, 404, { error: { message: 'Task not found' } });
		}),
	);
	const quoting = running.keep(
		await startScriptedServer((response, { body }) => {
			const more = { quota: { [KEY]: `Bearer ${KEY}` } };
			const choice = { index: 0, finish_reason: 'stop' };
			const deltas = Array.from(QUOTED, (content) => ({ index: 0, delta: { content } }));
			if ((body as { stream?: boolean }).stream !== true)
				json(response, 200, {
					choices: [{ ...choice, message: { content: QUOTED } }],
					...more,
				});
			else
				events(response, [
					...deltas.map((each) => ({ choices: [each], ...more })),
					{ choices: [{ ...choice, delta: {} }] },
					'[DONE]',
				]);
		}),
	);
	userFolder = await newUserFolder();
	running.keep({ stop: () => rm(userFolder, { recursive: true, force: true }) });
	n8n = await start();
	owner = await N8nClient.signIn(n8n.url);
	await owner.createCredential({
		name: CREDENTIAL,
		type: 'agentVideoApi',
		data: {
			baseUrl: emulator.url,
			apiKey: KEY,
			extraHeaders: { header: [{ name: 'X-Tenant-Token', value: TENANT }] },
		},
	});
	await owner.createCredential({
		name: QUOTING,
		type: 'agentVideoApi',
		data: { baseUrl: quoting.url, apiKey: KEY },
	});
	project = await owner.personalProject();
	other = await owner.addUser('jane@example.com');
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const manual = node('Start', 'n8n-nodes-base.manualTrigger', 1);
const videos = workflow('Videos', [
	manual,
	node('Create', `${PACKAGE}.createVideo`, 1, {
		parameters: { prompt: 'A lake' },
		credential: CREDENTIAL,
	}),
	node('Wait', `${PACKAGE}.waitForVideo`, 1, { credential: CREDENTIAL }),
	node('Ask', `${PACKAGE}.chatCompletion`, 1, {
		parameters: { prompt: 'Hi' },
		credential: CREDENTIAL,
	}),
	node('Fail', `${PACKAGE}.superAssistant`, 1, {
		parameters: { appCode: 'private-app', message: 'Hi' },
		credential: CREDENTIAL,
	}),
]);

it(
	"n8n's log at the level debug has the nodes of a wait, and no secret",
	async () => {
		const id = await owner.run(await owner.importWorkflow(videos), 'Start');
		expect(failureOf(await owner.waitForExecution(id))).not.toBe('');
		const log = n8n.log();
		expect(log).toContain('Start executing node "Wait');
		for (const secret of [KEY, TENANT]) {
			expect(log).not.toContain(secret);
			expect(log).not.toContain(Buffer.from(secret).toString('base64').slice(0, 8));
		}
	},
	RUN_LIMIT_MS,
);

const ask = (parameters: object) =>
	node('Answer', `${PACKAGE}.chatCompletion`, 1, { parameters, credential: QUOTING });
const ANSWERERS = {
	'Chat Completion': ask({ prompt: '={{ $json.chatInput }}', output: 'raw' }),
	'AI Agent': node('Answer', `${LANGCHAIN}.agent`, 3, {}),
};

it.each(
	(['Chat Completion', 'AI Agent'] as const).flatMap((answerer) =>
		(['streaming', 'lastNode'] as const).map((mode) => [answerer, mode] as const),
	),
)(
	'the visitor of a chat gets no key that the service quotes: %s, %s',
	async (answerer, responseMode) => {
		const webhookId = `quoting-${answerer.replace(' ', '-')}-${responseMode}`;
		const chat = node('Chat', `${LANGCHAIN}.chatTrigger`, 1.3, {
			parameters: { public: true, options: { responseMode } },
			webhookId,
		});
		const flow = drawn(webhookId, [chat, ANSWERERS[answerer]], { Chat: [['Answer']] });
		const model = node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { credential: QUOTING });
		const ref = await owner.importWorkflow(
			answerer === 'AI Agent'
				? withSubNodes(flow, 'Answer', [[model, 'ai_languageModel']])
				: flow,
		);
		await owner.activate(ref);
		const url = chatUrl(n8n.url, webhookId);
		const sent = { action: 'sendMessage', sessionId: webhookId, chatInput: 'Hi' };
		const got =
			responseMode === 'streaming'
				? (await streamChat(url, 'Hi')).map(({ content = '' }) => content).join('')
				: (await postWebhook<string>(url, sent, 'text')).data;
		expect(got).toContain('Your key is [masked: API Key]. Keep it.');
		expect(got).not.toContain(KEY);
	},
	RUN_LIMIT_MS,
);

it(
	'where no visitor reads it, what the service has answered well stays as it is',
	async () => {
		const flow = workflow('Quoted', [manual, ask({ prompt: 'Hi', output: 'raw' })]);
		const id = await owner.run(await owner.importWorkflow(flow), 'Start');
		const execution = JSON.stringify(await owner.waitForExecution(id));
		expect(execution).toContain(QUOTED);
		expect(execution).not.toContain('[masked');
	},
	RUN_LIMIT_MS,
);

/**
 * What this user gets by the credential of the owner, through each way of our nodes.
 *
 * @param projectId Where the workflow is created; by default the user's own project.
 */
async function tryAll(user: N8nClient, projectId?: string): Promise<Record<string, string>> {
	const credential = { id: owner.credentialId(CREDENTIAL), name: CREDENTIAL };
	const credentials = { agentVideoApi: credential };
	const nodes = videos.nodes.map((each) => ({
		...each,
		...(each.credentials && { credentials }),
	}));
	const saved = await user.answer('POST', '/workflows', { ...videos, nodes, projectId });
	const { data } = saved.data as { data?: { id: string } };
	const executed = async () => {
		const id = await user.run({ id: data!.id, versionId: '' }, 'Start');
		return await user.waitForExecution(id);
	};
	const nodeTypeAndVersion = { name: `${PACKAGE}.chatCompletion`, version: 1 };
	const list = await user.answer('POST', '/dynamic-node-parameters/resource-locator-results', {
		path: 'parameters.model',
		methodName: 'searchModel',
		nodeTypeAndVersion,
		currentNodeParameters: {},
		credentials,
	});
	const moved = { baseUrl: trap.url, apiKey: HIDDEN };
	const test = await user.answer('POST', '/credentials/test', {
		credentials: { ...credential, type: 'agentVideoApi', data: moved },
	});
	return {
		execution: JSON.stringify(data ? await executed().catch(String) : saved.data),
		list: JSON.stringify(list.data),
		test: JSON.stringify(test.data),
	};
}

const hasNoSecret = (seen: Readonly<Record<string, string>>) => {
	for (const text of Object.values(seen)) {
		expect(text).not.toContain(KEY);
		expect(text).not.toContain(TENANT);
	}
};

it(
	'another user cannot use the credential by its ID: not in a workflow, a list or a test',
	async () => {
		const before = emulator.journal.entries.length;
		const seen = await tryAll(other);
		hasNoSecret(seen);
		expect(seen['execution']).toContain('does not have access to the credential');
		expect(seen['list']).toContain('Forbidden');
		expect(seen['test']).toContain('Forbidden');
		expect(emulator.journal.entries).toHaveLength(before);
		expect(trap.requests).toStrictEqual([]);
	},
	RUN_LIMIT_MS,
);

/** Makes users members of the owner's project, for which n8n's interface needs a license. */
async function addToProject(roles: Readonly<Record<string, string>>): Promise<void> {
	await n8n.stop();
	const database = new DatabaseSync(`${userFolder}/.n8n/database.sqlite`);
	const add = database.prepare(
		'INSERT INTO project_relation (projectId, userId, role) SELECT ?, id, ? FROM user WHERE email = ?',
	);
	for (const [email, role] of Object.entries(roles)) add.run(project, role, email);
	database.close();
	n8n = await start();
}

it(
	'members of the project read no secret of it, also by a test with another address; an editor uses it',
	async () => {
		await owner.addUser('john@example.com');
		await addToProject({
			'jane@example.com': 'project:viewer',
			'john@example.com': 'project:editor',
		});
		const tryAs = async (email: string) =>
			await tryAll(await N8nClient.signIn(n8n.url, email), project);
		hasNoSecret(await tryAs('jane@example.com'));
		// n8n tests the credential as it is saved.
		expect(trap.requests).toStrictEqual([]);

		const seen = await tryAs('john@example.com');
		expect(seen['execution']).toContain('video_url');
		hasNoSecret(seen);
	},
	RUN_LIMIT_MS,
);

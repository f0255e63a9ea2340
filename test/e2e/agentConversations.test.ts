// @seconds 90
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { drawn, node, withSubNodes } from './support/buildWorkflow';
import {
	agentNode,
	base,
	code,
	draw,
	noOp,
	set,
	start,
	WEATHER,
	type Drawing,
} from './support/drawAgent';
import { call, results, startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

let agent: AgentSession;
/** The model and the execution of a run with a long wait, which runs beside the other tests. */
let longWaitModel: ScriptedModel;
let longWaitRun: Promise<Execution>;
let seenStates: Set<string>;

beforeAll(async () => {
	agent = await startAgentSession();
	longWaitModel = await startScriptedModel();
	await agent.credential('Long wait', longWaitModel.url);
	longWaitRun = runWithLongWait();
	longWaitRun.catch(() => undefined);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await longWaitModel.stop();
	await agent.stop();
}, RUN_LIMIT_MS);

/** Runs an agent whose branch waits so long that n8n suspends the execution and resumes it later. */
async function runWithLongWait(): Promise<Execution> {
	const { client } = agent;
	longWaitModel.replyWith((messages) =>
		results(messages).length === 0
			? [call('c1', 'weather', { city: 'Rome' }), call('c2', 'weather', { city: 'Oslo' })]
			: 'Done.',
	);
	const long = node('weather', base('wait'), 1.1, {
		parameters: { amount: '={{ $json.city === "Rome" ? 66 : 0 }}', unit: 'seconds' },
		webhookId: 'long-wait',
	});
	const ref = await client.importWorkflow(
		draw('A long wait', {
			tools: ['weather'],
			nodes: [long, set('After', '={{ { "degrees": $json.city.length } }}')],
			wires: { weather: [['After']], After: [['Agent']] },
			credential: 'Long wait',
		}),
	);
	seenStates = new Set();
	return await client.waitForExecution(await client.run(ref, 'Start'), {
		limitMs: 200_000,
		onProgress: ({ status }) => {
			seenStates.add(status);
			return Promise.resolve();
		},
	});
}

it.each(['oneAtATime', 'allAtOnce'])(
	'runs three conversations with different numbers of rounds, %s',
	async (runCalls) => {
		agent.model.replyWith((messages) => {
			const wanted = Number(String(messages[0]!.content).at(-1));
			const done = results(messages).length;
			return done < wanted
				? [call('same-id', 'weather', { city: `${wanted}${done}` })]
				: `after ${results(messages)
						.map(({ content }) => content)
						.join()}`;
		});
		const { answers } = await agent.run({
			tools: ['weather'],
			nodes: [set('weather', '={{ { "was": $json.city } }}')],
			wires: { weather: [['Agent']] },
			questions: ['Rounds 2', 'Rounds 0', 'Rounds 1'],
			parameters: { options: { runCalls } },
		});
		expect(answers.map(({ output, rounds }) => [output, rounds])).toStrictEqual([
			['after {"was":"20"},{"was":"21"}', 3],
			['after ', 1],
			['after {"was":"10"}', 2],
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'works inside Loop Over Items with five items',
	async () => {
		agent.model.replyWith((messages) =>
			results(messages).length === 0
				? [call('c1', 'weather', { city: String(messages[0]!.content) })]
				: String(results(messages)[0]!.content),
		);
		const cities = ['Rome', 'Oslo', 'Paris', 'Athens', 'Reykjavik'];
		const drawing: Drawing = { tools: ['weather'], nodes: [], wires: {} };
		const items = JSON.stringify(cities.map((question) => ({ json: { question } })));
		const execution = await agent.runWorkflow(
			drawn(
				'Outer loop',
				[
					start,
					code('Questions', `return ${items};`),
					node('Loop', base('splitInBatches'), 3),
					noOp('All'),
					agentNode(drawing),
					WEATHER,
				],
				{
					Start: [['Questions']],
					Questions: [['Loop']],
					Loop: [['All'], ['Agent']],
					Agent: [['Loop'], [], ['weather']],
					weather: [['Agent']],
				},
			),
		);
		expect(outputItems(execution, 'All').map(({ json }) => json['output'])).toStrictEqual(
			cities.map((city) => `{"degrees":${city.length}}`),
		);
		expect(agent.model.requests).toHaveLength(10);
	},
	RUN_LIMIT_MS,
);

it(
	'outputs the reason and the messages on Stopped when a limit is reached',
	async () => {
		let calls = 0;
		agent.model.replyWith(() => [call(`c${calls++}`, 'weather', { city: `City ${calls}` })]);
		const { answers, stops } = await agent.run({
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			parameters: { options: { maxRounds: 3 } },
		});
		expect(answers).toHaveLength(0);
		expect(stops).toMatchObject([{ reason: 'max_rounds', rounds: 3 }]);
		// Every tool call of the last reply has a tool message, so that the messages can be sent again.
		expect(stops[0]!['messages']).toHaveLength(7);
		expect(agent.model.requests).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

it(
	'runs a tool node of n8n and a branch in one round',
	async () => {
		agent.requestsTools(
			call('c1', 'Calculator', { input: '6 * 7' }),
			call('c2', 'weather', { city: 'Rome' }),
		);
		const drawing: Drawing = {
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
		};
		const execution = await agent.runWorkflow(
			withSubNodes(draw('Mixed tools', drawing), 'Agent', [
				[node('Calculator', '@n8n/n8n-nodes-langchain.toolCalculator', 1), 'ai_tool'],
			]),
		);
		const sent = results(agent.model.requests[1]!.messages);
		expect(sent.map(({ tool_call_id: id }) => id)).toStrictEqual(['c1', 'c2']);
		expect(sent[0]!.content).toMatch(/42/);
		expect(sent[1]!.content).toBe('{"degrees":4}');
		expect(execution.data.resultData.runData['Calculator']).toHaveLength(1);
		expect(outputItems(execution, 'Answers')).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'continues the conversation after Retry On Fail',
	async () => {
		let failures = 2;
		agent.model.replyWith((messages) => {
			if (results(messages).length === 0) return [call('c1', 'weather', { city: 'Rome' })];
			return failures-- > 0 ? undefined : 'Done.';
		});
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			retryOnFail: true,
		});
		expect(answers).toMatchObject([{ output: 'Done.' }]);
		expect(execution.data.resultData.runData['weather']).toHaveLength(1);
		expect(agent.model.requests.map(({ messages }) => messages.length)).toStrictEqual([
			1, 3, 3, 3,
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'fails if results of calls run all at once cannot be matched to their calls',
	async () => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		);
		const { execution } = await agent.run({
			tools: ['weather'],
			nodes: [
				node('weather', base('aggregate'), 1, {
					parameters: { aggregate: 'aggregateAllItemData' },
				}),
			],
			wires: { weather: [['Agent']] },
			parameters: { options: { runCalls: 'allAtOnce' } },
		});
		expect(failureOf(execution)).toMatch(
			/^Agent: Tool results came back without the link .* set Run Tool Calls to One at a Time/,
		);
		expect(agent.model.requests).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'streams the tool calls and the answer to a chat, with a begin and an end event per round',
	async () => {
		agent.requestsTools(call('c1', 'weather', { city: 'Rome' }));
		const drawing: Drawing = {
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			parameters: { prompt: '={{ $json.body.question }}' },
		};
		const { client, n8n } = agent;
		const ref = await client.importWorkflow(
			drawn(
				'Agent in a chat',
				[
					node('Webhook', base('webhook'), 2.1, {
						parameters: {
							httpMethod: 'POST',
							path: 'agent',
							responseMode: 'streaming',
						},
						webhookId: 'agent',
					}),
					agentNode(drawing),
					WEATHER,
				],
				{
					Webhook: [['Agent']],
					Agent: [[], [], ['weather']],
					weather: [['Agent']],
				},
			),
		);
		await client.activate(ref);
		const lines = await streamWebhook(`${n8n.url}/webhook/agent`, { question: 'Weather?' });
		expect(lines.map(({ type }) => type)).toStrictEqual([
			...['begin', 'item', 'end'],
			...['begin', 'item', 'item', 'end'],
		]);
		expect(chatText(lines)).toBe('\n\n> Running weather\n\n\n\n> Finished weather\n\nDone.');
	},
	RUN_LIMIT_MS,
);

it(
	'treats an item made from several answers as a new question, not as a tool result',
	async () => {
		agent.model.replyWith((messages) =>
			results(messages).length === 0
				? [call('c1', 'weather', { city: String(messages[0]!.content) })]
				: String(results(messages)[0]!.content),
		);
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			questions: ['Rome', 'Athens'],
			nodes: [
				WEATHER,
				node('All', base('aggregate'), 1, {
					parameters: { aggregate: 'aggregateAllItemData' },
				}),
				code(
					'Next',
					"return $runIndex === 0 ? [{ json: { question: 'Reykjavik' } }] : [];",
				),
			],
			wires: { weather: [['Agent']], Answers: [['All']], All: [['Next']], Next: [['Agent']] },
		});
		expect(failureOf(execution)).toBe('');
		expect(answers.map(({ output }) => output)).toStrictEqual([
			'{"degrees":4}',
			'{"degrees":6}',
			'{"degrees":9}',
		]);
	},
	RUN_LIMIT_MS,
);

it(
	"evaluates the expressions of a tool node with the conversation's own item, in every round",
	async () => {
		agent.model.replyWith((messages) => {
			const calls = [
				call('f1', 'Find', { what: 'cats' }),
				call('c1', 'weather', { city: 'Rome' }),
				call('f2', 'Find', { what: 'dogs' }),
			];
			const next = calls[results(messages).length];
			return next === undefined
				? results(messages)
						.map(({ content }) => content)
						.join()
				: [next];
		});
		const find = node('Find', base('httpRequestTool'), 4.2, {
			parameters: {
				toolDescription: 'Finds what a person has',
				url: `=${agent.model.url}/json/{{ $json.question }}-{{ $fromAI('what', '', 'string') }}`,
			},
		});
		const execution = await agent.runWorkflow(
			withSubNodes(
				draw('Own items', {
					tools: ['weather'],
					questions: ['Ada', 'Bob'],
					nodes: [WEATHER],
					wires: { weather: [['Agent']] },
				}),
				'Agent',
				[[find, 'ai_tool']],
			),
		);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['output'])).toStrictEqual(
			['Ada', 'Bob'].map(
				(person) => `{"found":"${person}-cats"},{"degrees":4},{"found":"${person}-dogs"}`,
			),
		);
	},
	RUN_LIMIT_MS,
);

describe('messages recorded by the emulator', () => {
	it.each([
		[
			'the same tool twice',
			'What is the weather in Rome and Oslo?',
			[['{"degrees":4}', '{"degrees":4}']],
		],
		[
			'one tool after another',
			'What is the weather in Rome, then what is the weather in Lima?',
			[['{"degrees":4}'], ['{"degrees":4}', '{"degrees":4}']],
		],
	])(
		'%s',
		async (_name, question, rounds) => {
			const { journal } = agent.emulator;
			journal.clear();
			const { answers } = await agent.run({
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
				questions: [question],
				credential: 'Emulator',
			});
			const bodies = journal
				.of('/v1/chat/completions')
				.map(({ body }) => body as { messages: Parameters<typeof results>[0] });
			expect(
				bodies
					.slice(1)
					.map(({ messages }) => results(messages).map(({ content }) => content)),
			).toStrictEqual(rounds);
			const last = bodies.at(-1)!.messages;
			expect(last.map(({ role }) => role)).toStrictEqual([
				'user',
				...(rounds.length === 1
					? ['assistant', 'tool', 'tool']
					: ['assistant', 'tool', 'assistant', 'tool']),
			]);
			const callIds = last.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
			expect(results(last).map(({ tool_call_id: id }) => id)).toStrictEqual(callIds);
			expect(answers[0]!['output']).toMatch(/4/);
			expect(answers[0]!['rounds']).toBe(rounds.length + 1);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'resumes after a Wait of 66 seconds in a branch, which suspends the execution',
	async () => {
		const execution = await longWaitRun;
		expect(seenStates).toContain('waiting');
		expect(
			results(longWaitModel.requests[1]!.messages).map(({ content }) => content),
		).toStrictEqual(['{"degrees":4}', '{"degrees":4}']);
		expect(longWaitModel.requests).toHaveLength(2);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['output'])).toStrictEqual([
			'Done.',
		]);
	},
	2 * RUN_LIMIT_MS,
);

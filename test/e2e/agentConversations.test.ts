// @seconds 86
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
/** A model of its own for the run that takes more than a minute beside the others. */
let patient: ScriptedModel;
let patientRun: Promise<Execution>;
let seenStates: Set<string>;

beforeAll(async () => {
	agent = await startAgentSession();
	patient = await startScriptedModel();
	await agent.credential('Patient', patient.url);
	patientRun = runPatiently();
	patientRun.catch(() => undefined);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await patient.stop();
	await agent.stop();
}, RUN_LIMIT_MS);

/** A branch that waits so long that n8n saves the execution and goes on later. */
async function runPatiently(): Promise<Execution> {
	const { client } = agent;
	patient.says((messages) =>
		results(messages).length === 0
			? [call('c1', 'weather', { city: 'Rome' }), call('c2', 'weather', { city: 'Oslo' })]
			: 'Done.',
	);
	const long = node('weather', base('wait'), 1.1, {
		parameters: { amount: '={{ $json.city === "Rome" ? 66 : 0 }}', unit: 'seconds' },
		webhookId: 'patient',
	});
	const ref = await client.importWorkflow(
		draw('A long wait', {
			tools: ['weather'],
			nodes: [long, set('After', '={{ { "degrees": $json.city.length } }}')],
			wires: { weather: [['After']], After: [['Agent']] },
			credential: 'Patient',
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
	'three conversations with different numbers of rounds, %s',
	async (runCalls) => {
		agent.model.says((messages) => {
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
			parameters: { runCalls },
		});
		expect(answers.map(({ content, rounds }) => [content, rounds])).toStrictEqual([
			['after {"was":"20"},{"was":"21"}', 3],
			['after ', 1],
			['after {"was":"10"}', 2],
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'inside Loop Over Items, over five items',
	async () => {
		agent.model.says((messages) =>
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
		expect(outputItems(execution, 'All').map(({ json }) => json['content'])).toStrictEqual(
			cities.map((city) => `{"degrees":${city.length}}`),
		);
		expect(agent.model.requests).toHaveLength(10);
	},
	RUN_LIMIT_MS,
);

it(
	'a limit leaves through Stopped, with the reason and the messages',
	async () => {
		let asked = 0;
		agent.model.says(() => [call(`c${asked++}`, 'weather', { city: `City ${asked}` })]);
		const { answers, stops } = await agent.run({
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			parameters: { options: { maxRounds: 3 } },
		});
		expect(answers).toHaveLength(0);
		expect(stops).toMatchObject([{ reason: 'max_rounds', rounds: 3 }]);
		expect(stops[0]!['messages']).toHaveLength(6);
		expect(agent.model.requests).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);

it(
	'a tool node of n8n beside a branch, both in one round',
	async () => {
		agent.asksFor(
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
	'Retry On Fail goes on where it was',
	async () => {
		let failures = 2;
		agent.model.says((messages) => {
			if (results(messages).length === 0) return [call('c1', 'weather', { city: 'Rome' })];
			return failures-- > 0 ? undefined : 'Done.';
		});
		const { answers, execution } = await agent.run({
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			retryOnFail: true,
		});
		expect(answers).toMatchObject([{ content: 'Done.' }]);
		expect(execution.data.resultData.runData['weather']).toHaveLength(1);
		expect(agent.model.requests.map(({ messages }) => messages.length)).toStrictEqual([
			1, 3, 3, 3,
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'all at once, calls that come back mixed are an error and no guess',
	async () => {
		agent.asksFor(
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
			parameters: { runCalls: 'allAtOnce' },
		});
		expect(failureOf(execution)).toMatch(
			/^Agent: Tool Calls came back without the link .* Set Run Tool Calls to One at a Time/,
		);
		expect(agent.model.requests).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'a chat that streams shows the words of the answer, each round in brackets of its own',
	async () => {
		agent.asksFor(call('c1', 'weather', { city: 'Rome' }));
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
			'begin',
			'end',
			'begin',
			'item',
			'end',
		]);
		expect(chatText(lines)).toBe('Done.');
	},
	RUN_LIMIT_MS,
);

it(
	'questions made of several answers are asked, and not taken for what a branch brings back',
	async () => {
		agent.model.says((messages) =>
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
		expect(answers.map(({ content }) => content)).toStrictEqual([
			'{"degrees":4}',
			'{"degrees":6}',
			'{"degrees":9}',
		]);
	},
	RUN_LIMIT_MS,
);

it(
	"the expressions of a tool node see their own conversation's item, in every round",
	async () => {
		agent.model.says((messages) => {
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
		expect(outputItems(execution, 'Answers').map(({ json }) => json['content'])).toStrictEqual(
			['Ada', 'Bob'].map(
				(person) => `{"found":"${person}-cats"},{"degrees":4},{"found":"${person}-dogs"}`,
			),
		);
	},
	RUN_LIMIT_MS,
);

describe('with the emulator, whose journal shows the messages', () => {
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
			const asked = last.flatMap(({ tool_calls: calls = [] }) => calls.map(({ id }) => id));
			expect(results(last).map(({ tool_call_id: id }) => id)).toStrictEqual(asked);
			expect(answers[0]!['content']).toMatch(/4/);
			expect(answers[0]!['rounds']).toBe(rounds.length + 1);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'a Wait of 66 seconds in a branch: the execution is saved, and goes on',
	async () => {
		const execution = await patientRun;
		expect(seenStates).toContain('waiting');
		expect(results(patient.requests[1]!.messages).map(({ content }) => content)).toStrictEqual([
			'{"degrees":4}',
			'{"degrees":4}',
		]);
		expect(patient.requests).toHaveLength(2);
		expect(outputItems(execution, 'Answers').map(({ json }) => json['content'])).toStrictEqual([
			'Done.',
		]);
	},
	2 * RUN_LIMIT_MS,
);

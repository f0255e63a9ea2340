import type { INode } from 'n8n-workflow';

import { failureOf, outputItems, type Execution } from '../../lab/execution';
import { chatText, streamWebhook } from '../../lab/streamChat';
import { drawn, node, withSubNodes, type Wires } from './support/buildWorkflow';
import { call, results, startScriptedModel, type ScriptedModel } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const AGENT = 'n8n-nodes-agent-video.agentWithTools';

let session: Session;
let model: ScriptedModel;
/** A model of its own for the run that takes more than a minute beside the others. */
let patient: ScriptedModel;
let patientRun: Promise<Execution>;
let seenStates: Set<string>;

const base = (type: string) => `n8n-nodes-base.${type}`;
const start = node('Start', base('manualTrigger'), 1);
const noOp = (name: string) => node(name, base('noOp'), 1);
/** A Set node that gives this JSON, or what the expression gives, and nothing of its input. */
const set = (name: string, jsonOutput: string) =>
	node(name, base('set'), 3.4, { parameters: { mode: 'raw', jsonOutput } });
const code = (name: string, jsCode: string) =>
	node(name, base('code'), 2, { parameters: { jsCode } });

const tool = (name: string) => ({
	name,
	description: `Tells the ${name}`,
	define: 'fields',
	parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
});

interface Drawing {
	/** Names of the agent's tools, in the order of its outputs. */
	readonly tools: readonly string[];
	/** The nodes of the branches, and where they lead; `Agent` is the way back. */
	readonly nodes: readonly INode[];
	readonly wires: Wires;
	/** One question per input item. */
	readonly questions?: readonly string[];
	readonly parameters?: object;
	readonly credential?: string;
	readonly retryOnFail?: boolean;
}

const agentNode = ({ tools, parameters = {}, credential = 'Model', retryOnFail }: Drawing) => ({
	...node('Agent', AGENT, 1, {
		parameters: {
			prompt: '={{ $json.question }}',
			tools: { tool: tools.map(tool) },
			...parameters,
		},
		credential,
	}),
	...(retryOnFail === true ? { retryOnFail, waitBetweenTries: 10 } : {}),
});

/** Questions → the agent, with its branches, and nodes behind Answer and Stopped. */
function draw(name: string, drawing: Drawing) {
	const { tools, nodes, wires, questions = ['Weather?'] } = drawing;
	const items = JSON.stringify(questions.map((question) => ({ json: { question } })));
	return drawn(
		name,
		[
			start,
			code('Questions', `return ${items};`),
			noOp('Answers'),
			noOp('Stops'),
			agentNode(drawing),
			...nodes,
		],
		{
			Start: [['Questions']],
			Questions: [['Agent']],
			Agent: [['Answers'], ['Stops'], ...tools.map((each) => [each])],
			...wires,
		},
	);
}

async function runWorkflow(workflow: Parameters<Session['client']['importWorkflow']>[0]) {
	const { client } = session;
	const ref = await client.importWorkflow(workflow);
	return await client.waitForExecution(await client.run(ref, 'Start'));
}

async function run(drawing: Drawing) {
	const execution = await runWorkflow(draw(expect.getState().currentTestName!, drawing));
	return {
		execution,
		answers: outputItems(execution, 'Answers').map(({ json }) => json),
		stops: outputItems(execution, 'Stops').map(({ json }) => json),
	};
}

/** What the model was told in its last request about the calls so far. */
const told = () => results(model.requests.at(-1)!.messages).map(({ content }) => content);

/** Asks for these calls first, and answers when they have results. */
const asksFor = (...calls: ReturnType<typeof call>[]) => {
	model.says((messages) => (results(messages).length === 0 ? calls : 'Done.'));
};

const WEATHER = set('weather', '={{ { "degrees": $json.city.length } }}');

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	model = await startScriptedModel();
	patient = await startScriptedModel();
	for (const [name, baseUrl] of [
		['Model', model.url],
		['Patient', patient.url],
		['Emulator', session.emulator.url],
	] as const) {
		await session.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl, apiKey: 'demo-key' },
		});
	}
	patientRun = runPatiently();
	patientRun.catch(() => undefined);
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await patient.stop();
	await model.stop();
	await session.stop();
}, RUN_LIMIT_MS);

/** A branch that waits so long that n8n saves the execution and goes on later. */
async function runPatiently(): Promise<Execution> {
	const { client } = session;
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

describe('in the real n8n', () => {
	it(
		'two different tools in one round',
		async () => {
			const calls = [
				call('c1', 'time', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			];
			asksFor(...calls);
			const { answers, execution } = await run({
				tools: ['weather', 'time'],
				nodes: [WEATHER, set('time', '={{ { "time": "noon in " + $json.city } }}')],
				wires: { weather: [['Agent']], time: [['Agent']] },
			});
			expect(model.requests.map(({ messages }) => messages)).toStrictEqual([
				[{ role: 'user', content: 'Weather?' }],
				[
					{ role: 'user', content: 'Weather?' },
					{
						role: 'assistant',
						content: null,
						reasoning_content: 'A tool.',
						tool_calls: calls,
					},
					{ role: 'tool', tool_call_id: 'c1', content: '{"time":"noon in Rome"}' },
					{ role: 'tool', tool_call_id: 'c2', content: '{"degrees":4}' },
				],
			]);
			expect(answers).toMatchObject([{ content: 'Done.', rounds: 2 }]);
			const saved = JSON.stringify(execution);
			expect(saved).not.toContain('demo-key');
			expect(execution.data.executionData?.contextData ?? {}).not.toHaveProperty([
				'node:Agent',
				'agent',
			]);
		},
		RUN_LIMIT_MS,
	);

	it.each(['oneAtATime', 'allAtOnce'])(
		'one tool three times in one round, %s',
		async (runCalls) => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Paris' }),
				call('c3', 'weather', { city: 'Reykjavik' }),
			);
			const { execution } = await run({
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
				parameters: { runCalls },
			});
			expect(told()).toStrictEqual(['{"degrees":4}', '{"degrees":5}', '{"degrees":9}']);
			const runs = execution.data.resultData.runData['weather']!;
			expect(runs).toHaveLength(runCalls === 'allAtOnce' ? 1 : 3);
		},
		RUN_LIMIT_MS,
	);

	it(
		'HTTP Request replaces the json',
		async () => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			);
			await run({
				tools: ['weather'],
				nodes: [
					node('weather', base('httpRequest'), 4.2, {
						parameters: { url: `=${model.url}/json/{{ $json.city }}` },
					}),
				],
				wires: { weather: [['Agent']] },
			});
			expect(told()).toStrictEqual(['{"found":"Rome"}', '{"found":"Oslo"}']);
		},
		RUN_LIMIT_MS,
	);

	it.each([
		[
			'five items become a list',
			[code('weather', 'return [1, 2, 3, 4, 5].map((n) => ({ json: { n } }));')],
			{ weather: [['Agent']] },
			'[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]',
		],
		[
			'Code that reorders, without links',
			[
				code('weather', 'return [1, 2, 3].map((n) => ({ json: { n } }));'),
				code('Back', 'return items.reverse().map(({ json }) => ({ json }));'),
			],
			{ weather: [['Back']], Back: [['Agent']] },
			'[{"n":3},{"n":2},{"n":1}]',
		],
		[
			'Aggregate',
			[
				code('weather', 'return [1, 2].map((n) => ({ json: { n } }));'),
				node('All', base('aggregate'), 1, {
					parameters: { aggregate: 'aggregateAllItemData' },
				}),
			],
			{ weather: [['All']], All: [['Agent']] },
			'{"data":[{"n":1},{"n":2}]}',
		],
		[
			'IF and Merge',
			[
				node('weather', base('if'), 2.2, {
					parameters: {
						conditions: {
							options: { version: 2 },
							combinator: 'and',
							conditions: [
								{
									leftValue: '={{ $json.city }}',
									rightValue: 'Rome',
									operator: { type: 'string', operation: 'equals' },
								},
							],
						},
					},
				}),
				set('Warm', '{"warm": true}'),
				set('Dry', '{"dry": true}'),
				set('Cold', '{"warm": false}'),
				node('Both', base('merge'), 3.2, {
					parameters: { mode: 'combine', combineBy: 'combineByPosition' },
				}),
			],
			{
				weather: [['Warm', 'Dry'], ['Cold']],
				Warm: [['Both']],
				Dry: [['Both#1']],
				Cold: [['Agent']],
				Both: [['Agent']],
			},
			'{"warm":true,"dry":true}',
		],
		[
			'nothing, with Always Output Data',
			[{ ...code('weather', 'return [];'), alwaysOutputData: true }],
			{ weather: [['Agent']] },
			'{}',
		],
		[
			'a failure, by the error output',
			[
				node('weather', base('httpRequest'), 4.2, {
					parameters: { url: '={{ "http://127.0.0.1:1/" + $json.city }}' },
					onError: 'continueErrorOutput',
				}),
			],
			{ weather: [['Agent'], ['Agent']] },
			expect.stringMatching(/^\{.*"error":/) as string,
		],
		[
			'a fork that comes back twice: the first return counts',
			[WEATHER, set('Later', '{"late": true}')],
			{ weather: [['Agent', 'Later']], Later: [['Agent']] },
			'{"degrees":4}',
		],
	] as [string, INode[], Wires, string][])(
		'%s',
		async (_name, nodes, wires, content) => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Rome' }),
			);
			const { answers, execution } = await run({ tools: ['weather'], nodes, wires });
			expect(failureOf(execution)).toBe('');
			expect(told()).toStrictEqual([content, content]);
			// Only the failure is no plain text.
			const failed = typeof content !== 'string';
			expect(answers).toMatchObject([
				{ content: 'Done.', rounds: 2, tool_calls: [{ failed }, { failed }] },
			]);
			expect(model.requests).toHaveLength(2);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a late return is not taken for the result of another call',
		async () => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			);
			const { answers, execution } = await run({
				tools: ['weather'],
				// Nothing comes back for Oslo; what comes late belongs to Rome.
				nodes: [
					code('weather', "return items.filter(({ json }) => json.city === 'Rome');"),
					set('Later', '{"late": true}'),
				],
				wires: { weather: [['Agent', 'Later']], Later: [['Agent']] },
			});
			expect(failureOf(execution)).toBe('');
			expect(model.requests).toHaveLength(1);
			expect(answers).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a sub-workflow',
		async () => {
			const sub = await session.client.importWorkflow(
				drawn(
					'Weather service',
					[
						node('Called', base('executeWorkflowTrigger'), 1.1, {
							parameters: { inputSource: 'passthrough' },
						}),
						set('Look', '={{ { "in": $json.city } }}'),
					],
					{ Called: [['Look']] },
				),
			);
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			);
			await run({
				tools: ['weather'],
				nodes: [
					node('weather', base('executeWorkflow'), 1.2, {
						parameters: { workflowId: { __rl: true, mode: 'id', value: sub.id } },
					}),
				],
				wires: { weather: [['Agent']] },
			});
			expect(told()).toStrictEqual(['{"in":"Rome"}', '{"in":"Oslo"}']);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a branch with a loop of its own',
		async () => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			);
			await run({
				tools: ['weather'],
				nodes: [
					code(
						'weather',
						'return [1, 2].map((n) => ({ json: { day: n, city: items[0].json.city } }));',
					),
					node('Loop', base('splitInBatches'), 3, {
						parameters: {
							options: { reset: "={{ $prevNode.name === 'weather' }}" },
						},
					}),
					set('Each', '={{ { "done": $json.city + $json.day } }}'),
				],
				wires: {
					weather: [['Loop']],
					Loop: [['Agent'], ['Each']],
					Each: [['Loop']],
				},
			});
			expect(told()).toStrictEqual([
				'[{"done":"Rome1"},{"done":"Rome2"}]',
				'[{"done":"Oslo1"},{"done":"Oslo2"}]',
			]);
		},
		RUN_LIMIT_MS,
	);

	it.each(['oneAtATime', 'allAtOnce'])(
		'three conversations with different numbers of rounds, %s',
		async (runCalls) => {
			model.says((messages) => {
				const wanted = Number(String(messages[0]!.content).at(-1));
				const done = results(messages).length;
				return done < wanted
					? [call('same-id', 'weather', { city: `${wanted}${done}` })]
					: `after ${results(messages)
							.map(({ content }) => content)
							.join()}`;
			});
			const { answers } = await run({
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
			model.says((messages) =>
				results(messages).length === 0
					? [call('c1', 'weather', { city: String(messages[0]!.content) })]
					: String(results(messages)[0]!.content),
			);
			const cities = ['Rome', 'Oslo', 'Paris', 'Athens', 'Reykjavik'];
			const drawing: Drawing = { tools: ['weather'], nodes: [], wires: {} };
			const items = JSON.stringify(cities.map((question) => ({ json: { question } })));
			const execution = await runWorkflow(
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
			expect(model.requests).toHaveLength(10);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a limit leaves through Stopped, with the reason and the messages',
		async () => {
			let asked = 0;
			model.says(() => [call(`c${asked++}`, 'weather', { city: `City ${asked}` })]);
			const { answers, stops } = await run({
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
				parameters: { options: { maxRounds: 3 } },
			});
			expect(answers).toHaveLength(0);
			expect(stops).toMatchObject([{ reason: 'max_rounds', rounds: 3 }]);
			expect(stops[0]!['messages']).toHaveLength(6);
			expect(model.requests).toHaveLength(3);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a tool node of n8n beside a branch, both in one round',
		async () => {
			asksFor(
				call('c1', 'Calculator', { input: '6 * 7' }),
				call('c2', 'weather', { city: 'Rome' }),
			);
			const drawing: Drawing = {
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
			};
			const execution = await runWorkflow(
				withSubNodes(draw('Mixed tools', drawing), 'Agent', [
					[node('Calculator', '@n8n/n8n-nodes-langchain.toolCalculator', 1), 'ai_tool'],
				]),
			);
			const sent = results(model.requests[1]!.messages);
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
			model.says((messages) => {
				if (results(messages).length === 0)
					return [call('c1', 'weather', { city: 'Rome' })];
				return failures-- > 0 ? undefined : 'Done.';
			});
			const { answers, execution } = await run({
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
				retryOnFail: true,
			});
			expect(answers).toMatchObject([{ content: 'Done.' }]);
			expect(execution.data.resultData.runData['weather']).toHaveLength(1);
			expect(model.requests.map(({ messages }) => messages.length)).toStrictEqual([
				1, 3, 3, 3,
			]);
		},
		RUN_LIMIT_MS,
	);

	it(
		'all at once, calls that come back mixed are an error and no guess',
		async () => {
			asksFor(
				call('c1', 'weather', { city: 'Rome' }),
				call('c2', 'weather', { city: 'Oslo' }),
			);
			const { execution } = await run({
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
			expect(model.requests).toHaveLength(1);
		},
		RUN_LIMIT_MS,
	);

	it(
		'a chat that streams shows the words of the answer, each round in brackets of its own',
		async () => {
			asksFor(call('c1', 'weather', { city: 'Rome' }));
			const drawing: Drawing = {
				tools: ['weather'],
				nodes: [WEATHER],
				wires: { weather: [['Agent']] },
				parameters: { prompt: '={{ $json.body.question }}' },
			};
			const { client, n8n } = session;
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
});

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
			const { journal } = session.emulator;
			journal.clear();
			const { answers } = await run({
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

// @seconds 12
import type { INode } from 'n8n-workflow';

import { failureOf } from '../../lab/n8n/execution';
import { startAgentSession, type AgentSession } from './support/agentSession';
import { drawn, node, type Wires } from './support/buildWorkflow';
import { base, code, set, WEATHER } from './support/drawAgent';
import { call } from './support/scriptedModel';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

let agent: AgentSession;

beforeAll(async () => {
	agent = await startAgentSession();
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await agent.stop();
}, RUN_LIMIT_MS);

it(
	'runs two different tools in one round',
	async () => {
		const calls = [
			call('c1', 'time', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		];
		agent.requestsTools(...calls);
		const { answers, execution } = await agent.run({
			tools: ['weather', 'time'],
			nodes: [WEATHER, set('time', '={{ { "time": "noon in " + $json.city } }}')],
			wires: { weather: [['Agent']], time: [['Agent']] },
		});
		expect(agent.model.requests.map(({ messages }) => messages)).toStrictEqual([
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
		expect(answers).toMatchObject([{ output: 'Done.', rounds: 2 }]);
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
	'runs one tool three times in one round, %s',
	async (runCalls) => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Paris' }),
			call('c3', 'weather', { city: 'Reykjavik' }),
		);
		const { execution } = await agent.run({
			tools: ['weather'],
			nodes: [WEATHER],
			wires: { weather: [['Agent']] },
			parameters: { options: { runCalls } },
		});
		expect(agent.toolResults()).toStrictEqual([
			'{"degrees":4}',
			'{"degrees":5}',
			'{"degrees":9}',
		]);
		const runs = execution.data.resultData.runData['weather']!;
		expect(runs).toHaveLength(runCalls === 'allAtOnce' ? 1 : 3);
	},
	RUN_LIMIT_MS,
);

it(
	'a tool branch of HTTP Request, which replaces the JSON',
	async () => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		);
		await agent.run({
			tools: ['weather'],
			nodes: [
				node('weather', base('httpRequest'), 4.2, {
					parameters: { url: `=${agent.model.url}/json/{{ $json.city }}` },
				}),
			],
			wires: { weather: [['Agent']] },
		});
		expect(agent.toolResults()).toStrictEqual(['{"found":"Rome"}', '{"found":"Oslo"}']);
	},
	RUN_LIMIT_MS,
);

it.each([
	[
		'a branch that returns five items: the result is a list',
		[code('weather', 'return [1, 2, 3, 4, 5].map((n) => ({ json: { n } }));')],
		{ weather: [['Agent']] },
		'[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]',
	],
	[
		'a branch whose Code node reorders items without pairedItem links',
		[
			code('weather', 'return [1, 2, 3].map((n) => ({ json: { n } }));'),
			code('Back', 'return items.reverse().map(({ json }) => ({ json }));'),
		],
		{ weather: [['Back']], Back: [['Agent']] },
		'[{"n":3},{"n":2},{"n":1}]',
	],
	[
		'a branch with Aggregate',
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
		'a branch with IF and Merge',
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
		'a branch that returns nothing, with Always Output Data',
		[{ ...code('weather', 'return [];'), alwaysOutputData: true }],
		{ weather: [['Agent']] },
		'{}',
	],
	[
		'a branch that fails, connected by its error output',
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
		'a branch that returns twice: the first result is used',
		[WEATHER, set('Later', '{"late": true}')],
		{ weather: [['Agent', 'Later']], Later: [['Agent']] },
		'{"degrees":4}',
	],
] as [string, INode[], Wires, string][])(
	'%s',
	async (_name, nodes, wires, content) => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Rome' }),
		);
		const { answers, execution } = await agent.run({ tools: ['weather'], nodes, wires });
		expect(failureOf(execution)).toBe('');
		expect(agent.toolResults()).toStrictEqual([content, content]);
		// Only the failing branch has a matcher instead of a text.
		const failed = typeof content !== 'string';
		expect(answers).toMatchObject([
			{ output: 'Done.', rounds: 2, tool_calls: [{ failed }, { failed }] },
		]);
		expect(agent.model.requests).toHaveLength(2);
	},
	RUN_LIMIT_MS,
);

it(
	'a late result is not assigned to another call',
	async () => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		);
		const { execution } = await agent.run({
			tools: ['weather'],
			// Oslo returns nothing. The late result belongs to Rome.
			nodes: [
				code('weather', "return items.filter(({ json }) => json.city === 'Rome');"),
				set('Later', '{"late": true}'),
			],
			wires: { weather: [['Agent', 'Later']], Later: [['Agent']] },
		});
		expect(failureOf(execution)).toMatch(/^Agent: Tool weather returned no item for 1 call/);
		expect(agent.model.requests).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'a branch that executes a sub-workflow',
	async () => {
		const sub = await agent.client.importWorkflow(
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
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		);
		await agent.run({
			tools: ['weather'],
			nodes: [
				node('weather', base('executeWorkflow'), 1.2, {
					parameters: { workflowId: { __rl: true, mode: 'id', value: sub.id } },
				}),
			],
			wires: { weather: [['Agent']] },
		});
		expect(agent.toolResults()).toStrictEqual(['{"in":"Rome"}', '{"in":"Oslo"}']);
	},
	RUN_LIMIT_MS,
);

it(
	'a branch that contains a loop',
	async () => {
		agent.requestsTools(
			call('c1', 'weather', { city: 'Rome' }),
			call('c2', 'weather', { city: 'Oslo' }),
		);
		await agent.run({
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
		expect(agent.toolResults()).toStrictEqual([
			'[{"done":"Rome1"},{"done":"Rome2"}]',
			'[{"done":"Oslo1"},{"done":"Oslo2"}]',
		]);
	},
	RUN_LIMIT_MS,
);

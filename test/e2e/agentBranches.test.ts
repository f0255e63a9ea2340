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
		expect(answers).toMatchObject([{ output: 'Done.', rounds: 2 }]);
		expect(agent.model.requests).toHaveLength(2);
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

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { thorough } from '../support/thorough';
import { body, chunk, reply, stream, type Answer } from './answers';

/** The settings under which a node runs; the expectation of a cell holds for all of them. */
export const WAYS = {
	stop: {},
	streaming: { streaming: true },
	errorOutput: { onError: 'continueErrorOutput' },
	retryOnFail: { retryOnFail: true },
} as const satisfies Record<string, Omit<Circumstances, 'credential'>>;

export type Way = keyof typeof WAYS;

/** How the node is configured and started, besides its own parameters. */
export type Circumstances = Pick<
	RunOptions,
	'credential' | 'onError' | 'retryOnFail' | 'streaming'
>;

/** The result of an operation. */
export interface Outcome extends RunResult {
	/** The output items of the node, without tool calls. */
	readonly items: readonly INodeExecutionData[];
}

/** One kind of call that a node makes to the service. */
export interface Operation {
	/** Name of the node in this package. */
	readonly node: string;
	readonly title: string;
	/** Whether a request that is sent twice may be charged twice. */
	readonly isPaid: boolean;
	/** The settings that make a difference. */
	readonly ways: readonly Way[];
	/** The valid responses of the service in order; the last one repeats. */
	readonly answers: readonly Answer[];
	/** Number of valid responses before the fault. */
	readonly goodBefore: number;
	/** Texts that the output contains when all goes well. */
	readonly gives: readonly string[];
	run(circumstances: Circumstances): Promise<Outcome>;
}

const PROMPT = { prompt: 'A lake' };
const CALL = { id: 'call-1', type: 'function', function: { name: 'depth', arguments: '{}' } };
const DEPTH = {
	name: 'depth',
	description: 'Tells how deep it is',
	define: 'fields',
	parameters: {},
};

const REPLY = stream([chunk({ content: 'Half' }), chunk({ content: ' and whole' })]);
const CALLS = stream([chunk({ tool_calls: [{ index: 0, ...CALL }] })], 'tool_calls');
const RUN = { name: 'search', arguments: {}, result: 'found', status: 'success' };
const SESSION = { session_id: 'session-1' };
const ASSISTED = stream([
	chunk({ content: 'Half' }, SESSION),
	{ extension: { type: 'tool_start', data: { tool: 'search', arguments: {} } } },
	{ extension: { type: 'tool_calls', data: { tool_calls: [RUN] } } },
	chunk({ content: ' and whole' }),
]);
const ASSISTED_BODY = reply(
	'Half and whole',
	{
		tool_calls: [{ id: 'r', type: 'function', function: { name: 'search', arguments: '{}' } }],
		tool_results: [{ tool_call_id: 'r', content: 'found' }],
	},
	SESSION,
);

/** Runs a node by itself. */
export const single =
	(node: string, parameters: IDataObject, items: readonly IDataObject[] = [{}]) =>
	async (circumstances: Circumstances): Promise<Outcome> => {
		const result = await runNode(node, { parameters, items, ...circumstances });
		return { ...result, items: result.outputs.flat() };
	};

/** Runs an agent whose model calls a tool first. */
async function runAgent(circumstances: Circumstances): Promise<Outcome> {
	const nodes = [
		stubNode('Start', (items) => items),
		packageNode('Agent', 'functionCallingAgent', {
			...circumstances,
			parameters: { ...PROMPT, tools: { tool: [DEPTH] } },
		}),
		stubNode('Depth', () => [{ json: { metres: 40 } }]),
	];
	const wires = { Start: [['Agent']], Agent: [[], [], ['Depth']], Depth: [['Agent']] };
	const result = await runWorkflow(nodes, wires, 'Start', circumstances);
	const items = allItems(result, 'Agent')
		.flat()
		.filter(({ json }) => json['tool_call'] === undefined);
	return { ...result, items };
}

const model =
	(isStreamed: boolean) =>
	async (circumstances: Circumstances): Promise<Outcome> => {
		const nodes = [
			packageNode('Model', 'agentVideoChatModel', {}),
			modelCallerNode('Chain', { stream: isStreamed, ...circumstances }),
		];
		const result = await runWorkflow(nodes, {}, 'Chain', {
			...circumstances,
			model: { name: 'Model', of: 'Chain' },
		});
		return { ...result, items: result.outputs.flat() };
	};

const chat = { isPaid: true, goodBefore: 0, gives: ['Half and whole'] };
/** With details: a failure must not lose the session. */
const TO_ASSISTANT = { appCode: 'app', message: 'Hi', output: 'detailed' };
const assistant = { ...chat, gives: ['Half and whole', 'session-1', 'found'] };

/** Every operation of the matrix, one per row. */
export const OPERATIONS = {
	chatStreamed: {
		...chat,
		ways: ['stop', 'streaming', 'errorOutput'],
		node: 'chatCompletion',
		title: 'Chat Completion, streamed',
		answers: [REPLY],
		run: single('chatCompletion', PROMPT),
	},
	chat: {
		...chat,
		ways: ['stop', 'errorOutput'],
		node: 'chatCompletion',
		title: 'Chat Completion',
		answers: [reply('Half and whole')],
		run: single('chatCompletion', { ...PROMPT, streaming: 'off' }),
	},
	agent: {
		...chat,
		ways: ['stop', 'streaming', 'errorOutput'],
		node: 'functionCallingAgent',
		title: 'Agent with Tools',
		answers: [CALLS, REPLY],
		goodBefore: 1,
		run: runAgent,
	},
	assistantStreamed: {
		...assistant,
		ways: ['stop', 'streaming', 'errorOutput', 'retryOnFail'],
		node: 'superAssistant',
		title: 'Super Assistant, streamed',
		answers: [ASSISTED],
		run: single('superAssistant', TO_ASSISTANT),
	},
	assistant: {
		...assistant,
		ways: ['stop', 'errorOutput', 'retryOnFail'],
		node: 'superAssistant',
		title: 'Super Assistant',
		answers: [ASSISTED_BODY],
		run: single('superAssistant', { ...TO_ASSISTANT, streaming: 'off' }),
	},
	createVideo: {
		isPaid: true,
		ways: ['stop', 'errorOutput', 'retryOnFail'],
		node: 'createVideo',
		title: 'Create Video',
		answers: [body({ task_id: 'task-1', status: 'queued', model: 'video-m1' })],
		goodBefore: 0,
		gives: ['task-1'],
		run: single('createVideo', PROMPT),
	},
	waitForVideo: {
		isPaid: false,
		ways: ['stop', 'errorOutput'],
		node: 'waitForVideo',
		title: 'Wait for Video',
		answers: [
			body({ task_id: 'task-1', status: 'processing', model: 'video-m1' }),
			body({
				task_id: 'task-1',
				status: 'completed',
				model: 'video-m1',
				video_url: 'https://cdn.example.com/lake.mp4',
			}),
		],
		goodBefore: 0,
		gives: ['task-1', 'https://cdn.example.com/lake.mp4'],
		run: single('waitForVideo', { download: false }, [{ task_id: 'task-1' }]),
	},
	modelStreamed: {
		...chat,
		ways: ['stop', 'streaming'],
		node: 'agentVideoChatModel',
		title: 'Chat Model, streamed',
		answers: [REPLY],
		gives: ['Half', ' and whole'],
		run: model(true),
	},
	model: {
		...chat,
		ways: ['stop'],
		node: 'agentVideoChatModel',
		title: 'Chat Model',
		answers: [reply('Half and whole')],
		run: model(false),
	},
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;
export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

/** The settings that a cell is run with: usually one of them, in turn from row to row, so that each column has every one. */
export const waysFor = ({ ways }: Operation, row: number): readonly Way[] =>
	thorough([ways[row % ways.length]!], ways);

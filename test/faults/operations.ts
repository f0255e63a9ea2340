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
import { body, chunk, reply, stream, type Answer } from './answers';

/** Ways to run a node: what is right in one must be right in all. */
export const WAYS = {
	stops: {},
	'shows text': { streaming: true },
	'goes on': { onError: 'continueErrorOutput' },
	retries: { retryOnFail: true },
} as const satisfies Record<string, Omit<Circumstances, 'credential'>>;

export type Way = keyof typeof WAYS;

/** How the node is set and started, beside its own parameters. */
export type Circumstances = Pick<
	RunOptions,
	'credential' | 'onError' | 'retryOnFail' | 'streaming'
>;

/** What came of an operation. */
export interface Outcome extends RunResult {
	/** What left the node, calls for tools apart. */
	readonly items: readonly INodeExecutionData[];
}

/** One kind of call that a node makes to the service. */
export interface Operation {
	/** Name of the node in this package. */
	readonly node: string;
	readonly title: string;
	/** Whether a request that is sent twice may be paid twice. */
	readonly isPaid: boolean;
	/** The ways to run it that make a difference. */
	readonly ways: readonly Way[];
	/** The service's good answers, in turn; the last one stays. */
	readonly answers: readonly Answer[];
	/** How many of them come before the fault. */
	readonly goodBefore: number;
	/** What the good output holds. */
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

const single =
	(node: string, parameters: IDataObject, items: readonly IDataObject[] = [{}]) =>
	async (circumstances: Circumstances): Promise<Outcome> => {
		const result = await runNode(node, { parameters, items, ...circumstances });
		return { ...result, items: result.outputs.flat() };
	};

/** An agent whose model asks for a tool first. */
async function runAgent(circumstances: Circumstances): Promise<Outcome> {
	const nodes = [
		stubNode('Start', (items) => items),
		packageNode('Agent', 'agentWithTools', {
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
const assistant = { ...chat, gives: ['Half and whole', 'session-1', 'found'] };

/** One row for everything that a node asks for. */
export const OPERATIONS = {
	chatStreamed: {
		...chat,
		ways: ['stops', 'shows text', 'goes on'],
		node: 'chatCompletion',
		title: 'Chat Completion, streamed',
		answers: [REPLY],
		run: single('chatCompletion', PROMPT),
	},
	chat: {
		...chat,
		ways: ['stops', 'goes on'],
		node: 'chatCompletion',
		title: 'Chat Completion',
		answers: [reply('Half and whole')],
		run: single('chatCompletion', { ...PROMPT, streaming: 'off' }),
	},
	agent: {
		...chat,
		ways: ['stops', 'shows text', 'goes on'],
		node: 'agentWithTools',
		title: 'Agent with Tools',
		answers: [CALLS, REPLY],
		goodBefore: 1,
		run: runAgent,
	},
	assistantStreamed: {
		...assistant,
		ways: ['stops', 'shows text', 'goes on', 'retries'],
		node: 'superAssistant',
		title: 'Super Assistant, streamed',
		answers: [ASSISTED],
		run: single('superAssistant', { appCode: 'app', message: 'Hi' }),
	},
	assistant: {
		...assistant,
		ways: ['stops', 'goes on', 'retries'],
		node: 'superAssistant',
		title: 'Super Assistant',
		answers: [ASSISTED_BODY],
		run: single('superAssistant', { appCode: 'app', message: 'Hi', streaming: 'off' }),
	},
	createVideo: {
		isPaid: true,
		ways: ['stops', 'goes on', 'retries'],
		node: 'createVideo',
		title: 'Create Video',
		answers: [body({ task_id: 'task-1', status: 'queued', model: 'video-m1' })],
		goodBefore: 0,
		gives: ['task-1'],
		run: single('createVideo', PROMPT),
	},
	waitForVideo: {
		isPaid: false,
		ways: ['stops', 'goes on'],
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
		run: single('waitForVideo', { download: false, options: { jitter: 0 } }, [
			{ task_id: 'task-1' },
		]),
	},
	modelStreamed: {
		...chat,
		ways: ['stops', 'shows text'],
		node: 'agentVideoChatModel',
		title: 'Chat Model, streamed',
		answers: [REPLY],
		gives: ['Half', ' and whole'],
		run: model(true),
	},
	model: {
		...chat,
		ways: ['stops'],
		node: 'agentVideoChatModel',
		title: 'Chat Model',
		answers: [reply('Half and whole')],
		run: model(false),
	},
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

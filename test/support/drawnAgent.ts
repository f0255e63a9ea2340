import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import type { ChatMessage } from '../../nodes/client/chat/types';
import { fails, replyWith } from './chatReplies';
import {
	allItems,
	packageNode,
	runWorkflow,
	stubNode,
	toolNode,
	type EnvironmentOptions,
	type RunOptions,
	type RunResult,
	type StubWork,
} from './engine';
import { readWays } from './readWays';
import { serverForEach } from './scriptedServer';

/** A node of a drawing: what it does, or what differs from a node that passes its items on; `agent` has its tools. */
export type DrawnNode =
	| StubWork
	| (Partial<Omit<INode, 'name'>> & {
			readonly work?: StubWork;
			readonly agent?: string;
	  });

/** A workflow of Agent with Tools. */
export interface Drawing extends Partial<
	Pick<RunOptions, 'parameters' | 'onError' | 'retryOnFail'>
> {
	/**
	 * Connections, see readWays. Those of a node replace the usual ones: from the questions to the agent, and from its outputs to
	 * Answers, Stops and the tools.
	 */
	readonly ways?: string;
	readonly nodes?: Readonly<Record<string, DrawnNode>>;
	/** The names of the tools; `weather` by default. */
	readonly tools?: string;
	/** Tool nodes, which find the weather, and the node that each is connected to. */
	readonly toolNodes?: Readonly<Record<string, string>>;
	/** An expression, which they read instead. */
	readonly reads?: string;
	/** Texts as the model of the drawing takes them. */
	readonly questions?: readonly string[];
	/** Settings of the agent, such as Execute Once. */
	readonly settings?: Partial<INode>;
	readonly environment?: Partial<EnvironmentOptions>;
}

/** Makes an item of each, which is linked to it. */
export const maps =
	(to: (json: IDataObject) => IDataObject): StubWork =>
	(items) =>
		items.map(({ json: fields }, item) => ({ json: to(fields), pairedItem: { item } }));
/** Finds the weather of a city. */
export const finds = maps(({ city }) => ({ degrees: String(city).length }));
/** Asks these questions. */
export const asks =
	(...questions: readonly string[]): StubWork =>
	() =>
		questions.map((question) => ({ json: { question }, pairedItem: { item: 0 } }));
const passes: StubWork = (items) =>
	items.map(({ pairedItem: _link, ...each }, item) => ({ ...each, pairedItem: { item } }));
/** Another agent in a drawing. */
export const agent = (tools: string, prompt = '={{ $json.question }}', more: object = {}) => ({
	...more,
	agent: tools,
	parameters: { prompt },
});

/** Runs of all nodes but the agents, which end a loop that would never end. */
const MAX_RUNS = 400;
const resultsIn = (messages: readonly ChatMessage[]) =>
	messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));

/** A reply of the model: the first choice. */
export interface Choice {
	readonly message: object;
	readonly finish_reason?: string | null | undefined;
}
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/**
 * A model for drawings. It takes a question as a list of cities, such as `Rome, time:Oslo`: it calls a tool for each, all in
 * one round or, behind a `;`, in the next one, and answers with the question and the results. To `Hello` it answers at once, for `Endless` it calls again and
 * again, and for `Fail` the service is down.
 */
function replyTo(messages: readonly ChatMessage[]): Choice {
	const question = questionOf(messages);
	const found = resultsIn(messages);
	const rounds = question.startsWith('Hello') ? [] : question.split('; ');
	let asked = 0;
	const round = rounds
		.map((each) => each.split(', '))
		.find((each) => (asked += each.length) > found.length || question === 'Endless');
	const content = [`${question}:`, ...found].join(' ');
	if (round === undefined) return { message: { content }, finish_reason: 'stop' };
	const tool_calls = round.map((each, at) => {
		const [city = '', name = 'weather'] = each.split(':').reverse();
		// Of models with such IDs each round begins with the first one.
		return {
			...{ id: `c${at}`, type: 'function' },
			function: { name, arguments: JSON.stringify({ city }) },
		};
	});
	return { message: { content: null, tool_calls }, finish_reason: 'tool_calls' };
}

/** The text that a conversation begins with. */
function questionOf([first]: readonly ChatMessage[]): string {
	const parts = [first!.content].flat() as readonly (string | { readonly text?: string })[];
	return parts.map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join('');
}

/** A server for each test, which answers as the model does unless the test has its replies. */
export function modelForDrawings() {
	let isDown: (question: string, request: number) => boolean;
	let script: readonly Choice[];
	beforeEach(() => {
		isDown = (question) => question.startsWith('Fail');
		script = [];
	});
	const server = serverForEach((...request) => {
		const [, { body }, index] = request;
		const { messages } = body as { messages: ChatMessage[] };
		const choice = script[Math.min(index, script.length - 1)] ?? replyTo(messages);
		const { message, ...end } = choice;
		const answer = isDown(questionOf(messages), index)
			? fails(503, 'down')
			: replyWith(message, end, { usage: USAGE, model: 'chat-m1' });
		answer(...request);
	});
	return {
		get sent() {
			return server.requests;
		},
		get requests() {
			return server.requests.map(
				({ body }) => (body as { messages: ChatMessage[] }).messages,
			);
		},
		get bodies() {
			return server.requests.map(({ body }) => body as Readonly<Record<string, unknown>>);
		},
		/** The tool results that the last request has. */
		get told() {
			return resultsIn(this.requests.at(-1)!);
		},
		failsIf: (isFailing: typeof isDown) => {
			isDown = isFailing;
		},
		/** The replies of a test, in order; the last one is repeated. */
		replies: (...choices: typeof script) => {
			script = choices;
		},
		get credential() {
			return { baseUrl: server.url, apiKey: 'k' };
		},
		/** See runDrawing. */
		run: async (drawing: Drawing = {}) => await runDrawing(drawing, server.url),
		/** What a person sees of an execution that was run before. */
		seen: seenIn,
	};
}

/** Draws and runs a workflow whose service is at this URL. */
export async function runDrawing(drawing: Drawing, baseUrl: string) {
	const { tools = 'weather', ways = '', questions = ['Rome'], nodes = {} } = drawing;
	const { settings } = drawing;
	const outputs = ['Answers', 'Stops', ...namesIn(tools)];
	const usual = outputs.map((name, output) => `Agent:${output} > ${name}`).join('; ');
	const wires = { ...readWays(`Start > Questions > Agent; ${usual}`), ...readWays(ways) };
	const works: Drawing['nodes'] = {
		...{ Start: { type: 'manualTrigger' }, Questions: asks(...questions) },
		...nodes,
	};
	let runs = 0;
	const bounded =
		(work: StubWork): StubWork =>
		(items) => {
			runs += 1;
			if (runs > MAX_RUNS) throw new Error('The drawing does not end');
			return work(items);
		};
	const tested = agentOf('Agent', tools, drawing);
	const { reads } = drawing;
	const tells: StubWork = (_items, read) => [{ json: { told: String(read?.()) } }];
	const toolNodes = Object.keys(drawing.toolNodes ?? {}).map((name) => ({
		...toolNode(name, reads === undefined ? finds : tells),
		parameters: { ...(reads !== undefined && { operation: reads }) },
	}));
	const mentioned = Object.entries(wires).flatMap(([from, to]) => [
		from,
		...to.flat().map((each) => each.split('#')[0]!),
	]);
	const names = ['Start', 'Questions', 'Answers', 'Stops', 'Agent', ...Object.keys(nodes)];
	const drawn = [...new Set([...names, ...mentioned])].map((name, index): INode => {
		const position: [number, number] = [0, index * 120];
		if (name === 'Agent') return { ...tested, ...settings, position };
		const given = works[name] ?? {};
		const its: Exclude<DrawnNode, StubWork> =
			typeof given === 'function' ? { work: given } : given;
		const { agent: own, work = passes, ...more } = its;
		if (own !== undefined) {
			const { parameters = {}, ...rest } = more;
			return {
				...agentOf(name, own, { parameters }),
				...rest,
				position,
			};
		}
		const { type = 'test.stub' } = more;
		const full = type.includes('.') ? type : `n8n-nodes-base.${type}`;
		return { ...stubNode(name, bounded(work)), ...more, type: full, position };
	});
	const result = await runWorkflow([...drawn, ...toolNodes], wires, 'Start', {
		credential: { baseUrl, apiKey: 'k' },
		...(drawing.toolNodes && { tools: drawing.toolNodes }),
		...drawing.environment,
	});
	return { ...result, ...seenIn(result) };
}

/** What a person sees of an execution. */
function seenIn(result: RunResult) {
	const { error, run, chunks } = result;
	const { runData, metadata } = run.data.resultData;
	const items = (node: string) => allItems(result, node)[0] ?? [];
	const said = (each: readonly INodeExecutionData[]) =>
		each.map(({ json: { output, error: failed } }) => String(failed ?? output));
	return {
		/** The error of the execution with its advice; empty if there is none. */
		failure: error === undefined ? '' : `${error.message} ${error.description ?? ''}`,
		/** What has arrived at a node, in all its runs. */
		at: (node: string) => said(items(node)),
		answers: said(items('Answers')),
		items,
		/** The JSON of the first outcome. */
		answer: items('Answers')[0]?.json ?? {},
		stopped: items('Stops')[0]?.json ?? {},
		runsOf: (node: string) => (runData[node] ?? []).length,
		/** What a chat shows. */
		shown: chunks.map(({ content = '' }) => content).join(''),
		/** The tools whose results are missing, in the custom data of the execution. */
		open: metadata?.['agent_video_open_calls'],
	};
}

const namesIn = (list: string) => list.split(' ').filter(Boolean);

function agentOf(
	name: string,
	tools: string,
	{
		parameters = {},
		onError,
		retryOnFail,
	}: Pick<Drawing, 'parameters' | 'onError' | 'retryOnFail'>,
): INode {
	const tool = namesIn(tools).map((each) => ({
		...{ name: each, description: `Tells the ${each}`, define: 'fields' },
		parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
	}));
	return packageNode(name, 'functionCallingAgent', {
		parameters: {
			...{ prompt: '={{ $json.question }}', streaming: 'off', output: 'detailed' },
			...(tool.length > 0 && { tools: { tool } }),
			...parameters,
		},
		...(onError && { onError }),
		...(retryOnFail !== undefined && { retryOnFail }),
	});
}

import type { INode } from 'n8n-workflow';

import type { Workflow } from '../../../lab/n8n/workflow';
import {
	calledTrigger,
	drawn,
	node,
	withSubNodes,
	type SubNode,
	type Wires,
} from './buildWorkflow';

const AGENT = 'n8n-nodes-agent-video.functionCallingAgent';
export const LANGCHAIN = '@n8n/n8n-nodes-langchain';

export const base = (type: string) => `n8n-nodes-base.${type}`;
export const start = node('Start', base('manualTrigger'), 1);
export const noOp = (name: string) => node(name, base('noOp'), 1);
/** A Set node that outputs this JSON or the result of this expression, without its input fields. */
export const set = (name: string, jsonOutput: string) =>
	node(name, base('set'), 3.4, { parameters: { mode: 'raw', jsonOutput } });
export const code = (name: string, jsCode: string) =>
	node(name, base('code'), 2, { parameters: { jsCode } });

/** What the caller of a webhook wrote into its URL, to say what the model is asked for. */
const query = { city: 'Nowhere', what: 'mice' };

/** A source of items. */
export const items = (name: string, ...items: readonly object[]) =>
	code(name, `return ${JSON.stringify(items.map((json) => ({ json })))};`);

/** A source of questions, one per item. */
export const asks = (name: string, ...questions: readonly string[]) =>
	items(name, ...questions.map((question) => ({ question, query })));

/** An IF or Filter node with one condition: whether this expression equals this text. */
export const when = (name: string, type: 'if' | 'filter', leftValue: string, rightValue: string) =>
	node(name, base(type), 2.2, {
		parameters: {
			conditions: {
				options: { version: 2 },
				combinator: 'and',
				conditions: [
					{ leftValue, rightValue, operator: { type: 'string', operation: 'equals' } },
				],
			},
		},
	});

const tool = (name: string) => ({
	name,
	description: `Tells the ${name}`,
	define: 'fields',
	parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
});

/** An agent and its tool branches. */
export interface Drawing {
	/** Names of the tools, in the order of the agent's outputs. */
	readonly tools: readonly string[];
	/** The nodes of the branches and their connections. A branch ends at `Agent`. */
	readonly nodes: readonly INode[];
	readonly wires: Wires;
	/** One question per input item. */
	readonly questions?: readonly string[];
	readonly parameters?: object;
	readonly credential?: string;
	/** Default: v1. */
	readonly executionOrder?: 'v0' | 'v1';
}

/** The agent node of a drawing. */
export const agentNode = ({
	tools,
	parameters = {},
	credential = 'Model',
}: Pick<Drawing, 'tools' | 'parameters' | 'credential'>): INode =>
	node('Agent', AGENT, 1, {
		parameters: {
			prompt: '={{ $json.question }}',
			// Without tools: by an expression that declares none, so that it only answers.
			...(tools.length === 0
				? { toolSource: 'json', toolsJson: '={{ [] }}' }
				: { tools: { tool: tools.map(tool) } }),
			// The tests look at the conversation.
			output: 'detailed',
			...parameters,
		},
		credential,
	});

/** Builds the workflow: Questions, then the agent with its branches, then a node at Answer and one at Stopped. */
export function draw(name: string, drawing: Drawing): Workflow {
	const { tools, nodes, wires, questions = ['Weather?'], executionOrder = 'v1' } = drawing;
	const workflow = drawn(
		name,
		[
			start,
			asks('Questions', ...questions),
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
	return { ...workflow, settings: { executionOrder } };
}

/** A tool branch: the temperature of a city is the length of its name. */
export const WEATHER = set('weather', '={{ { "degrees": $json.city.length } }}');

/** A sub-workflow that tells the weather, without links to the items of its caller. */
export const subWorkflow = (mode: string) =>
	node('weather', base('executeWorkflow'), 1.2, {
		parameters: {
			source: 'parameter',
			mode,
			workflowJson: JSON.stringify({
				nodes: [calledTrigger('Called'), WEATHER],
				connections: { Called: { main: [[{ node: 'weather', type: 'main', index: 0 }]] } },
			}),
		},
	});

/** n8n's AI Agent, which is asked this. */
export const aiAgent = (text: string) =>
	node('AI Agent', `${LANGCHAIN}.agent`, 3.1, { parameters: { promptType: 'define', text } });

export const calculator: SubNode = [
	node('Calculator', `${LANGCHAIN}.toolCalculator`, 1),
	'ai_tool',
];

/** Gives the AI Agent of a workflow our chat model, whose model is scripted, and these sub-nodes. */
export function withChatModel(base: Workflow, ...subNodes: readonly SubNode[]): Workflow {
	const chatModel = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
		credential: 'Model',
	});
	return withSubNodes(base, 'AI Agent', [[chatModel, 'ai_languageModel'], ...subNodes]);
}

import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import { EXAMPLE_CREDENTIAL } from '../n8n/readExample';
import type { Workflow } from '../n8n/workflow';

/** A node whose panel is photographed after its workflow has run. */
export interface Subject {
	/** File name of the picture: the name of the node's folder. */
	readonly name: string;
	readonly workflow: Workflow;
	/** Name of the node whose panel is opened. */
	readonly node: string;
	/** Minimum height of the window in pixels, to fit the output; it grows to fit the form. */
	readonly height: number;
	/** The view of the output, if not n8n's default. */
	readonly view?: 'Table' | 'JSON' | 'Schema';
}

/** The labels of the fields that each picture shows, from top to bottom. */
export type PicturedFields = Readonly<Record<string, readonly string[]>>;

/** The file with the fields of the pictures. Only taking a picture changes it. */
export const PICTURED_FIELDS = join(__dirname, 'picturedFields.json');

const OWN = 'n8n-nodes-agent-video.';
const START = 'When Clicking Execute';

const TOPIC = { topic: 'A lighthouse at dawn' };
const CUSTOMER = {
	customer: 'customer-42',
	question: 'Make a short video of a lighthouse at dawn',
};

/** All nodes, each with the most common settings. */
export const SUBJECTS: readonly Subject[] = [
	inSequence('ChatCompletion', {
		height: 820,
		view: 'JSON',
		input: TOPIC,
		steps: [
			own('Chat Completion', 'chatCompletion', {
				prompt: '=Write a one-sentence prompt for a video about: {{ $json.topic }}',
				systemMessage: 'You are a film director',
				model: listed('chat-m1'),
			}),
		],
	}),
	inSequence('CreateVideo', {
		height: 930,
		view: 'JSON',
		input: TOPIC,
		steps: [
			own('Create Video', 'createVideo', {
				prompt: '={{ $json.topic }}, waves breaking slowly, filmed from a drone',
				waitUntilFinished: true,
			}),
		],
	}),
	inSequence('WaitForVideo', {
		height: 720,
		input: TOPIC,
		steps: [
			own('Create Video', 'createVideo', { prompt: '={{ $json.topic }}' }),
			own('Wait for Video', 'waitForVideo', {}),
		],
	}),
	inSequence('SuperAssistant', {
		height: 900,
		input: CUSTOMER,
		view: 'Schema',
		steps: [
			own('Super Assistant', 'superAssistant', {
				appCode: 'demo-assistant',
				message: '={{ $json.question }}',
				session: 'key',
				sessionKey: '={{ $json.customer }}',
			}),
		],
	}),
	agentSubject(),
	chatModelSubject(),
];

function agentSubject(): Subject {
	const city = { name: 'city', type: 'string', description: 'Name of the city', required: true };
	const subject = inSequence('FunctionCallingAgent', {
		height: 1150,
		input: TOPIC,
		view: 'Schema',
		steps: [
			own('Agent with Tools', 'functionCallingAgent', {
				prompt: 'How is the weather in Rome?',
				model: listed('chat-m1'),
				tools: {
					tool: [
						{
							name: 'get_weather',
							description: 'Tells the weather in a city',
							define: 'fields',
							parameters: { parameter: [city] },
						},
					],
				},
			}),
			set('Weather', { sky: 'sunny', degrees: 24 }),
		],
	});
	const { workflow, node } = subject;
	return {
		...subject,
		workflow: {
			...workflow,
			connections: {
				...workflow.connections,
				// Answer and Stopped are not connected; the branch of the tool returns to the agent.
				[node]: { main: [[], [], [connectionTo('Weather')]] },
				Weather: { main: [[connectionTo(node)]] },
			},
		},
	};
}

function chatModelSubject(): Subject {
	const chain = node('Basic LLM Chain', '@n8n/n8n-nodes-langchain.chainLlm', {
		version: 1.7,
		parameters: {
			promptType: 'define',
			text: '=Name one scene for a video: {{ $json.topic }}',
		},
	});
	const model = own('Agent Video Chat Model', 'agentVideoChatModel', {
		model: listed('chat-m1'),
	});
	const { workflow, ...subject } = inSequence('AgentVideoChatModel', {
		height: 620,
		input: TOPIC,
		steps: [chain],
	});
	const type = 'ai_languageModel';
	return {
		...subject,
		node: model.name,
		workflow: {
			...workflow,
			nodes: [...workflow.nodes, { ...model, position: [440, 220] }],
			connections: {
				...workflow.connections,
				[model.name]: { [type]: [[{ node: chain.name, type, index: 0 }]] },
			},
		},
	};
}

/** A workflow with a manual trigger, one input item, and steps in sequence. The picture shows the last node of this package. */
function inSequence(
	name: string,
	subject: Pick<Subject, 'height' | 'view'> & {
		readonly input: object;
		readonly steps: readonly INode[];
	},
): Subject {
	const { input, steps, ...picture } = subject;
	const nodes = [node(START, 'n8n-nodes-base.manualTrigger'), set('Input', input), ...steps];
	const links = nodes
		.slice(1)
		.map(
			({ name: to }, index) => [nodes[index]!.name, { main: [[connectionTo(to)]] }] as const,
		);
	const subjectNode = steps.findLast(({ type }) => type.startsWith(OWN)) ?? steps[0]!;
	return {
		...picture,
		name,
		node: subjectNode.name,
		workflow: {
			name: `Picture: ${name}`,
			nodes: nodes.map((each, index) => ({ ...each, position: [index * 220, 0] })),
			connections: Object.fromEntries(links),
			settings: { executionOrder: 'v1' },
		},
	};
}

function own(name: string, type: string, parameters: object): INode {
	return {
		...node(name, `${OWN}${type}`, { parameters }),
		credentials: { agentVideoApi: { id: '', name: EXAMPLE_CREDENTIAL } },
	};
}

function set(name: string, input: object): INode {
	const parameters = { mode: 'raw', jsonOutput: JSON.stringify(input, null, 2) };
	return node(name, 'n8n-nodes-base.set', { version: 3.4, parameters });
}

function node(
	name: string,
	type: string,
	{ version = 1, parameters = {} }: { version?: number; parameters?: object } = {},
): INode {
	return {
		id: name.toLowerCase(),
		name,
		type,
		typeVersion: version,
		position: [0, 0],
		parameters,
	} as INode;
}

function listed(value: string) {
	return { __rl: true, mode: 'list', value, cachedResultName: value };
}

function connectionTo(to: string) {
	return { node: to, type: 'main', index: 0 };
}

import type { INode } from 'n8n-workflow';

import { EXAMPLE_CREDENTIAL } from '../n8n/readExample';
import type { Workflow } from '../n8n/workflow';

/** A node's panel to take a picture of, after its workflow has run. */
export interface Subject {
	/** File name of the picture: the folder of the node. */
	readonly name: string;
	readonly workflow: Workflow;
	/** The node whose panel is opened. */
	readonly node: string;
	/** Pixels of the window, so that the form is on the picture and little else. */
	readonly height: number;
	/** How the output is shown, where not as n8n chooses: the name of a button. */
	readonly view?: 'Table' | 'JSON' | 'Schema';
}

const OWN = 'n8n-nodes-agent-video.';
const START = 'When Clicking Execute';

const TOPIC = { topic: 'A lighthouse at dawn' };
const CUSTOMER = {
	customer: 'customer-42',
	question: 'Make a short video of a lighthouse at dawn',
};

/** The panels of all nodes, each with the settings that most people need. */
export const SUBJECTS: readonly Subject[] = [
	inRow('ChatCompletion', {
		height: 820,
		view: 'JSON',
		given: TOPIC,
		steps: [
			own('Chat Completion', 'chatCompletion', {
				prompt: '=Write a one-sentence prompt for a video about: {{ $json.topic }}',
				systemMessage: 'You are a film director',
				model: listed('chat-m1'),
			}),
		],
	}),
	inRow('CreateVideo', {
		height: 930,
		view: 'JSON',
		given: TOPIC,
		steps: [
			own('Create Video', 'createVideo', {
				prompt: '={{ $json.topic }}, waves breaking slowly, filmed from a drone',
			}),
		],
	}),
	inRow('WaitForVideo', {
		height: 660,
		given: TOPIC,
		steps: [
			own('Create Video', 'createVideo', { prompt: '={{ $json.topic }}' }),
			own('Wait for Video', 'waitForVideo', {}),
		],
	}),
	inRow('SuperAssistant', {
		height: 900,
		given: CUSTOMER,
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
	const tool = (name: string, description: string, parameter: string) => ({
		name,
		description,
		define: 'fields',
		parameters: { parameter: [{ name: parameter, type: 'string', required: true }] },
	});
	const subject = inRow('AgentWithTools', {
		height: 1150,
		given: TOPIC,
		view: 'Schema',
		steps: [
			own('Agent with Tools', 'agentWithTools', {
				prompt: 'How is the weather in Rome?',
				model: listed('chat-m1'),
				tools: {
					tool: [
						tool('get_weather', 'Tells the weather in a city', 'city'),
						tool('get_time', 'Tells the time in a city', 'city'),
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
				// Answer and Stopped lead nowhere; the tool's branch leads back.
				[node]: { main: [[], [], [wire('Weather')]] },
				Weather: { main: [[wire(node)]] },
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
	const { workflow, ...subject } = inRow('AgentVideoChatModel', {
		height: 620,
		given: TOPIC,
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

/** A workflow that starts by a click and gives one item to the first step; the picture is of the last one. */
function inRow(
	name: string,
	subject: Pick<Subject, 'height' | 'view'> & {
		readonly given: object;
		readonly steps: readonly INode[];
	},
): Subject {
	const { given, steps, ...picture } = subject;
	const nodes = [node(START, 'n8n-nodes-base.manualTrigger'), set('Input', given), ...steps];
	const links = nodes
		.slice(1)
		.map(({ name: to }, index) => [nodes[index]!.name, { main: [[wire(to)]] }] as const);
	const shown = steps.findLast(({ type }) => type.startsWith(OWN)) ?? steps[0]!;
	return {
		...picture,
		name,
		node: shown.name,
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

function set(name: string, given: object): INode {
	const parameters = { mode: 'raw', jsonOutput: JSON.stringify(given, null, 2) };
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

function wire(to: string) {
	return { node: to, type: 'main', index: 0 };
}

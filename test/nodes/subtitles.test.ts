import { Workflow, type IDataObject, type INodeType } from 'n8n-workflow';

import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';
import { SuperAssistant } from '../../nodes/SuperAssistant/SuperAssistant.node';
import { WaitForVideo } from '../../nodes/WaitForVideo/WaitForVideo.node';
import { packageNode } from '../support/engine';

const model = (value: string) => ({ __rl: true, mode: 'id', value });
const image = { kind: 'image', url: 'https://example.com/a.png' };

/** What the canvas shows below a node with these settings. */
test.each<[INodeType, IDataObject, string]>([
	[new CreateVideo(), {}, 'Start a video with video-m1 from text'],
	[
		new CreateVideo(),
		{ references: { file: [image] } },
		'Start a video with video-m1 from files',
	],
	[new CreateVideo(), { options: { dryRun: true } }, 'Check a video with video-m1 from text'],
	[new CreateVideo(), { model: model('') }, 'Start a video with no model from text'],
	[
		new CreateVideo(),
		{ model: model('={{ $json.model }}') },
		'Start a video with $json.model from text',
	],
	[
		new CreateVideo(),
		{ model: model('video-m2=my-video') },
		'Start a video with my-video from text',
	],
	[new CreateVideo(), { waitUntilFinished: true }, 'Make a video with video-m1 from text'],
	[
		new CreateVideo(),
		{ waitUntilFinished: true, options: { dryRun: true } },
		'Check a video with video-m1 from text',
	],
	[new WaitForVideo(), {}, 'wait and download'],
	[new WaitForVideo(), { waitMode: 'suspend', download: false }, 'suspend'],
	[new WaitForVideo(), { waitMode: 'once' }, 'ask once and download'],
	[new WaitForVideo(), { tasks: 'ledger' }, 'collect and download'],
	[asTool(new WaitForVideo()), {}, 'wait or ask once'],
	[asTool(new WaitForVideo()), { waitUntilFinished: true }, 'wait'],
	[asTool(new WaitForVideo()), { waitUntilFinished: false }, 'ask once'],
	[
		asTool(new CreateVideo()),
		{ waitUntilFinished: true },
		'Make a video with video-m1 from text',
	],
	[new ChatCompletion(), {}, 'reply from default model'],
	[new ChatCompletion(), { model: model('chat-m1') }, 'reply from chat-m1'],
	[
		new ChatCompletion(),
		{ answeredBy: 'app', appCode: 'demo-app', responseFormat: 'json' },
		'JSON from demo-app',
	],
	[new ChatCompletion(), { model: model('={{ $json.model }}') }, 'reply from $json.model'],
	[
		new ChatCompletion(),
		{ model: model("={{ $('My topics').item.json.model }}") },
		'reply from model',
	],
	[new ChatCompletion(), { answeredBy: 'app' }, 'reply from the app'],
	[
		new ChatCompletion(),
		{ answeredBy: 'app', appCode: '={{ $json.app }}', model: model('chat-m1') },
		'reply from $json.app',
	],
	[new ChatCompletion(), { appCode: 'stale', model: model('chat-m1') }, 'reply from chat-m1'],
	[new AgentVideoChatModel(), { model: model('chat-m2') }, 'chat-m2'],
	[new FunctionCallingAgent(), { tools: {} }, 'default model'],
	[
		new FunctionCallingAgent(),
		{ answeredBy: 'app', appCode: 'demo-app', tools: { tool: [{}] } },
		'1 tool, demo-app',
	],
	[
		new FunctionCallingAgent(),
		{ model: model('chat-m1'), tools: { tool: [{}, {}] } },
		'2 tools, chat-m1',
	],
	[new FunctionCallingAgent(), { toolSource: 'json' }, 'tools, default model'],
	[new SuperAssistant(), {}, 'code in API key, chat session'],
	[new SuperAssistant(), { session: 'new' }, 'code in API key, new session'],
	[
		new SuperAssistant(),
		{ appCode: 'demo-assistant', session: 'key' },
		'demo-assistant, session per key',
	],
	[
		new SuperAssistant(),
		{ appCode: 'demo-assistant', session: 'id' },
		'demo-assistant, session by ID',
	],
])('the subtitle says what the node does: row %#', (type, parameters, subtitle) => {
	expect(evaluate(type, type.description.subtitle!, parameters)).toBe(subtitle);
});

const listed = (...names: string[]) => ({ parameter: names.map((name) => ({ name })) });

/** The heading of an entry of the list Tools; where it is empty, n8n shows `Tool 1`. */
test.each<[IDataObject, string]>([
	[{ name: 'get_weather', parameters: listed('city', 'unit') }, 'get_weather(city, unit)'],
	[{ name: 'now', define: 'fields', parameters: {} }, 'now()'],
	[
		{ name: 'find', define: 'schema', schema: '{"properties": {"name": {}, "tag": {}}}' },
		'find(name, tag)',
	],
	[{ name: 'find', define: 'example', example: '{"name": "Kite", "tag": 1}' }, 'find(name, tag)'],
	[{ name: 'find', define: 'schema', schema: '={{ $json.schema }}' }, 'find(…)'],
	[{ name: 'find', define: 'schema', schema: '{' }, 'find(…)'],
	[{ name: '', parameters: listed('city') }, ''],
])('the heading of a tool shows its parameters: row %#', (tool, heading) => {
	const type = new FunctionCallingAgent();
	const tools = type.description.properties.find(({ name }) => name === 'tools')!;
	const { itemTitle } = tools.typeOptions!.fixedCollection!;
	expect(evaluate(type, itemTitle!, {}, { $collection: { item: { value: tool } } })).toBe(
		heading,
	);
});

/** The node as n8n offers it to agents. */
function asTool(type: INodeType): INodeType {
	return { description: { ...type.description, name: `${type.description.name}Tool` } };
}

/** Evaluates an expression of a node's description for a node with these settings. */
function evaluate(
	type: INodeType,
	expression: string,
	parameters: IDataObject,
	variables: IDataObject = {},
) {
	const node = packageNode('Node', type.description.name, { parameters });
	const workflow = new Workflow({
		active: false,
		nodes: [node],
		connections: {},
		nodeTypes: {
			getByName: () => type,
			getByNameAndVersion: () => type,
			getKnownTypes: () => ({}),
		},
	});
	return workflow.expression.getSimpleParameterValue(
		workflow.getNode('Node')!,
		expression,
		'internal',
		variables,
	);
}

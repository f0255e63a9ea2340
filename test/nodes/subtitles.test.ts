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
	[new CreateVideo(), {}, 'text to video with video-m1'],
	[new CreateVideo(), { references: { file: [image] } }, 'files to video with video-m1'],
	[new CreateVideo(), { options: { dryRun: true } }, 'dry run: text to video with video-m1'],
	[new CreateVideo(), { model: model('') }, 'text to video with no model'],
	[new WaitForVideo(), {}, 'wait and download'],
	[new WaitForVideo(), { waitMode: 'suspend', download: false }, 'suspend'],
	[new ChatCompletion(), {}, 'reply from the default model'],
	[new ChatCompletion(), { model: model('chat-m1') }, 'reply from chat-m1'],
	[
		new ChatCompletion(),
		{ appCode: 'demo-app', options: { responseFormat: 'json_object' } },
		'JSON from demo-app',
	],
	[new AgentVideoChatModel(), { model: model('chat-m2') }, 'chat-m2'],
	[new FunctionCallingAgent(), {}, '0 tools, the default model'],
	[
		new FunctionCallingAgent(),
		{ appCode: 'demo-app', tools: { tool: [{}] } },
		'1 tool, demo-app',
	],
	[
		new FunctionCallingAgent(),
		{ model: model('chat-m1'), tools: { tool: [{}, {}] } },
		'2 tools, chat-m1',
	],
	[new FunctionCallingAgent(), { toolSource: 'json' }, 'tools, the default model'],
	[new SuperAssistant(), {}, 'no assistant, new session'],
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
	const seen = workflow.expression.getSimpleParameterValue(
		workflow.getNode('Node')!,
		type.description.subtitle,
		'internal',
		{},
	);
	expect(seen).toBe(subtitle);
});

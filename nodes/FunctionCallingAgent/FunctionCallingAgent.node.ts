import {
	NodeConnectionTypes,
	type EngineResponse,
	type IExecuteFunctions,
	type INodeType,
	type INodeTypeDescription,
	type NodeOutput,
} from 'n8n-workflow';

import { ANSWERER, chatListSearch } from '../shared/chat/properties';
import { builderHint } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './FunctionCallingAgent.node.json';
import { runAgent } from './execute';
import { agentForm } from './properties';

/** Outputs: Answer, Stopped, then one for each tool of the form, or one for all tool calls. */
const OUTPUTS = `={{ ((parameters) => {
	const names = parameters.toolSource === 'json' || parameters.outputMode === 'single'
		? ['Tool Calls']
		: (parameters.tools?.tool ?? []).map((tool, index) => tool.name || 'Tool ' + (index + 1));
	return ['Answer', 'Stopped', ...names].map((displayName) => ({ type: 'main', displayName }));
})($parameter) }}` as const;

/**
 * Subtitle on the canvas, e.g. `2 tools, chat-m1`. Tools as JSON are not counted: they may come from an expression. Without
 * tools of its own it names none: n8n's tool nodes may be connected.
 */
const SUBTITLE = `={{ ((parameters) => {
	const count = (parameters.tools?.tool ?? []).length;
	const tools = { 0: [], 1: ['1 tool'] }[count] ?? [count + ' tools'];
	return [...(parameters.toolSource === 'json' ? ['tools'] : tools), ${ANSWERER}].join(', ');
})($parameter) }}`;

export class FunctionCallingAgent implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent with Tools',
		// n8n's editor takes a node for a tool when the name of its type contains the word "tool".
		name: 'functionCallingAgent',
		icon: { light: 'file:../../icons/agent.svg', dark: 'file:../../icons/agent.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: SUBTITLE,
		description:
			'Let a model call tools, run by the branches of your workflow, until it answers',
		defaults: { name: 'Agent with Tools' },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiTool, displayName: 'Tool Nodes', required: false },
		],
		outputs: OUTPUTS,
		// As a tool it would have no outputs for its own tools. n8n's lint rule requires the property; its type does not allow `false`.
		usableAsTool: undefined as never,
		builderHint: builderHint(hint),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(agentForm.properties),
	};

	methods = { credentialTest, listSearch: chatListSearch };

	async execute(this: IExecuteFunctions, response?: EngineResponse): Promise<NodeOutput> {
		return await runAgent(this, response);
	}
}

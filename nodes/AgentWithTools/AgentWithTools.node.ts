import {
	NodeConnectionTypes,
	type EngineRequest,
	type EngineResponse,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeListSearchResult,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { SUGGESTIONS } from '../shared/chat/requestOptions';
import { ANSWERER, CHAT_MODELS } from '../shared/chat/properties';
import { searchItems } from '../shared/form/resourceLocator';
import { beginAgent } from './begin';
import { runAgent } from './execute';
import { agentProperties } from './properties';

/** Answer and Stopped, then an output for each tool of the form, or one for all calls. */
const OUTPUTS = `={{ ((parameters) => {
	const names = parameters.toolSource === 'json' || parameters.outputMode === 'single'
		? ['Tool Calls']
		: (parameters.tools?.tool ?? []).map((tool, index) => tool.name || 'Tool ' + (index + 1));
	return ['Answer', 'Stopped', ...names].map((displayName) => ({ type: 'main', displayName }));
})($parameter) }}` as const;

/**
 * For example `2 tools, chat-m1`: the canvas cuts the end off. Tools as JSON may come from an expression, and are not counted.
 */
const SUBTITLE = `={{ ((parameters) => {
	const count = (parameters.tools?.tool ?? []).length;
	const tools = count === 1 ? '1 tool' : count + ' tools';
	return (parameters.toolSource === 'json' ? 'tools' : tools) + ', ' + ${ANSWERER};
})($parameter) }}`;

export class AgentWithTools implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Agent with Tools',
		name: 'agentWithTools',
		icon: { light: 'file:../../icons/agent.svg', dark: 'file:../../icons/agent.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: SUBTITLE,
		description:
			'Let a model ask for tools, run by the branches of your workflow, until it answers',
		defaults: { name: 'Agent with Tools' },
		inputs: [
			NodeConnectionTypes.Main,
			{ type: NodeConnectionTypes.AiTool, displayName: 'Tools', required: false },
		],
		outputs: OUTPUTS,
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: agentProperties,
	};

	methods = {
		listSearch: {
			searchModel(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(CHAT_MODELS, filter);
			},
			searchReasoningEffort(
				this: ILoadOptionsFunctions,
				filter?: string,
			): Promise<INodeListSearchResult> {
				return searchItems(SUGGESTIONS['searchReasoningEffort']!, filter);
			},
		},
	};

	async execute(
		this: IExecuteFunctions,
		response?: EngineResponse,
	): Promise<INodeExecutionData[][] | EngineRequest> {
		return await runAgent(this, async () => await beginAgent(this), response);
	}
}

import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { WAIT_OUTPUTS } from './outputs';
import { waitProperties } from './properties';
import { runWait } from './execute';

export class WaitForVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Wait for Video',
		name: 'waitForVideo',
		icon: {
			light: 'file:../../icons/waitForVideo.svg',
			dark: 'file:../../icons/waitForVideo.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle:
			'={{ ($parameter.waitMode === "suspend" ? "suspend" : "wait") + ($parameter.download ? " and download" : "") }}',
		description: 'Wait until a video is finished, and get its URL and its file',
		defaults: { name: 'Wait for Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.Main, NodeConnectionTypes.Main],
		outputNames: [...WAIT_OUTPUTS],
		usableAsTool: true,
		credentials: [{ name: 'agentVideoApi', required: true }],
		properties: waitProperties,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await runWait(this);
	}
}

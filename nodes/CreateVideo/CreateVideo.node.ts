import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type ILoadOptionsFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { shownAs } from '../shared/chat/properties';
import { readModelCodes } from '../shared/run/credential';
import { builderHint, searchItems } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { openRun } from '../shared/run/run';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './CreateVideo.node.json';
import { createVideos } from './execute';
import { REQUEST_PLACES, valuesByModel, videoModelItems } from './modelProperties';
import { createVideoForm } from './properties';

export class CreateVideo implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Create Video',
		name: 'createVideo',
		icon: {
			light: 'file:../../icons/createVideo.svg',
			dark: 'file:../../icons/createVideo.dark.svg',
		},
		group: ['transform'],
		version: 1,
		subtitle: `={{ ($parameter.options?.dryRun ? "Check" : $parameter.waitUntilFinished ? "Make" : "Start") + " a video with " + ${shownAs('model', 'no model')}.replace(/^video-m\\d=/, "") + " from " + ($parameter.references?.file?.length ? "files" : "text") }}`,
		description:
			'Generate a video from text, images, videos or audio. Returns its task_id for Wait for Video, or the finished video.',
		defaults: { name: 'Create Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		usableAsTool: true,
		builderHint: builderHint(hint, ...valuesByModel),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(createVideoForm.properties, REQUEST_PLACES),
	};

	methods = {
		credentialTest,
		listSearch: {
			async searchVideoModels(this: ILoadOptionsFunctions, filter?: string) {
				const own = await readModelCodes(this, 'videoModels');
				return await searchItems(videoModelItems(own), filter);
			},
		},
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][] | null> {
		return await createVideos(await openRun(this));
	}
}

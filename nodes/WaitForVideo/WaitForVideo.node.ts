import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { entered } from '../shared/engine/workflow';
import { builderHint } from '../shared/form/fields';
import { withStrays } from '../shared/run/names';
import { openRun } from '../shared/run/run';
import { credentialTest } from '../shared/run/testCredential';
import { builderHint as hint } from './WaitForVideo.node.json';
import { runWait, WAIT_OUTPUTS } from './execute';
import { waitForm } from './properties';

/** Subtitle on the canvas, e.g. `wait and download`. A tool has a switch instead of the wait mode; by default the model sets it. */
const SUBTITLE = `={{ (({ tasks, waitMode, download }, waits) => {
	const asTool = { false: 'ask once', true: 'wait' }[waits] ?? 'wait or ask once';
	const asNode = { once: 'ask once', suspend: 'suspend' }[waitMode] ?? 'wait';
	const how = waits === undefined ? asNode : asTool;
	return (tasks === 'ledger' ? 'collect' : how) + (download ? ' and download' : '');
})($parameter, ${entered('waitUntilFinished')}) }}`;

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
		subtitle: SUBTITLE,
		description:
			'Wait until a video is finished, or get its status now. Returns its URL, and in a workflow its file.',
		defaults: { name: 'Wait for Video' },
		inputs: [NodeConnectionTypes.Main],
		outputs: WAIT_OUTPUTS,
		waitingNodeTooltip:
			'The videos are still generating. This node polls them again about once a minute, until all are finished.',
		usableAsTool: true,
		builderHint: builderHint(hint),
		credentials: [{ name: 'agentVideoApi', required: true, testedBy: 'testCredential' }],
		properties: withStrays(waitForm.properties),
	};

	methods = { credentialTest };

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][] | null> {
		return await runWait(await openRun(this));
	}
}

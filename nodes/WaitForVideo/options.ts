import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { fileGroup } from '../shared/files/downloadLimits';
import { notInTools, shownFor } from '../shared/form/fromAi';
import {
	choiceOption,
	countOption,
	numberOption,
	optionsProperty,
	optionTable,
	propertiesOf,
} from '../shared/form/options';
import { ledgerOptions } from '../shared/ledger/ledgerOption';
import { isToolRun } from '../shared/run/nodeContext';
import { fileOptions, pollOptions } from '../shared/wait/options';
import { isFailedConnected } from './outputs';

/** Which tasks one run takes from the task ledger. */
export const ledgerTaskOptions = optionTable({
	maximumTasks: countOption('Maximum Tasks', {
		help: 'How many tasks to take from the task ledger. Tasks that no run has taken yet come first.',
		default: 50,
	}),
	minimumAge: numberOption('Minimum Age', {
		unit: 'Minutes',
		help: 'Younger tasks stay in the task ledger: the execution that created them may still wait for them',
		default: 15,
	}),
});

const { onFailed } = optionTable({
	onFailed: choiceOption<'auto' | 'output' | 'fail'>('On Failed Videos', {
		help: 'What happens when a video fails, is not finished in time or cannot be downloaded. The node fails only when all videos are finished; the error names every task ID.',
		default: 'auto',
		choices: [
			['Fail If Failed Is Not Connected', 'auto', 'Otherwise as Send to Failed Output'],
			['Send to Failed Output', 'output', 'Each leaves through Failed with its reason'],
			['Fail the Node', 'fail', 'Also if the output Failed is connected'],
		],
	}),
});

/** The options of Wait for Video. */
export const waitForVideoOptions: INodeProperties = optionsProperty([
	pollOptions.maximumWait.property,
	{ ...onFailed.property, noDataExpression: true },
	...[fileOptions.fileName, fileOptions.downloadThumbnail, fileOptions.thumbnailProperty].map(
		({ property }) => notInTools(property),
	),
	...propertiesOf(ledgerTaskOptions).map((property) =>
		notInTools(shownFor(property, { '/tasks': 'ledger' })),
	),
	notInTools(fileGroup.property),
	pollOptions.concurrency.property,
	ledgerOptions.taskLedger.property,
]);

/** Whether a failed video fails the node instead of leaving through the output Failed. */
export function readFailsNode(context: IExecuteFunctions): boolean {
	const choice = onFailed.read(context, 0);
	if (choice !== 'auto') return choice === 'fail';
	return !isToolRun(context) && !isFailedConnected(context);
}

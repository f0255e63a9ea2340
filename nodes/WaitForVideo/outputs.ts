import type { IConnections, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import type { WaitMode } from './mode';

/** The outputs of Wait for Video, in their order. */
export const WAIT_OUTPUTS = ['Still Generating', 'Completed', 'Failed'] as const;

const STILL_GENERATING = 0;
const COMPLETED = 1;

/** The items by output, in the order of WAIT_OUTPUTS. */
export function onOutputs({
	stillGenerating = [],
	completed = [],
	failed = [],
}: Partial<
	Record<'stillGenerating' | 'completed' | 'failed', INodeExecutionData[]>
>): INodeExecutionData[][] {
	return [stillGenerating, completed, failed];
}

/**
 * Nodes are not told their wires; n8n's context has the workflow all the same. Where an n8n has it not, the check is
 * left out.
 */
interface WithWorkflow {
	readonly workflow?: { readonly connectionsBySourceNode?: IConnections };
}

/**
 * Looks at the wires before anything is asked, so that no result can leave through an output that nobody reads.
 *
 * @throws InputError when the wires do not fit the mode.
 */
export function checkWires(context: IExecuteFunctions, mode: WaitMode): void {
	const { workflow } = context as unknown as WithWorkflow;
	if (mode === 'tool' || workflow?.connectionsBySourceNode === undefined) return;

	const { name } = context.getNode();
	const outputs = workflow.connectionsBySourceNode[name]?.['main'] ?? [];
	const back = outputs[STILL_GENERATING] ?? [];
	const elsewhere = back.filter(({ node }) => node !== name);
	if (mode === 'suspend' && (back.length === 0 || elsewhere.length > 0)) {
		throw new InputError(
			'Still Generating',
			elsewhere.length === 0 ? 'leads nowhere' : `leads to ${elsewhere[0]!.node}`,
			'Connect this output to the input of this node and to nothing else, or set Wait Mode to Poll in Place',
		);
	}
	if (mode === 'inPlace' && elsewhere.length > 0 && (outputs[COMPLETED] ?? []).length === 0) {
		throw new InputError(
			'Completed',
			`leads nowhere, but Still Generating leads to ${elsewhere[0]!.node}`,
			'Move that wire to the output Completed: finished videos leave there',
		);
	}
}

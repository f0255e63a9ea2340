import { nodesBehind, type Execution, type Place } from '../n8n/execution';
import type { Copy } from './copyWorkflow';
import { STUB } from './replacements';
import { NODES } from './tables';

/** Finds who hears of an item in an execution. */
export function findHearers({ workflow, starts, replaced }: Copy, execution: Execution) {
	const { parameters, kind, answers } = { ...starts.at(-1)!, ...starts.at(-1)!.node };
	const { options, responseMode } = parameters as Record<string, { responseMode?: unknown }>;
	const mode = String(options?.responseMode ?? responseMode ?? answers);
	// A form only says that the workflow is over.
	const isAwaited = kind !== 'form' && ['lastNode', 'streaming'].includes(mode);
	/** Whether n8n gives an item to who has started the workflow: it takes the first output of the last node. */
	const isAnswer = ([name, , output]: Place) => {
		const { main = [] } = (workflow.connections[name] ?? {}) as { main?: readonly unknown[][] };
		return isAwaited && output === 0 && !main[0]?.length;
	};
	/** Nodes behind an item that take it out of the workflow, or lead on to one that does. */
	const hearers = (place: Place): readonly string[] =>
		nodesBehind(execution, place).flatMap(({ name, places }) => {
			const { type, disabled, parameters } = workflow.nodes.find(
				(node) => node.name === name,
			)!;
			const operations = NODES.tells[type] ?? [];
			const isStub = replaced.some(({ node, by }) => node === name && by.startsWith(STUB));
			const operation = String(parameters['operation'] ?? operations[0]);
			// n8n passes an item through a disabled node.
			const tells = disabled !== true && (isStub || operations.includes(operation));
			const leadsOn = (to: Place) => hearers(to).length > 0 || isAnswer(to);
			return tells || places.some(leadsOn) ? [name] : [];
		});
	return { hearers, isAnswer };
}

import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { counted } from '../client/values';
import { setCustomData } from '../shared/chat/finishReply';
import { engineOf } from '../shared/run/engine';
import { hint } from '../shared/run/hints';
import { lastRunMark, planLastRun, plannedMarks } from '../shared/run/lastRun';
import { readDrawing } from './drawing';
import type { Call } from './state';

/** Key of the tools whose results are missing in the execution's custom data: there or `none`. */
const OPEN_CALLS = 'agent_video_open_calls';

/** What the last run of the node is for: the tools whose results are missing, and why conversations were lost at Stopped. */
interface Mark {
	readonly open: readonly string[];
	readonly stopped: readonly string[];
}

/**
 * Turns the end of an execution while tool calls are open into an error: a branch that ends without an item never runs the
 * node again, and n8n ends the execution with success. The same for conversations that leave through Stopped where nothing
 * takes them. The calls also leave a hint in the run's output and a value in the execution's custom data, by which the
 * execution can be found in n8n's list.
 *
 * @param calledNow Whether this run has sent calls out.
 * @param stopped The reasons of the conversations that this run has lost.
 */
export function planEnd(
	context: IExecuteFunctions,
	open: readonly Call[],
	calledNow: boolean,
	stopped: readonly string[],
): void {
	const { name } = context.getNode();
	const { destination } = engineOf(context);
	// "Execute step" on a node of a branch ends before the result comes back.
	const drawing = destination === undefined ? undefined : readDrawing(context);
	const isStep = [...(drawing?.branches ?? [])].some(({ to }) => to === destination);
	const tools = toolsOf(open);
	if (calledNow) {
		const step = isStep
			? '. "Execute step" ends here. Execute the whole workflow to run the tools and get the answer.'
			: '';
		hint(context, `Waiting for ${tools.join(', ')}${step}`, 'info');
	}

	const [planned] = plannedMarks<Mark>(context, name);
	const mark: Mark = {
		open: isStep ? [] : tools,
		stopped: [...(planned?.stopped ?? []), ...stopped],
	};
	planLastRun(context, mark.open.length + mark.stopped.length > 0 ? mark : undefined);
	const marks = plannedMarks<Partial<Mark>>(context);
	const missing = new Set([...tools, ...marks.flatMap(({ open: names = [] }) => names)]);
	const { customData } = context as Partial<IExecuteFunctions>;
	if (missing.size > 0 || customData?.get(OPEN_CALLS) !== undefined)
		setCustomData(context, OPEN_CALLS, [...missing].join(', ') || 'none');
}

/** The error about the missing results. */
export function missingResults(open: readonly Call[]): InputError {
	const names = toolsOf(open);
	return new InputError(
		names.length === 1 ? `Tool ${names[0]}` : `Tools ${names.join(', ')}`,
		`returned no item for ${counted(open.length, 'call')}`,
		'The branch has ended before it reached this node again. Switch on Always Output Data in the settings of its last node, and connect every output of its nodes, error outputs as well',
	);
}

/** The error about the conversations that were lost at Stopped; undefined if there are none. */
export function lostAtStopped(context: IExecuteFunctions): InputError | undefined {
	const { stopped = [] } = lastRunMark<Mark>(context) ?? {};
	if (stopped.length === 0) return undefined;
	return new InputError(
		'Stopped',
		`has no connection, and ${counted(stopped.length, 'conversation')} left through it`,
		`Connect it, or prevent what has stopped them (${[...new Set(stopped)].join(', ')}): raise Maximum Rounds or Maximum Tool Calls under Options, or ask for less at once`,
	);
}

function toolsOf(calls: readonly Call[]): string[] {
	return [...new Set(calls.map(({ record }) => record.name))];
}

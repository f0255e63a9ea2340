import type { INodeExecutionData } from 'n8n-workflow';

import type { Emulator } from '../../emulator/startEmulator';
import { taskStatus } from '../../emulator/video/taskStatus';
import { failureOf, placedItems, type Execution, type PlacedItem } from '../n8n/execution';
import type { DataTableRow } from '../n8n/N8nClient';
import type { Copy } from './copyWorkflow';
import { findHearers } from './hearers';
import { isOwn } from './replacements';
import { NODES } from './tables';

/** What one run of a workflow has left behind. */
export interface Outcome {
	readonly created: number;
	/** Created, and not failed at the service. */
	readonly paid: number;
	/** Came out of a node as finished. */
	readonly delivered: number;
	/** Not delivered, but somebody was told, or the task ledger lists it as open. */
	readonly open: number;
	readonly lost: number;
	readonly isGreen: boolean;
	/** Who was told of what failed: names of nodes, or where n8n shows the error. */
	readonly told: readonly string[];
	/** Outputs whose failed items nobody gets. */
	readonly unheard: readonly Unheard[];
	/** The error of the execution, if it is red. */
	readonly error: string;
	/** Names of the nodes that ran. */
	readonly ran: readonly string[];
	/** Name of the node that failed; empty if none has. */
	readonly failedAt: string;
	/** Name of a node that ran again and again, until the rehearsal stopped it; empty if none has. */
	readonly endless: string;
	/** What was asked for, for each paid video. */
	readonly requests: readonly string[];
	/** Whether anything of the scenario has happened to it. */
	readonly wasFaulty: boolean;
}

/** An output whose failed items nobody gets: where it leads; `mixed`: they are among the good ones. */
export type Unheard = readonly [node: string, output: string, leads: string];

/** Everything that a run has left behind; without executions that were retried. */
export interface Traces {
	readonly copy: Copy;
	readonly emulator: Emulator;
	readonly executions: readonly Execution[];
	readonly ledger: readonly DataTableRow[];
}

/** An item that came out of one of this package's nodes. */
interface Said {
	readonly text: string;
	readonly failed: boolean;
	readonly to: readonly string[];
	readonly unheard: Unheard | undefined;
}

/** Whether anything of the scenario has happened to a run. */
export const hasHappened = ({ journal }: Emulator) =>
	journal.entries.some(({ fault }) => fault !== undefined);

const LIST = "n8n's list of executions";
/** What limitRuns.ts says. */
const STOPPED = 'The rehearsal has stopped this loop';
const JUDGES = NODES.judges.split(' ');

/** Counts what became of the videos of a run, and finds out who was told of what failed. */
export function judge({ copy, emulator, executions, ledger }: Traces): Outcome {
	const said = executions.flatMap((execution) => itemsOf(execution, copy));
	const red = executions.filter(({ status }) => status !== 'success');
	const told = said.filter(({ failed, unheard }) => failed && unheard === undefined);
	const errors = red.map(({ data }) => JSON.stringify(data.resultData.error ?? {}));
	const heard = [...errors, ...told.map(({ text }) => text)];
	const unheard = said.flatMap((each) => (each.unheard ? [each.unheard] : []));

	const { tasks, journal, clock } = emulator;
	const failedIds = journal.entries.flatMap(({ fault, body }) =>
		fault === 'set' ? (body as { task_id: string }).task_id : [],
	);
	const paid = tasks.all.filter(
		(task) => !failedIds.includes(task.id) && taskStatus(task, clock.now()).status !== 'failed',
	);
	const sent = ledger.filter(({ status }) => status === 'sent');
	const became = paid.map(({ id, video }) => {
		const about = said.filter(({ text }) => text.includes(id));
		const isFinished = (text: string) =>
			text.includes('"status":"completed"') || text.includes(`/cdn/videos/${id}`);
		if (about.some(({ failed, text }) => !failed && isFinished(text))) return 'delivered';
		if (heard.some((text) => text.includes(id))) return 'open';
		if (about.some((each) => each.unheard)) return 'lost';
		const row = ledger.find((each) => each['task_id'] === id);
		if (row !== undefined) return row['finished_at'] === null ? 'open' : 'lost';
		const isSent = sent.some(({ prompt }) => prompt === video.prompt);
		const mayExist = isSent || heard.some((text) => text.includes('may exist'));
		return mayExist || about.length > 0 ? 'open' : 'lost';
	});
	const count = (what: string) => became.filter((each) => each === what).length;
	return {
		created: tasks.all.length,
		paid: paid.length,
		delivered: count('delivered'),
		open: count('open'),
		lost: count('lost'),
		isGreen: red.length === 0,
		told: [...new Set([...told.flatMap(({ to }) => to), ...red.map(() => LIST)])],
		unheard: [...new Map(unheard.map((each) => [each.join(), each])).values()],
		error: red.map((each) => failureOf(each) || each.status).join('; '),
		ran: executions.flatMap(({ data }) => Object.keys(data.resultData.runData)),
		failedAt: lastOf(red),
		endless: lastOf(red.filter((each) => failureOf(each).includes(STOPPED))),
		requests: paid.map(({ video }) => JSON.stringify(video)),
		wasFaulty: hasHappened(emulator),
	};
}

const lastOf = (executions: readonly Execution[]) =>
	executions.map(({ data }) => data.resultData.lastNodeExecuted ?? '').find(Boolean) ?? '';

type Connections = Readonly<Record<string, readonly (readonly { readonly node: string }[])[]>>;

/** What came out of this package's nodes in an execution. */
function itemsOf(execution: Execution, copy: Copy): readonly Said[] {
	const { hearers, isAnswer } = findHearers(copy, execution);
	const find = (name: string) => copy.workflow.nodes.find((node) => node.name === name);
	return copy.workflow.nodes.filter(isOwn).flatMap(({ name, type: nodeType, onError }) => {
		const connections = (copy.workflow.connections[name] ?? {}) as Connections;
		const toSaid = ({ item, type, place }: PlacedItem): Said => {
			const [, , output] = place;
			const all = (connections[type]?.[output] ?? []).map((each) => each.node);
			const label = (output === 1 ? NODES.failures[nodeType] : undefined) ?? 'Error';
			const failed = isFailed(item) || label === 'Stopped';
			// A node that failed has kept others from running, and n8n shows that.
			const isTraced = failed && type === 'main' && execution.status === 'success';
			const to = isTraced ? hearers(place) : all;
			const leads = all.length > 0 ? 'leads to nobody' : 'is not connected';
			const isMixed = type === 'main' && output === 0 && onError === 'continueRegularOutput';
			const isTold = to.every((each) => !isMixed || JUDGES.includes(find(each)?.type ?? ''));
			const isUnheard = failed && !(to.length > 0 ? isTold : isAnswer(place));
			return {
				text: JSON.stringify([item.json, item.error]),
				failed,
				to: to.length > 0 ? to : ['the person who has asked'],
				unheard: isUnheard ? [name, isMixed ? 'mixed' : label, leads] : undefined,
			};
		};
		return placedItems(execution, name).map(toSaid);
	});
}

/** A tool has its error in the response to the model. */
function isFailed({ json, error }: INodeExecutionData): boolean {
	const { response } = json as { response?: { error?: unknown } };
	return [error, json['error'], json['error_message'], response?.error].some(Boolean);
}

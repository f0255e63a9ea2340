import { randomUUID } from 'node:crypto';

import type { INode } from 'n8n-workflow';

import type { ExportedWorkflow, Workflow } from '../n8n/workflow';
import { callsItself, readDrawing } from './drawing';
import { BASE, isMadeUp, isOwn, replaceNode, stub } from './replacements';
import type { Pinned, Replacement } from './replacements';
import { NODES, type TriggerKind } from './tables';

/** How the copy is started: by a request to one of its nodes. */
export interface Start extends TriggerKind {
	readonly kind: Exclude<TriggerKind['kind'], 'none'>;
	/** Whether it is the one that the rehearsal is about. */
	readonly isLast: boolean;
	readonly node: INode;
	/** What is pinned to the node, such as the message of a chat. */
	readonly pinned: Readonly<Record<string, unknown>>;
}

/** What n8n runs in place of a workflow. */
export interface Copy {
	readonly workflow: Workflow;
	/** In order; a scenario is about the last one. */
	readonly starts: readonly Start[];
	readonly replaced: readonly Replacement[];
	/** Nodes whose output is made up: what fails behind them may not fail with real data. */
	readonly madeUp: readonly string[];
}

const WEBHOOK = `${BASE}webhook`;
const CALLED = `${BASE}executeWorkflowTrigger`;
const ON_ERROR = `${BASE}errorTrigger`;
const WITHOUT_BODY = 'a request without a body: pin data to the trigger, and its body is sent';
const { triggers: TRIGGERS } = NODES;
/** Triggers of a lower rank also start if they lead to no node of this package: they may fill a table for one that does. */
const CALLED_RANK = TRIGGERS[CALLED]!.rank;
/** What decides how executions go. What hides their results is left out. */
const SETTINGS = ['executionOrder', 'executionTimeout', 'timezone', 'errorWorkflow'] as const;
/** Who has logged in to a chat. In the copy nobody has to. */
const USER = { id: 'user-1', email: 'ada@example.com', firstName: 'Ada', lastName: 'Doe' };
/** The maximum of n8n. */
const NAME_LENGTH = 128;

/** Undefined for a node that is no trigger. */
const kindOf = ({ type }: INode): TriggerKind | undefined =>
	TRIGGERS[type] ??
	(/trigger$/i.test(type) ? { kind: 'webhook', byPerson: false, rank: 0 } : undefined);

/** Why a trigger does not start in the rehearsal of another one; undefined if it does. */
function whyNotStarted(workflow: ExportedWorkflow, node: INode): string | undefined {
	const { kind, rank } = kindOf(node)!;
	const behind = readDrawing(workflow).behind(node.name);
	if (node.disabled === true) return 'it is disabled';
	if (kind === 'none') return 'only its clients can start it';
	if (node.type === CALLED && workflow.nodes.some(callsItself)) return 'the workflow calls it';
	if (behind.length === 0) return 'it leads to no node';
	if (behind.some((name) => workflow.nodes.some((each) => each.name === name && runsHere(each))))
		return 'it has a rehearsal of its own';
	return rank < CALLED_RANK ? undefined : 'it leads to no node of this package';
}

const runsHere = (node: INode) => isOwn(node) && node.disabled !== true;
const isOfItsOwn = (why: string | undefined) => why === 'it has a rehearsal of its own';

/** The triggers that lead to nodes of this package: each is started in a rehearsal of its own. */
export const triggersOf = (workflow: ExportedWorkflow): readonly string[] =>
	workflow.nodes
		.filter((node) => kindOf(node) && isOfItsOwn(whyNotStarted(workflow, node)))
		.map(({ name }) => name);

/**
 * Makes the copy that is run: its own nodes get a credential for the emulator, and every node that would need another
 * one or leave the machine is replaced.
 *
 * @param id Name of the credential. It also tells copies apart that run in one n8n: their tables and keys must not meet.
 * @param trigger Name of the one that the rehearsal is about.
 */
export function copyWorkflow(
	exported: ExportedWorkflow,
	id: string,
	trigger = triggersOf(exported)[0],
): Copy {
	const nodes = exported.nodes.filter(({ type }) => type !== `${BASE}stickyNote`);
	const { isFork } = readDrawing(exported);
	// A node may have the name of a prototype.
	const pinData = new Map(Object.entries(exported.pinData ?? {}));
	const wires = new Map(Object.entries(exported.connections));

	const begins: Record<string, unknown> = {};
	const starts: Start[] = [];
	const replaced: Replacement[] = [];
	const madeUp: string[] = [];
	const copied = nodes.flatMap((original): readonly INode[] => {
		// Nodes that were copied by hand may share an ID.
		const node = { ...original, id: randomUUID() };
		const note = (by: string) => replaced.push({ node: node.name, type: node.type, by });
		const kind = kindOf(node);
		const pinned = pinData.get(node.name);
		const own = { ...node, ...(node.webhookId && { webhookId: randomUUID() }) };
		const connection = Object.keys(wires.get(node.name) ?? { main: [] })[0]!;
		if (kind === undefined) {
			const [copy, by] = replaceNode(own, connection, isFork(node.name) ? undefined : pinned);
			if (by !== undefined) note(by);
			if (isMadeUp(by)) madeUp.push(node.name);
			return [apart(copy, id)];
		}
		const why = node.name === trigger ? undefined : whyNotStarted(exported, node);
		if (why !== undefined || kind.kind === 'none') {
			note(`not started: ${why}`);
			// n8n starts these itself. Others may ask whether a trigger has run.
			if ([CALLED, ON_ERROR].includes(node.type)) return [node];
			return [{ ...idle(node), type: `${BASE}noOp`, typeVersion: 1, parameters: {} }];
		}
		const first = pinned?.[0] ?? {};
		const json = {
			...(isLoggedIn(node) && { user: USER }),
			...('json' in first ? (first.json as object) : first),
		} as Start['pinned'];
		if (pinned === undefined && kind.isComplete !== true) madeUp.push(node.name);
		const { kind: startKind } = kind;
		const start = { ...kind, kind: startKind, isLast: node.name === trigger };
		if (startKind !== 'webhook' || node.type === WEBHOOK) {
			starts.push({ ...start, pinned: json, node: opened(own, startKind) });
			if (node.type === WEBHOOK && json['body'] === undefined) note(WITHOUT_BODY);
			return [starts.at(-1)!.node];
		}
		const as = { name: `Start of ${node.name}`, type: WEBHOOK, typeVersion: 2.1 };
		const begin = { ...opened(own, 'webhook'), ...as };
		starts.push({ ...start, pinned: {}, node: begin });
		begins[begin.name] = { main: [[{ node: node.name, type: 'main', index: 0 }]] };
		note(describeStart(kind, pinned));
		const parameters = stub(pinned ?? [kind.gives ?? { timestamp: new Date().toISOString() }]);
		return [begin, { ...idle(node), type: `${BASE}code`, typeVersion: 2, parameters }];
	});
	const kept = [...wires].filter(([name]) => copied.some((node) => node.name === name));
	const connections = { ...Object.fromEntries(kept), ...begins };
	const settings = Object.fromEntries(
		SETTINGS.flatMap((name) => {
			const value = exported.settings?.[name];
			return value === undefined ? [] : [[name, value]];
		}),
	);
	const name = `${exported.name.slice(0, NAME_LENGTH - id.length - 3)} (${id})`;
	return {
		workflow: { name, nodes: copied, connections, settings },
		starts: starts.sort((a, b) => Number(a.isLast) - Number(b.isLast) || a.rank - b.rank),
		replaced,
		madeUp,
	};
}

/** Whether a chat says who has logged in. */
const isLoggedIn = ({ parameters, typeVersion }: INode) =>
	parameters['authentication'] === 'n8nUserAuth' &&
	(parameters['includeUserInOutput'] ?? typeVersion >= 1.5) === true;

/** A node that is no trigger any more. */
const idle = ({ credentials, webhookId, ...node }: INode) => node;

function describeStart({ isComplete, gives }: TriggerKind, pinned: Pinned): string {
	if (pinned) return 'a start with its pinned data';
	if (isComplete) return 'a start';
	return `a start with ${gives ? 'a made-up item' : 'no data'}: pin data to it`;
}

/** A trigger that answers requests without a password, at a path of its own. */
function opened({ credentials, ...node }: INode, kind: Start['kind']): INode {
	const path = randomUUID();
	const parameters = {
		...(kind === 'webhook' && node.type !== WEBHOOK ? {} : node.parameters),
		authentication: 'none',
		...(kind === 'chat' ? { public: true } : { path }),
		// With several methods each has an output of its own.
		...(kind === 'webhook' && !node.parameters['multipleMethods'] && { httpMethod: 'POST' }),
	} as INode['parameters'];
	return { ...node, id: path, webhookId: path, parameters };
}

/** Parameters that name what the copies in one n8n would share. */
interface Separated {
	readonly tableName?: string;
	readonly dataTableId?: { readonly value: string };
	readonly options?: { readonly idempotencyKey?: unknown };
}

/** Beginning of the names of the tables that the nodes of this package write, in a copy as well. */
const LEDGER = 'agent_video_';

/** Gives a node the credential, and tables and keys of its own: the copies in one n8n share a project. */
function apart(node: INode, id: string): INode {
	const { tableName, dataTableId: table, options } = node.parameters as Separated;
	const key = options?.idempotencyKey;
	const parameters = {
		...node.parameters,
		...(tableName && { tableName: `${tableName}_${id}` }),
		...(table &&
			!table.value.startsWith(LEDGER) && {
				dataTableId: { ...table, value: `${table.value}_${id}` },
			}),
		...(typeof key === 'string' && { options: { ...options, idempotencyKey: keyOf(key, id) } }),
	} as INode['parameters'];
	const own = isOwn(node) && { credentials: { agentVideoApi: { id: '', name: id } } };
	return { ...node, parameters, ...own };
}

/** An idempotency key of one copy. An expression that gives nothing still does. */
function keyOf(key: string, id: string): string {
	const [, expression] = /^=\{\{((?:(?!\}\}).)*)\}\}$/s.exec(key) ?? [];
	if (expression !== undefined)
		return `={{ ((key) => (key ?? '') === '' ? key : '${id} ' + key)(${expression}) }}`;
	return key.startsWith('=') ? `=${id} ${key.slice(1)}` : `${id} ${key}`;
}

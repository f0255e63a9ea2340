import { randomUUID } from 'node:crypto';

import type { INode } from 'n8n-workflow';

import type { Workflow } from '../n8n/workflow';
import { BASE, isOwn, LANGCHAIN, replaceNode, stub, type Replacement } from './replacements';

/** A workflow as n8n exports it, with the items that a person has pinned to nodes. */
export type ExportedWorkflow = Workflow & {
	readonly pinData?: Readonly<Record<string, readonly object[]>>;
};

/** How the copy is started: by a request to one of its nodes. */
export interface Start {
	readonly kind: 'webhook' | 'chat' | 'form';
	readonly node: INode;
	/** Whether a person starts it, who means a second start. A schedule or a webhook may repeat one. */
	readonly byPerson: boolean;
	/** What is pinned to the node, such as the message of a chat. */
	readonly pinned: Readonly<Record<string, unknown>>;
}

/** What n8n runs in place of a workflow. */
export interface Copy {
	readonly workflow: Workflow;
	/** In order; a scenario is about the last one. */
	readonly starts: readonly Start[];
	readonly replaced: readonly Replacement[];
}

/** How triggers are started. Those of the lowest rank are, and a schedule after those of rank 0. */
type TriggerKind = Pick<Start, 'kind' | 'byPerson'> & { readonly rank: number };

const WEBHOOK = `${BASE}webhook`;
const CALLED = `${BASE}executeWorkflowTrigger`;
const SCHEDULE_RANK = 1;
const TRIGGERS: Readonly<Record<string, TriggerKind>> = {
	[`${BASE}formTrigger`]: { kind: 'form', byPerson: true, rank: 0 },
	[`${LANGCHAIN}chatTrigger`]: { kind: 'chat', byPerson: true, rank: 0 },
	[WEBHOOK]: { kind: 'webhook', byPerson: false, rank: 0 },
	[`${BASE}scheduleTrigger`]: { kind: 'webhook', byPerson: false, rank: SCHEDULE_RANK },
	[`${BASE}manualTrigger`]: { kind: 'webhook', byPerson: true, rank: 2 },
	[CALLED]: { kind: 'webhook', byPerson: false, rank: 3 },
	[`${BASE}errorTrigger`]: { kind: 'webhook', byPerson: false, rank: 4 },
};

/** Undefined for a node that is no trigger. Any other trigger is an event of another service. */
function kindOf({ type, disabled }: INode): TriggerKind | undefined {
	if (disabled === true) return undefined;
	if (/trigger$/i.test(type))
		return TRIGGERS[type] ?? { kind: 'webhook', byPerson: false, rank: 0 };
	return TRIGGERS[type];
}

/**
 * Makes the copy that is run: its own nodes get a credential for the emulator, and every node that would need another
 * one or leave the machine is replaced.
 *
 * @param id Name of the credential. It also tells copies apart that run in one n8n: their tables and keys must not meet.
 * @throws Error if nothing starts the workflow.
 */
export function copyWorkflow(exported: ExportedWorkflow, id: string): Copy {
	const nodes = exported.nodes.filter(({ type }) => type !== `${BASE}stickyNote`);
	const ranks = nodes.flatMap((node) => kindOf(node)?.rank ?? []);
	if (ranks.length === 0) throw new Error(`"${exported.name}" has no trigger`);
	const isStarted = (rank: number) => rank === Math.min(...ranks) || rank === SCHEDULE_RANK;

	const begins: Record<string, unknown> = {};
	const starts: (Start & { readonly rank: number })[] = [];
	const replaced: Replacement[] = [];
	const copied = nodes.flatMap((node): readonly INode[] => {
		const kind = kindOf(node);
		const pinned = exported.pinData?.[node.name];
		const own = { ...node, ...(node.webhookId && { webhookId: randomUUID() }) };
		const connection = Object.keys(exported.connections[node.name] ?? { main: [] })[0]!;
		if (kind === undefined) {
			const [copy, by] = replaceNode(own, connection, pinned);
			if (by !== undefined) replaced.push({ node: node.name, type: node.type, by });
			return [apart(copy, id)];
		}
		if (!isStarted(kind.rank)) {
			return node.type === CALLED ? [node] : [];
		}
		const first = pinned?.[0] ?? {};
		const json = ('json' in first ? first.json : first) as Start['pinned'];
		if (kind.kind !== 'webhook' || node.type === WEBHOOK) {
			starts.push({ ...kind, pinned: json, node: opened(own, kind.kind) });
			return [starts.at(-1)!.node];
		}
		const begin = {
			...opened(own, 'webhook'),
			name: `Start of ${node.name}`,
			type: WEBHOOK,
			typeVersion: 2.1,
		};
		starts.push({ ...kind, pinned: {}, node: begin });
		begins[begin.name] = { main: [[{ node: node.name, type: 'main', index: 0 }]] };
		replaced.push({
			node: node.name,
			type: node.type,
			by: pinned ? 'a start with its pinned data' : 'a start',
		});
		const { credentials, ...rest } = node;
		const parameters = stub(pinned ?? [{ timestamp: new Date().toISOString() }]);
		return [begin, { ...rest, type: `${BASE}code`, typeVersion: 2, parameters }];
	});
	const kept = Object.entries(exported.connections).filter(([name]) =>
		copied.some((node) => node.name === name),
	);
	const connections = { ...Object.fromEntries(kept), ...begins };
	const settings = { executionOrder: exported.settings?.['executionOrder'] ?? 'v1' };
	return {
		workflow: { name: `${exported.name} (${id})`, nodes: copied, connections, settings },
		starts: starts.sort((a, b) => a.rank - b.rank),
		replaced,
	};
}

/** A trigger that answers requests without a password, at a path of its own. */
function opened({ credentials, ...node }: INode, kind: Start['kind']): INode {
	const path = randomUUID();
	const parameters = {
		...(kind === 'webhook' && node.type !== WEBHOOK ? {} : node.parameters),
		authentication: 'none',
		...(kind === 'chat' ? { public: true } : { path }),
		...(kind === 'webhook' && { httpMethod: 'POST' }),
	} as INode['parameters'];
	return { ...node, id: path, webhookId: path, parameters };
}

/** Gives a node the credential, and tables and keys of its own: the copies in one n8n share a project. */
function apart(node: INode, id: string): INode {
	const { tableName, dataTableId, options } = node.parameters as Record<
		string,
		object | undefined
	>;
	const key = (options as { idempotencyKey?: unknown } | undefined)?.idempotencyKey;
	const table = (dataTableId as { value?: unknown } | undefined)?.value;
	const parameters = {
		...node.parameters,
		...(tableName && { tableName: `${String(tableName)}_${id}` }),
		...(dataTableId && { dataTableId: { ...dataTableId, value: `${String(table)}_${id}` } }),
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

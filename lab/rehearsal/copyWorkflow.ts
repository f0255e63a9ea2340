import { randomUUID } from 'node:crypto';

import type { INode } from 'n8n-workflow';

import type { ExportedWorkflow, Workflow } from '../n8n/workflow';
import { BASE, isOwn, replaceNode, stub, type Replacement } from './replacements';
import { NODES, type TriggerKind } from './tables';

/** How the copy is started: by a request to one of its nodes. */
export interface Start extends TriggerKind {
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
}

const WEBHOOK = `${BASE}webhook`;
const CALLED = `${BASE}executeWorkflowTrigger`;
const WITHOUT_BODY = 'a request without a body: pin data to the trigger, and its body is sent';
const { triggers: TRIGGERS } = NODES;

/** Undefined for a node that is no trigger. */
const kindOf = ({ type, disabled }: INode): TriggerKind | undefined =>
	disabled === true
		? undefined
		: (TRIGGERS[type] ?? (/trigger$/i.test(type) ? TRIGGERS[WEBHOOK] : undefined));

/**
 * Makes the copy that is run: its own nodes get a credential for the emulator, and every node that would need another
 * one or leave the machine is replaced.
 *
 * @param id Name of the credential. It also tells copies apart that run in one n8n: their tables and keys must not meet.
 * @throws Error if nothing starts the workflow.
 */
export function copyWorkflow(exported: ExportedWorkflow, id: string): Copy {
	const nodes = exported.nodes.filter(({ type }) => type !== `${BASE}stickyNote`);
	// A node may have the name of a prototype.
	const pinData = new Map(Object.entries(exported.pinData ?? {}));
	const wires = new Map(Object.entries(exported.connections));
	const ranks = nodes.flatMap((node) => kindOf(node)?.rank ?? []);
	if (ranks.length === 0) throw new Error(`"${exported.name}" has no trigger`);
	const started = [Math.min(...ranks), TRIGGERS[`${BASE}scheduleTrigger`]!.rank];

	const begins: Record<string, unknown> = {};
	const starts: Start[] = [];
	const replaced: Replacement[] = [];
	const copied = nodes.flatMap((node): readonly INode[] => {
		const note = (by: string) => replaced.push({ node: node.name, type: node.type, by });
		const kind = kindOf(node);
		const pinned = pinData.get(node.name);
		const own = { ...node, ...(node.webhookId && { webhookId: randomUUID() }) };
		const connection = Object.keys(wires.get(node.name) ?? { main: [] })[0]!;
		if (kind === undefined) {
			const [copy, by] = replaceNode(own, connection, pinned);
			if (by !== undefined) note(by);
			return [apart(copy, id)];
		}
		if (!started.includes(kind.rank)) return node.type === CALLED ? [node] : [];
		const first = pinned?.[0] ?? {};
		const json = ('json' in first ? first.json : first) as Start['pinned'];
		if (kind.kind !== 'webhook' || node.type === WEBHOOK) {
			starts.push({ ...kind, pinned: json, node: opened(own, kind.kind) });
			if (node.type === WEBHOOK && json['body'] === undefined) note(WITHOUT_BODY);
			return [starts.at(-1)!.node];
		}
		const as = { name: `Start of ${node.name}`, type: WEBHOOK, typeVersion: 2.1 };
		const begin = { ...opened(own, 'webhook'), ...as };
		starts.push({ ...kind, pinned: {}, node: begin });
		begins[begin.name] = { main: [[{ node: node.name, type: 'main', index: 0 }]] };
		note(pinned ? 'a start with its pinned data' : 'a start');
		const { credentials, ...rest } = node;
		const parameters = stub(pinned ?? [kind.gives ?? { timestamp: new Date().toISOString() }]);
		return [begin, { ...rest, type: `${BASE}code`, typeVersion: 2, parameters }];
	});
	const kept = [...wires].filter(([name]) => copied.some((node) => node.name === name));
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

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import type * as N8nCore from 'n8n-core';
import type * as N8nWorkflow from 'n8n-workflow';
import type {
	EngineRequest,
	EngineResponse,
	IConnections,
	IDataObject,
	IExecuteData,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	INodeTypes,
	IRunExecutionData,
	IWorkflowExecuteAdditionalData,
	Workflow,
} from 'n8n-workflow';

import { N8N_HOME } from '../../lab/paths';

/** Folder whose node_modules has the n8n to look at: CONTRACT_N8N, or the one that the lab runs. */
const HOME = process.env['CONTRACT_N8N'] ?? N8N_HOME;
/** Where its packages are. */
export const MODULES = join(HOME, 'node_modules');

const requireFromN8n = createRequire(join(MODULES, 'n8n', 'package.json'));

/** A node's context with what its type does not declare. */
export type Context = IExecuteFunctions & {
	readonly runExecutionData: IRunExecutionData;
	readonly runIndex: number;
	readonly workflow: Workflow;
	readonly additionalData: IWorkflowExecuteAdditionalData;
};

/** What a node of a tiny workflow does. */
export type Work = (
	context: Context,
	response?: EngineResponse,
) => Outputs | EngineRequest | Promise<Outputs | EngineRequest>;

type Outputs = INodeExecutionData[][] | null;

/** A node of a tiny workflow: its work, and what is not the default. */
export type TinyNode = Partial<INode> & { readonly work?: Work };

/** A tiny workflow: a trigger named Start, then these nodes. */
export interface Flow {
	readonly nodes: Readonly<Record<string, Work | TinyNode>>;
	/** Connections where they are no chain: for each output the names of the next nodes; `Join#1` is its second input. */
	readonly wires?: Readonly<Record<string, readonly (readonly string[])[]>>;
	/** Types of the installed n8n beside the stubs. */
	readonly types?: Readonly<Record<string, INodeType>>;
	/** Connects the last node to the one before it as a tool. */
	readonly hasTool?: boolean;
	/** Items that Start gives. */
	readonly items?: readonly IDataObject[];
	/** What n8n's server hands to an execution. */
	readonly additional?: object;
}

/** What came of a tiny workflow. */
export interface Ran {
	readonly status: string;
	/** The nodes whose code ran, in their order, with each try. */
	readonly order: readonly string[];
	/** The JSON of the items of a node's last run, by output. */
	output(name: string): readonly (readonly IDataObject[])[];
	readonly error: string | undefined;
	/** What n8n keeps of the execution. */
	readonly data: IRunExecutionData;
	/** The static data of the workflow, which n8n saves if it has changed. */
	readonly staticData: IDataObject | undefined;
	/** Goes on with an execution that waits, from what n8n has saved of it. */
	resume(): Promise<Ran>;
}

/** How an n8n is imitated that lacks something: what is replaced in it. Without any it is the n8n that is installed. */
export interface Imitation {
	/** Members of a node's context. */
	readonly context?: (context: Context) => object;
	/** The items that n8n sees of a node. */
	readonly items?: (item: INodeExecutionData) => INodeExecutionData;
	/** What n8n saves of an execution that waits. */
	readonly saved?: (data: IRunExecutionData) => IRunExecutionData;
	/** What n8n's server hands to an execution. */
	readonly additional?: object;
	/** Modules, by path. */
	readonly modules?: Readonly<Record<string, (module: never) => object>>;
}

/** The n8n that the contract looks at. */
export interface InstalledN8n {
	readonly version: string;
	/** Whether it has this file or folder below node_modules. */
	readonly has: (path: string) => boolean;
	/** A module of it: a package, or a file below node_modules. */
	readonly load: <T>(path: string) => T;
	readonly run: (flow: Flow) => Promise<Ran>;
}

/** The version of the installed n8n. */
export const VERSION = (requireFromN8n('./package.json') as { version: string }).version;

/** Whether the installed n8n has this file or folder below node_modules. */
export function hasFile(path: string): boolean {
	return existsSync(join(MODULES, path));
}

function loadInstalled(path: string): object {
	requireFromN8n('reflect-metadata');
	// The `exports` of a package hide its files, but not from an absolute path.
	return requireFromN8n(/\.js(on)?$/.test(path) ? join(MODULES, path) : path) as object;
}

/**
 * The installed n8n, or an imitation of one that lacks something.
 *
 * @param engine The engine that runs tiny workflows: 2 is n8n's engine 2.0, of which the part runs that runs a node.
 */
export function installedN8n(imitation: Imitation = {}, engine: 1 | 2 = 1): InstalledN8n {
	const load = <T>(path: string): T => {
		const change = imitation.modules?.[path];
		const module = loadInstalled(path);
		return (change?.(module as never) ?? module) as T;
	};
	return {
		version: VERSION,
		has: hasFile,
		load,
		run: async (flow) => {
			const order: string[] = [];
			const parts = { ...partsOf(flow, imitation, load, order), order, imitation, load };
			return await (engine === 1 ? runClassic(parts) : runInSteps(parts));
		},
	};
}

type Load = InstalledN8n['load'];

type Parts = ReturnType<typeof partsOf> & {
	readonly order: string[];
	readonly imitation: Imitation;
	readonly load: Load;
};

const STUB = 'test.stub';
const TOOL = 'test.tool';
const TRIGGER = 'n8n-nodes-base.manualTrigger';

/** The description of a node type, where it matters that there is one. */
export const description = (changes: object = {}) =>
	({
		...{ displayName: 'Video', name: 'video', group: ['transform'], version: 1 },
		...{ description: '', defaults: {}, inputs: ['main'], outputs: ['main'], properties: [] },
		...changes,
	}) as unknown as INodeTypeDescription;

function partsOf(flow: Flow, imitation: Imitation, load: Load, order: string[]) {
	const works = new Map<string, Work>();
	const names = ['Start', ...Object.keys(flow.nodes)];
	const nodes = names.map((name): INode => {
		const given = flow.nodes[name] ?? { type: TRIGGER };
		const { work = () => [[]], ...rest } =
			typeof given === 'function' ? { work: given } : given;
		works.set(name, work);
		const type = flow.hasTool === true && name === names.at(-1) ? TOOL : STUB;
		const place = { id: name, name, typeVersion: 1, position: [0, 0] as [number, number] };
		return { type, parameters: {}, ...place, ...rest };
	});
	const items = (flow.items ?? [{}]).map((json): INodeExecutionData => ({ json }));
	const stub: INodeType = {
		description: {
			...description({ name: STUB, outputs: ['main', 'main'] }),
			credentials: [{ name: 'agentVideoApi' }],
		},
		async execute(this: IExecuteFunctions, response?: EngineResponse) {
			const context = this as Context;
			const { name } = context.getNode();
			order.push(name);
			const seen = imitation.context?.(context) ?? {};
			const own = Object.defineProperties(
				Object.create(context) as Context,
				Object.getOwnPropertyDescriptors(seen),
			);
			// What is set on the context has to reach n8n.
			const target = imitation.context === undefined ? context : own;
			const given = await works.get(name)!(target, response);
			const { items: change = (item) => item } = imitation;
			return Array.isArray(given) ? given.map((output) => output.map(change)) : given;
		},
	};
	const trigger: INodeType = {
		description: {
			...stub.description,
			...{ name: TRIGGER, group: ['trigger'], inputs: [], outputs: ['main'] },
		},
		execute: () => Promise.resolve([items]),
	};
	const tool: INodeType = {
		...stub,
		description: { ...stub.description, name: TOOL, inputs: [], outputs: ['ai_tool'] },
	};
	const types: Readonly<Record<string, INodeType>> = {
		...{ [STUB]: stub, [TRIGGER]: trigger, [TOOL]: tool },
		...flow.types,
	};
	const find = (name: string) => types[name]!;
	const nodeTypes: INodeTypes = {
		getByName: find,
		getByNameAndVersion: find,
		getKnownTypes: () => ({}),
	};
	return { nodes, connections: connectionsOf(flow, names), nodeTypes, items, flow };
}

function connectionsOf({ wires, hasTool = false }: Flow, names: readonly string[]): IConnections {
	const main = hasTool ? names.slice(0, -1) : names;
	const chain = main.slice(1).map((name, index) => [main[index]!, [[name]]] as const);
	const drawn = Object.entries({ Start: [[names[1]!]], ...wires });
	const connections: IConnections = {};
	for (const [name, outputs] of wires === undefined ? chain : drawn) {
		const targets = outputs.map((each) =>
			each.map((target) => {
				const [node = '', index = 0] = target.split('#');
				return { node, type: 'main' as const, index: Number(index) };
			}),
		);
		connections[name] = { main: targets };
	}
	if (hasTool) {
		const target = { node: main.at(-1)!, type: 'ai_tool' as const, index: 0 };
		connections[names.at(-1)!] = { ai_tool: [[target]] };
	}
	return connections;
}

/** What n8n's server hands to an execution, as far as these workflows need it. */
function additionalData({ load, flow, imitation }: Parts): IWorkflowExecuteAdditionalData {
	const { ExecutionLifecycleHooks } = load<typeof N8nCore>('n8n-core');
	return {
		hooks: new ExecutionLifecycleHooks('manual', '1', { nodes: [] } as never),
		executionId: '1',
		currentNodeExecutionIndex: 0,
		variables: {},
		instanceBaseUrl: 'http://localhost/',
		restApiUrl: 'http://localhost/rest',
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
		...flow.additional,
		...imitation.additional,
	} as unknown as IWorkflowExecuteAdditionalData;
}

function workflowOf({ load, nodes, connections, nodeTypes }: Parts): Workflow {
	const { Workflow: Class } = load<typeof N8nWorkflow>('n8n-workflow');
	const settings = { executionOrder: 'v1' } as const;
	const drawn = { nodes: structuredClone(nodes), connections, nodeTypes, settings };
	return new Class({ id: 'flow', active: false, ...drawn });
}

/** What an n8n has of an execution that begins with these runs. */
export const newExecution = ({ load }: Pick<InstalledN8n, 'load'>, due: IExecuteData[]) =>
	load<typeof N8nWorkflow>('n8n-workflow').createRunExecutionData({
		executionData: {
			...{ contextData: {}, metadata: {}, waitingExecution: {} },
			...{ waitingExecutionSource: {}, nodeExecutionStack: due },
		},
	});

async function runClassic(parts: Parts, saved?: IRunExecutionData): Promise<Ran> {
	const { load, nodes, items, imitation } = parts;
	const workflow = workflowOf(parts);
	const start = { node: nodes[0]!, data: { main: [items] }, source: null };
	const data = saved ?? newExecution(parts, [start]);
	const { WorkflowExecute } = load<typeof N8nCore>('n8n-core');
	const engine = new WorkflowExecute(additionalData(parts), 'manual', data);
	const run = await engine.processRunExecutionData(workflow);
	return ranOf(parts, {
		status: run.status,
		data: run.data,
		error: run.data.resultData.error?.message,
		staticData: workflow.staticData,
		resume: async () => {
			// n8n keeps an execution as JSON.
			const kept = JSON.parse(JSON.stringify(run.data)) as IRunExecutionData;
			return await runClassic(parts, imitation.saved?.(kept) ?? kept);
		},
	});
}

function ranOf({ order }: Parts, ran: Omit<Ran, 'order' | 'output'>): Ran {
	const output = (name: string) =>
		(ran.data.resultData.runData[name]?.at(-1)?.data?.['main'] ?? []).map((each) =>
			(each ?? []).map(({ json }) => json),
		);
	return { ...ran, order, output };
}

/** The part of n8n's engine 2.0 that converts a workflow and runs one node of it. */
interface Compatibility {
	readonly V1WorkflowConverter: new () => { convert(workflow: object): Graph };
	readonly V1StepExecutor: new (dependencies: object) => {
		execute(request: object): Promise<{ outputs: (INodeExecutionData[] | null)[] }>;
	};
	toV1RunExecutionData(graph: Graph, steps: readonly object[]): IRunExecutionData;
}

interface Graph {
	readonly nodes: readonly {
		readonly id: string;
		readonly name: string;
		readonly type: string;
	}[];
	readonly edges: readonly {
		readonly from: string;
		readonly to: string;
		readonly outputIndex: number;
		readonly inputIndex: number;
	}[];
}

/** Where n8n has its engine 2.0. */
export const ENGINE_2 = '@n8n/node-engine-compatibility';

/** Runs a workflow as engine 2.0 does: each node as a step, of which n8n keeps the outputs alone. */
async function runInSteps(parts: Parts): Promise<Ran> {
	const { load, nodes, connections, nodeTypes, items } = parts;
	const engine = load<Compatibility>(ENGINE_2);
	const end = (ran: Pick<Ran, 'status' | 'error' | 'data'>) =>
		ranOf(parts, {
			...ran,
			staticData: undefined,
			resume: () => Promise.reject(new Error('engine 2.0 keeps nothing to resume')),
		});
	const fail = (error: unknown, data: Partial<Ran['data']> = { resultData: { runData: {} } }) =>
		end({ status: 'error', error: (error as Error).message, data: data as Ran['data'] });
	let graph: Graph;
	try {
		graph = new engine.V1WorkflowConverter().convert({ id: 'flow', nodes, connections });
	} catch (error) {
		return fail(error);
	}
	const outputs: Record<string, Record<number, (INodeExecutionData[] | null)[]>> = {};
	const steps: object[] = [];
	const executor = new engine.V1StepExecutor({
		nodeTypes,
		// As engine-v2.runtime.js does: no hooks, and no time limit.
		additionalDataFactory: () =>
			Promise.resolve({
				...additionalData(parts),
				...{ hooks: undefined, executionTimeoutTimestamp: undefined },
			}),
		loadStepData: () => Promise.resolve({ graph, outputsByNode: structuredClone(outputs) }),
	});
	// The isolate of expressions is n8n's server's.
	Object.assign(executor, { validateExpressionEngine: () => undefined });
	for (const [index, node] of graph.nodes.entries()) {
		const inputs: (INodeExecutionData[] | null)[] = [];
		for (const { from, to, outputIndex, inputIndex } of graph.edges)
			if (to === node.id) inputs[inputIndex] = outputs[from]?.[0]?.[outputIndex] ?? null;
		const at = new Date(index).toISOString();
		const step = { nodeId: node.id, iteration: 0, createdAt: at, updatedAt: at };
		if (node.type === 'trigger') outputs[node.id] = { 0: [items] };
		else if (inputs.some((each) => each !== null))
			try {
				const context = {
					...{ executionId: '1', workflowId: 'flow', iteration: 0 },
					callerContext: { hostMode: 'manual' },
				};
				const done = await executor.execute({ node, inputs, context });
				outputs[node.id] = { 0: done.outputs };
			} catch (error) {
				const { name, message } = error as Error;
				steps.push({
					...step,
					status: 'failed',
					outputs: null,
					error: { name, message },
				});
				return fail(error, engine.toV1RunExecutionData(graph, steps));
			}
		else continue;
		steps.push({ ...step, status: 'completed', outputs: outputs[node.id]![0], error: null });
	}
	const data = engine.toV1RunExecutionData(graph, steps);
	return end({ status: 'success', error: undefined, data });
}

import 'reflect-metadata';
import { randomUUID } from 'node:crypto';

import {
	ExecuteContext,
	ExecutionLifecycleHooks,
	SupplyDataContext,
	WorkflowExecute,
} from 'n8n-core';
import {
	createEmptyRunExecutionData,
	createRunExecutionData,
	Workflow,
	type EngineRequest,
	type EngineResponse,
	type IBinaryKeyData,
	type IConnections,
	type ICredentialDataDecryptedObject,
	type IDataObject,
	type IExecuteFunctions,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeType,
	type INodeTypes,
	type IRun,
	type IRunExecutionData,
	type ISupplyDataFunctions,
	type ITaskData,
	type StructuredChunk,
} from 'n8n-workflow';

import { AgentVideoApi } from '../../credentials/AgentVideoApi.credentials';
import { NODE_NAMES } from '../../scripts/nodePages';
import { dataTables, type DataTables } from './dataTables';
import { ModelCaller } from './ModelCaller';

const PREFIX = 'n8n-nodes-agent-video';
const NODE = 'Tested';
const STUB = 'test.stub';
const MODEL_CALLER = 'test.modelCaller';
const MEMORY = 'test.memory';
const TOOL = 'test.tool';

/** Loads a node of nodes/ at once, as an import of its class does. A bundler takes the path for a pattern. */
function packageType(name: string): readonly [type: string, node: INodeType] {
	// eslint-disable-next-line @typescript-eslint/no-require-imports -- `import` with a path is asynchronous
	const classes = require(`../../nodes/${name}/${name}.node.ts`) as Readonly<
		Record<string, new () => INodeType>
	>;
	const node = new classes[name]!();
	return [`${PREFIX}.${node.description.name}`, node];
}

/** The package's nodes by their type in workflows. */
export const NODE_TYPES: Readonly<Record<string, INodeType>> = {
	...Object.fromEntries(NODE_NAMES.map(packageType)),
	[MODEL_CALLER]: new ModelCaller(),
};

/** The environment of a workflow run. */
export interface EnvironmentOptions {
	/** The JSON of each input item of the first node. */
	readonly items?: readonly IDataObject[];
	/** The binary fields of each input item. */
	readonly binaries?: readonly IBinaryKeyData[];
	readonly credential: {
		readonly baseUrl: string;
		readonly apiKey: string;
		/** Hosts whose files are trusted, separated by commas. */
		readonly fileHosts?: string;
	};
	/** Whether the trigger accepts a streamed response, as a chat or webhook does. */
	readonly streaming?: boolean;
	/** Whether the workflow runs in the editor, also where it has a chat, whose page a visitor has open otherwise. */
	readonly inEditor?: boolean;
	/** Which execution this is, so that a later run can play its retry. A retry has the token of the execution it repeats. */
	readonly execution?: {
		readonly id: string;
		readonly token: string;
		readonly isRetry?: boolean;
		/** Whether another execution has called it as a sub-workflow. */
		readonly isCalled?: boolean;
		/** When the time limit of the workflow is over, in milliseconds since the epoch. */
		readonly timeLimitMs?: number;
	};
	/** The data tables of n8n. */
	readonly tables?: DataTables;
	/** A chat model node, and the node that it is connected to. */
	readonly model?: { readonly name: string; readonly of: string };
	/** A memory node, and the node that it is connected to. */
	readonly memory?: { readonly name: string; readonly of: string };
	/** Tool nodes, see `toolNode`, and the node, or a list of them, that each is connected to. */
	readonly tools?: Readonly<Record<string, string>>;
	/** The node on which "Execute step" was clicked. */
	readonly stepOf?: string;
	/** The order in which the nodes of the workflow run; v1 by default. */
	readonly executionOrder?: 'v0' | 'v1';
	/** The timezone of the workflow. */
	readonly timezone?: string;
	/** Receives a function that cancels the running execution. */
	readonly onStart?: (cancel: () => void) => void;
	/** Receives each chunk that a node sends to the chat. */
	readonly onChunk?: (chunk: StructuredChunk) => void;
}

export interface RunOptions extends EnvironmentOptions {
	readonly parameters?: IDataObject;
	readonly onError?: INode['onError'];
	readonly retryOnFail?: boolean;
	/** Whether a chat model is called for a stream. */
	readonly stream?: boolean;
}

export interface RunResult {
	readonly status: string;
	/** Items of each output. */
	readonly outputs: readonly (readonly INodeExecutionData[])[];
	readonly error:
		(Error & { readonly description?: string; readonly httpCode?: string }) | undefined;
	readonly chunks: readonly StructuredChunk[];
	/** Messages below the outputs of all nodes. */
	readonly hints: readonly string[];
	readonly run: IRun;
	/** What n8n would save with the workflow after a production execution. */
	readonly staticData: IDataObject;
	/**
	 * Resumes a waiting execution from its saved data, as another process would; or retries a failed one.
	 *
	 * @param correct Changes a node in the workflow that is saved by then.
	 */
	resume(
		execution?: EnvironmentOptions['execution'],
		correct?: (node: INode) => INode,
	): Promise<RunResult>;
}

/**
 * Runs one node of the package in n8n's execution engine, with its credential, expressions and HTTP helper. A chat model named
 * Model is called by the node Chain. The output Failed of Wait for Video leads to a node: otherwise a failed video would fail the
 * node.
 */
export async function runNode(name: string, options: RunOptions): Promise<RunResult> {
	if (name === 'agentVideoChatModel') {
		const { parameters = {} } = options;
		const chain = [
			packageNode('Model', name, { parameters }),
			modelCallerNode('Chain', options),
		];
		const model = { name: 'Model', of: 'Chain' };
		return await runWorkflow(chain, {}, 'Chain', { ...options, model });
	}
	const nodes = [packageNode(NODE, name, options), stubNode('Next', (items) => items)];
	const wires = name === 'waitForVideo' ? { [NODE]: [[], ['Next']] } : {};
	return await runWorkflow(nodes, wires, NODE, options);
}

/** An agent whose expression declares no tool only answers. */
const ANSWERS_ONLY = { toolSource: 'json', toolsJson: '={{ [] }}' };

/** Builds a node of this package for a workflow: an agent that only answers unless its parameters have tools. */
export function packageNode(
	name: string,
	type: string,
	options: Pick<RunOptions, 'parameters' | 'onError' | 'retryOnFail'>,
): INode {
	const { parameters = {}, onError, retryOnFail } = options;
	const isAlone = type === 'functionCallingAgent' && !('tools' in parameters);
	return {
		id: name,
		name,
		type: `${PREFIX}.${type}`,
		typeVersion: 1,
		position: [0, 0],
		parameters: (isAlone
			? { ...ANSWERS_ONLY, ...parameters }
			: parameters) as INode['parameters'],
		credentials: { agentVideoApi: { id: '1', name: 'Agent Video API' } },
		...(onError === undefined ? {} : { onError }),
		// n8n replaces 0 with its default of one second.
		...(retryOnFail === undefined ? {} : { retryOnFail, waitBetweenTries: 1 }),
	};
}

/** Builds a node that runs a function; a flat list of items goes to the first output. */
export function stubNode(name: string, work: StubWork): INode & { readonly work: StubWork } {
	return { id: name, name, type: STUB, typeVersion: 1, position: [0, 0], parameters: {}, work };
}

/** Builds a tool node that runs a function. A stub whose parameter `tool` names it asks n8n to run it first, as AI Agent does, with its parameter `input`. */
export function toolNode(name: string, work: StubWork): INode & { readonly work: StubWork } {
	return { ...stubNode(name, work), type: TOOL };
}

/** Builds a node that calls its connected chat model, streamed or not. */
export function modelCallerNode(
	name: string,
	{ stream = false, onError }: Pick<RunOptions, 'stream' | 'onError'>,
): INode {
	return {
		...stubNode(name, (items) => items),
		type: MODEL_CALLER,
		parameters: { stream },
		...(onError === undefined ? {} : { onError }),
	};
}

/** Cancels the execution that is run with its `onStart`. */
export function canceler() {
	let cancelRun: () => void = () => undefined;
	return {
		onStart: (cancel: () => void) => {
			cancelRun = cancel;
		},
		cancel: () => {
			cancelRun();
		},
	};
}

/** Builds a memory node that supplies what a function returns. */
export function memoryNode(name: string, supply: () => object): INode {
	return Object.assign(
		stubNode(name, (items) => items),
		{ type: MEMORY, supply },
	);
}

/** Maps the input items of a stub node, and what its parameter `operation` is for the first one, to its output. */
export type StubWork = (
	items: INodeExecutionData[],
	read?: () => unknown,
) => INodeExecutionData[] | INodeExecutionData[][];

/** Connections: for each output of a node, the names of the next nodes; `Merge#1` is the second input of Merge. */
export type Wires = Readonly<Record<string, readonly (readonly string[])[]>>;

/**
 * Runs a workflow in n8n's execution engine.
 *
 * @param start Name of the node that receives the items.
 * @returns The output of the last run of `start`; those of the other nodes are in `run`.
 */
export async function runWorkflow(
	nodes: readonly INode[],
	wires: Wires,
	start: string,
	options: EnvironmentOptions,
): Promise<RunResult> {
	const { token, isCalled = false } = options.execution ?? {};
	const begin = createRunExecutionData({
		...(token !== undefined && { resumeToken: token }),
		...(isCalled && { parentExecution: { executionId: '0', workflowId: 'caller' } }),
		executionData: {
			contextData: {},
			metadata: {},
			waitingExecution: {},
			waitingExecutionSource: {},
			nodeExecutionStack: [
				{
					node: nodes.find(({ name }) => name === start)!,
					data: { main: [inputItems(options)] },
					source: null,
				},
			],
		},
		...(options.stepOf === undefined
			? {}
			: { startData: { destinationNode: { nodeName: options.stepOf, mode: 'inclusive' } } }),
	});
	return await runExecution({ nodes, wires, start, options }, begin);
}

/**
 * Runs one node as a tool of n8n's own Agents, which have no workflow and no execution (n8n 2.41.1,
 * ephemeral-node-executor.js); or of its MCP trigger, which has the workflow alone (webhook-context.js).
 *
 * @returns The items of its first output. Throws what the node throws.
 */
export async function runWithoutWorkflow(
	name: string,
	options: RunOptions,
	ofTrigger?: { readonly id: string },
): Promise<readonly INodeExecutionData[]> {
	const { id = randomUUID() } = ofTrigger ?? {};
	const node = { ...packageNode(NODE, `${name}Tool`, options), id };
	const workflow = drawWorkflow([node], {}, { id: undefined, ...ofTrigger });
	const isTool = ofTrigger !== undefined;
	const execution = createEmptyRunExecutionData();
	return (await executeAlone(workflow, node, execution, options, isTool))[0]!;
}

/**
 * Runs one node of a workflow as a step of n8n's engine 2.0: its stack is read by nothing, and it has no hooks and no settings
 * (n8n 2.41.1, @n8n/node-engine-compatibility/dist/v1-adapters.js).
 *
 * @returns Its outputs. Throws what the node throws.
 */
export async function runAsStep(
	nodes: readonly INode[],
	wires: Wires,
	name: string,
	options: EnvironmentOptions,
): Promise<readonly INodeExecutionData[][]> {
	const workflow = drawWorkflow(nodes, connections(wires));
	return await executeAlone(workflow, workflow.nodes[name]!, createRunExecutionData(), options);
}

/**
 * Runs a node without n8n's loop over the stack, and so without hooks.
 *
 * @param isTool Whether n8n calls it as a tool in the run of another node: it has no main input then (n8n 2.41.1,
 *   get-input-connection-data.js).
 */
async function executeAlone(
	workflow: Workflow,
	node: INode,
	execution: IRunExecutionData,
	options: EnvironmentOptions,
	isTool = false,
): Promise<INodeExecutionData[][]> {
	const data = { main: [inputItems(options)] };
	const { executionId: _id, hooks: _hooks, ...additional } = additionalData(options, []);
	const begin = [workflow, node, additional as never, 'internal', execution, 0] as const;
	const [items] = data.main;
	const source = { node, data, source: null };
	const called = { ai_tool: data.main };
	const context = isTool
		? new SupplyDataContext(...begin, items!, called, 'ai_tool', source, [])
		: new ExecuteContext(...begin, items!, data, source, []);
	const type = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
	return (await type.execute!.call(
		context as unknown as IExecuteFunctions,
	)) as INodeExecutionData[][];
}

interface Drawn {
	readonly nodes: readonly INode[];
	readonly wires: Wires;
	readonly start: string;
	readonly options: EnvironmentOptions;
}

/** How n8n has started an execution: for somebody who waits for it, in the editor, or as a retry. */
function modeOf({ nodes, start, options }: Drawn): 'retry' | 'webhook' | 'manual' {
	if (options.execution?.isRetry === true) return 'retry';
	const { type = '' } = nodes.find(({ name }) => name === start) ?? {};
	const isAwaited = options.streaming === true || /(chat|form)Trigger$|\.webhook$/.test(type);
	return isAwaited && options.inEditor !== true ? 'webhook' : 'manual';
}

async function runExecution(drawn: Drawn, data: IRunExecutionData): Promise<RunResult> {
	const { nodes, wires, start, options } = drawn;
	const { executionOrder = 'v1', timezone } = options;
	const all = { ...connections(wires), ...subNodeConnections(options) };
	const settings = { executionOrder, ...(timezone !== undefined && { timezone }) };
	const workflow = drawWorkflow(nodes, all, { settings });
	const chunks: StructuredChunk[] = [];
	// "Execute step" runs a part of what is drawn.
	const canvas = options.stepOf === undefined ? {} : { connections: connections(wires) };
	const engine = new WorkflowExecute(
		additionalData(options, chunks, canvas) as never,
		modeOf(drawn),
		data,
	);
	const running = engine.processRunExecutionData(workflow);
	options.onStart?.(() => {
		running.cancel();
	});
	const run = await running;
	const { runData, error } = run.data.resultData;
	return {
		status: run.status,
		outputs: itemsOf(runData[start]?.at(-1)),
		error: error as RunResult['error'],
		chunks,
		hints: Object.values(runData)
			.flat()
			.flatMap(({ hints = [] }) => hints.map(({ message }) => message)),
		run,
		staticData: workflow.staticData,
		resume: async (execution = options.execution, correct = (node) => node) => {
			const saved = JSON.parse(JSON.stringify(run.data)) as IRunExecutionData;
			if (execution?.isRetry === true) removeFailure(saved);
			const now = nodes.map(correct);
			const { nodeExecutionStack: stack = [] } = saved.executionData ?? {};
			for (const entry of execution?.isRetry === true ? stack : [])
				entry.node = now.find(({ name }) => name === entry.node.name)!;
			const more = { ...options, ...(execution && { execution }) };
			return await runExecution({ ...drawn, nodes: now, options: more }, saved);
		},
	};
}

function drawWorkflow(nodes: readonly INode[], wired: IConnections, more: object = {}): Workflow {
	const types = nodeTypes(nodes);
	const drawn = { nodes: [...nodes], connections: wired, nodeTypes: types };
	return new Workflow({ id: 'test', active: false, ...drawn, ...more });
}

/** Removes the run that failed, as n8n does before a retry. */
function removeFailure({ resultData }: IRunExecutionData): void {
	const { lastNodeExecuted = '', runData } = resultData;
	delete resultData.error;
	runData[lastNodeExecuted]?.pop();
}

function connections(wires: Wires): IConnections {
	return Object.fromEntries(
		Object.entries(wires).map(([name, outputs]) => [
			name,
			{
				main: outputs.map((targets) =>
					targets.map((target) => {
						const [node = '', index = 0] = target.split('#');
						return { node, type: 'main' as const, index: Number(index) };
					}),
				),
			},
		]),
	);
}

function subNodeConnections({ model, memory, tools = {} }: EnvironmentOptions): IConnections {
	const all = [
		...(model === undefined ? [] : [[model.name, model.of, 'ai_languageModel'] as const]),
		...(memory === undefined ? [] : [[memory.name, memory.of, 'ai_memory'] as const]),
		...Object.entries(tools).map(([name, of]) => [name, of, 'ai_tool'] as const),
	];
	return Object.fromEntries(
		all.map(([name, of, type]) => [
			name,
			{ [type]: [of.split(', ').map((node) => ({ node, type, index: 0 }))] },
		]),
	);
}

/** The items of all runs of a node, by output. */
export function allItems({ run }: RunResult, node: string): INodeExecutionData[][] {
	const outputs: INodeExecutionData[][] = [];
	for (const task of run.data.resultData.runData[node] ?? []) {
		itemsOf(task).forEach((items, output) => {
			(outputs[output] ??= []).push(...items);
		});
	}
	return outputs;
}

function itemsOf(task: ITaskData | undefined): INodeExecutionData[][] {
	return (task?.data?.['main'] ?? []).map((items) => items ?? []);
}

function inputItems({ items = [{}], binaries = [] }: EnvironmentOptions): INodeExecutionData[] {
	return items.map((json, index) => {
		const binary = binaries[index];
		return binary === undefined ? { json } : { json, binary };
	});
}

function nodeTypes(nodes: readonly INode[]): INodeTypes {
	const find = (name: string) => {
		// n8n gives a node that is used as a tool a type of its own. Stubs may have the types of n8n's own nodes.
		const isStub = name === STUB || name.startsWith('n8n-nodes-base.');
		const stub = stubType(nodes, name.endsWith('Trigger') ? 'trigger' : 'transform');
		if (name === TOOL) return asToolNode(stub);
		if (name === MEMORY) return memoryType(stub);
		const type = NODE_TYPES[name.replace(/Tool$/, '')] ?? (isStub ? stub : undefined);
		if (type === undefined) throw new Error(`No node type ${name}`);
		return name.endsWith('Tool') ? asTool(type) : type;
	};
	return { getByName: find, getByNameAndVersion: find, getKnownTypes: () => ({}) };
}

/** The tool variant that n8n derives from a node type. */
function asTool(type: INodeType): INodeType {
	const { description } = type;
	return Object.create(type, {
		description: { value: { ...description, name: `${description.name}Tool` } },
	}) as INodeType;
}

/** A stub as a memory node, which supplies what the function of `memoryNode` returns. */
function memoryType({ description }: INodeType): INodeType {
	return {
		description: { ...description, inputs: [], outputs: ['ai_memory'] },
		supplyData(this: ISupplyDataFunctions) {
			const node = this.getNode() as ReturnType<typeof memoryNode> & {
				readonly supply: () => object;
			};
			return Promise.resolve().then(() => ({ response: node.supply() }));
		},
	};
}

/** A stub as a tool node, as which n8n runs it. */
function asToolNode(stub: INodeType): INodeType {
	return {
		...stub,
		description: { ...stub.description, name: TOOL, inputs: [], outputs: ['ai_tool'] },
		supplyData(this: ISupplyDataFunctions) {
			const { name } = this.getNode();
			const schema = { type: 'object', properties: { city: { type: 'string' } } };
			const metadata = { sourceNodeName: name };
			return Promise.resolve({ response: { name, description: name, schema, metadata } });
		},
	};
}

function stubType(
	nodes: readonly (INode & { readonly work?: StubWork })[],
	group: 'trigger' | 'transform',
): INodeType {
	return {
		description: {
			displayName: 'Stub',
			name: STUB,
			group: [group],
			version: 1,
			description: '',
			defaults: { name: 'Stub' },
			inputs: ['main'],
			outputs: ['main', 'main'],
			// A stub can play a node that asks a person, or one with options.
			properties: [
				{ displayName: 'Operation', name: 'operation', type: 'string', default: '' },
				{ displayName: 'Wait', name: 'waitUserReply', type: 'boolean', default: false },
				{ displayName: 'Options', name: 'options', type: 'json', default: {} },
				{ displayName: 'Tool', name: 'tool', type: 'string', default: '' },
				{ displayName: 'Input', name: 'input', type: 'json', default: {} },
			],
		},
		execute(this: IExecuteFunctions, response?: EngineResponse) {
			const { name, parameters } = this.getNode();
			const tool = String(parameters['tool'] ?? '');
			if (tool !== '' && !response?.actionResponses.length)
				return Promise.resolve(requestOf(tool, parameters['input'] as IDataObject));
			const read = () => this.getNodeParameter('operation', 0);
			const given = nodes.find((node) => node.name === name)!.work!(
				this.getInputData(),
				read,
			);
			const isOutputs = Array.isArray(given[0]) || given.length === 0;
			return Promise.resolve(
				isOutputs ? (given as INodeExecutionData[][]) : [given as INodeExecutionData[]],
			);
		},
	};
}

/** The request to n8n to run a tool, with nothing by default. */
function requestOf(nodeName: string, input: IDataObject = {}): EngineRequest {
	const action = { nodeName, actionType: 'ExecutionNodeAction', type: 'ai_tool' } as const;
	const more = { id: 'asked', input, metadata: { itemIndex: 0 } };
	return { actions: [{ ...action, ...more }], metadata: {} };
}

function additionalData(
	{ credential, streaming, execution, tables = dataTables(), onChunk }: EnvironmentOptions,
	chunks: StructuredChunk[],
	workflowData = {},
) {
	const hooks = new ExecutionLifecycleHooks('manual', '1', workflowData as never);
	hooks.addHandler('sendChunk', (chunk) => {
		chunks.push(chunk);
		onChunk?.(chunk);
	});
	return {
		hooks,
		executionId: execution?.id ?? '1',
		currentNodeExecutionIndex: 0,
		...(execution?.timeLimitMs === undefined
			? {}
			: { executionTimeoutTimestamp: execution.timeLimitMs }),
		executeWorkflow: tables.executeWorkflow,
		variables: {},
		streamingEnabled: streaming === true,
		instanceBaseUrl: 'http://localhost/',
		restApiUrl: 'http://localhost/rest',
		webhookWaitingBaseUrl: 'http://localhost/webhook-waiting',
		formWaitingBaseUrl: 'http://localhost/form-waiting',
		credentialsHelper: {
			getParentTypes: () => [],
			getDecrypted: () => Promise.resolve({ ...credential }),
			getCredentialsProperties: () => [],
			preAuthentication: () => Promise.resolve(undefined),
			isCredentialUsableByNode: () => true,
			authenticate: async (
				decrypted: ICredentialDataDecryptedObject,
				_type: string,
				request: IHttpRequestOptions,
			) => await new AgentVideoApi().authenticate(decrypted, request),
		},
	};
}

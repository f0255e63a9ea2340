import 'reflect-metadata';

import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	createRunExecutionData,
	Workflow,
	type IBinaryKeyData,
	type IDataObject,
	type IHttpRequestOptions,
	type INode,
	type INodeExecutionData,
	type INodeType,
	type INodeTypes,
	type IRun,
	type ITaskData,
	type StructuredChunk,
} from 'n8n-workflow';

import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';
import { WaitForVideo } from '../../nodes/WaitForVideo/WaitForVideo.node';

const PREFIX = 'n8n-nodes-agent-video';
const NODE = 'Tested';

/** The package's nodes, by the name that workflows use. */
export const NODE_TYPES: Readonly<Record<string, INodeType>> = {
	[`${PREFIX}.chatCompletion`]: new ChatCompletion(),
	[`${PREFIX}.createVideo`]: new CreateVideo(),
	[`${PREFIX}.waitForVideo`]: new WaitForVideo(),
};

export interface RunOptions {
	readonly parameters?: IDataObject;
	/** One json per input item. */
	readonly items?: readonly IDataObject[];
	/** The binary fields of each input item. */
	readonly binaries?: readonly IBinaryKeyData[];
	readonly credential: { readonly baseUrl: string; readonly apiKey: string };
	readonly onError?: INode['onError'];
	readonly retryOnFail?: boolean;
	/** Whether the trigger streams, as a chat or webhook can. */
	readonly streaming?: boolean;
	/** Gets the execution while it runs, to cancel it. */
	readonly onStart?: (cancel: () => void) => void;
}

export interface RunResult {
	readonly status: string;
	/** Items by output. */
	readonly outputs: readonly (readonly INodeExecutionData[])[];
	readonly error:
		(Error & { readonly description?: string; readonly httpCode?: string }) | undefined;
	readonly chunks: readonly StructuredChunk[];
	readonly run: IRun;
}

/** Runs one node of the package in n8n's own execution engine, credential, expressions and HTTP helper included. */
export async function runNode(name: string, options: RunOptions): Promise<RunResult> {
	const workflow = new Workflow({
		id: 'test',
		active: false,
		nodeTypes: nodeTypes(),
		nodes: [toNode(name, options)],
		connections: {},
	});
	const chunks: StructuredChunk[] = [];
	const engine = new WorkflowExecute(
		additionalData(options, chunks) as never,
		options.streaming === true ? 'webhook' : 'manual',
		createRunExecutionData({
			executionData: {
				contextData: {},
				metadata: {},
				waitingExecution: {},
				waitingExecutionSource: {},
				nodeExecutionStack: [
					{
						node: workflow.getNode(NODE)!,
						data: { main: [inputItems(options)] },
						source: null,
					},
				],
			},
		}),
	);
	const running = engine.processRunExecutionData(workflow);
	options.onStart?.(() => {
		running.cancel();
	});
	const run = await running;
	const { runData, error } = run.data.resultData;
	const task: ITaskData | undefined = runData[NODE]?.at(-1);
	return {
		status: run.status,
		outputs: (task?.data?.['main'] ?? []).map((items) => items ?? []),
		error: error as RunResult['error'],
		chunks,
		run,
	};
}

function inputItems({ items = [{}], binaries = [] }: RunOptions): INodeExecutionData[] {
	return items.map((json, index) => {
		const binary = binaries[index];
		return binary === undefined ? { json } : { json, binary };
	});
}

function toNode(name: string, { parameters = {}, onError, retryOnFail }: RunOptions): INode {
	return {
		id: 'tested',
		name: NODE,
		type: `${PREFIX}.${name}`,
		typeVersion: 1,
		position: [0, 0],
		parameters: parameters as INode['parameters'],
		credentials: { agentVideoApi: { id: '1', name: 'Agent Video API' } },
		...(onError === undefined ? {} : { onError }),
		...(retryOnFail === undefined ? {} : { retryOnFail, waitBetweenTries: 0 }),
	};
}

function nodeTypes(): INodeTypes {
	const find = (name: string) => {
		const type = NODE_TYPES[name];
		if (type === undefined) throw new Error(`No node type ${name}`);
		return type;
	};
	return { getByName: find, getByNameAndVersion: find, getKnownTypes: () => ({}) };
}

function additionalData({ credential, streaming }: RunOptions, chunks: StructuredChunk[]) {
	const hooks = new ExecutionLifecycleHooks('manual', '1', {} as never);
	hooks.addHandler('sendChunk', (chunk) => {
		chunks.push(chunk);
	});
	return {
		hooks,
		executionId: '1',
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
			authenticate: (_credentials: unknown, _type: string, request: IHttpRequestOptions) =>
				Promise.resolve({
					...request,
					headers: { ...request.headers, Authorization: `Bearer ${credential.apiKey}` },
				}),
		},
	};
}

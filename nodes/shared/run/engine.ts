import type {
	IConnections,
	IExecuteData,
	IExecuteFunctions,
	IRunData,
	ISourceData,
	Workflow,
} from 'n8n-workflow';

/**
 * The parts of n8n's execution engine that a node has no public function for: n8n's context has them, though its type does
 * not declare them. Each is undefined in an n8n that keeps them elsewhere.
 */
export interface Engine {
	/** The runs of all nodes so far. */
	readonly runData: IRunData | undefined;
	/** The node runs that are due, in their order. */
	readonly stack: IExecuteData[] | undefined;
	/** Number of nodes that wait for data at another of their inputs. */
	readonly waitingNodes: number;
	/** The node on which "Execute step" was clicked. */
	readonly destination: string | undefined;
	readonly connections: IConnections | undefined;
	/** Whether nodes run in the legacy order v0, all branches in turns. */
	readonly isLegacyOrder: boolean;
	/** Whether the node of this name starts executions. */
	isTrigger(name: string): boolean;
}

interface Internals {
	readonly runExecutionData?: {
		readonly resultData?: { readonly runData?: IRunData };
		readonly executionData?: {
			readonly nodeExecutionStack?: IExecuteData[];
			readonly waitingExecution?: object;
		};
		readonly startData?: {
			readonly destinationNode?: string | { readonly nodeName?: string };
		};
	};
	readonly workflow?: Partial<Workflow>;
}

/** The engine that runs this node. */
export function engineOf(context: IExecuteFunctions): Engine {
	const { runExecutionData, workflow } = context as unknown as Internals;
	const { resultData, executionData, startData } = runExecutionData ?? {};
	const destination = startData?.destinationNode;
	return {
		runData: resultData?.runData,
		stack: executionData?.nodeExecutionStack,
		waitingNodes: Object.keys(executionData?.waitingExecution ?? {}).length,
		destination: typeof destination === 'string' ? destination : destination?.nodeName,
		connections: workflow?.connectionsBySourceNode,
		isLegacyOrder: workflow?.settings?.executionOrder !== 'v1',
		isTrigger: (name) => {
			const { type, typeVersion } = workflow?.nodes?.[name] ?? { type: '', typeVersion: 1 };
			const found = workflow?.nodeTypes?.getByNameAndVersion(type, typeVersion);
			return found?.description.group.includes('trigger') === true;
		},
	};
}

/**
 * Keeps n8n from adding an empty item to the first output of this run, as its setting *Always Output Data* does: the run
 * is one of many, and the items of another one are the output.
 */
export function ignoreAlwaysOutputData(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, alwaysOutputData: false };
}

/** The source of the input items; null where n8n throws because there is none, as in a run without a trigger. */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}

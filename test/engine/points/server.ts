import type {
	ExecuteWorkflowOptions,
	IDataObject,
	IExecutionContext,
	INode,
	INodeType,
	IRunExecutionData,
} from 'n8n-workflow';
import type * as N8nCore from 'n8n-core';

import { description, newExecution, type Context, type InstalledN8n } from '../installedN8n';
import { inNode, type Point } from '../point';

const EXECUTION_SERVICE = 'n8n/dist/executions/execution.service.js';
const ADDITIONAL_DATA = 'n8n/dist/workflow-execute-additional-data.js';
const CONSTANTS = 'n8n/dist/constants.js';
const NODES = 'n8n-nodes-base/dist/nodes';
const DATA_TABLE = `${NODES}/DataTable/DataTable.node.js`;
const NOT_FOUND = 'n8n/dist/modules/data-table/errors/data-table-not-found.error.js';
const EXECUTE_WORKFLOW = `${NODES}/ExecuteWorkflow/ExecuteWorkflow/ExecuteWorkflow.node.js`;

/** Any service of n8n's server: each member is a function that resolves with one. */
function service(members: object = {}): never {
	const any = () => Promise.resolve(service());
	const handler = {
		get: (_target: object, name: string | symbol): unknown =>
			name === 'then'
				? undefined
				: ((members as Record<string | symbol, unknown>)[name] ?? any),
	};
	return new Proxy({}, handler) as never;
}

/** What n8n's server starts as a Retry of this execution. */
async function retried(n8n: InstalledN8n, data: IRunExecutionData) {
	const { ExecutionService } = n8n.load<{
		ExecutionService: { prototype: { retry(...args: unknown[]): Promise<unknown> } };
	}>(EXECUTION_SERVICE);
	let started: { executionMode?: string; retryOf?: string; executionData?: IRunExecutionData } =
		{};
	const nodes: INode[] = [];
	const workflowData = { id: 'w1', name: 'W', nodes, connections: {}, settings: {} };
	const execution = {
		id: '7',
		status: 'error',
		finished: false,
		mode: 'manual',
		workflowData,
		data,
	};
	const found = service({
		findWithUnflattenedData: () => Promise.resolve(execution),
		run: (given: typeof started) => {
			started = given;
			return Promise.reject(new Error('started'));
		},
	});
	const self = service(new Proxy({}, { get: () => found }));
	const request = { executionId: '7', params: { id: '7' }, body: {}, user: { id: 'u' } };
	await ExecutionService.prototype.retry
		.call(self, { ...request, sharedWorkflowIds: ['w1'] }, ['w1'])
		.catch(() => undefined);
	return started;
}

/** A data table that notes what is asked of it. */
function table() {
	const calls: unknown[] = [];
	const note = (name: string, answer: unknown) => (given: unknown) => {
		calls.push([name, JSON.parse(JSON.stringify(given ?? null))]);
		return Promise.resolve(answer);
	};
	const columns = ['call', 'status'].map((name) => ({ id: name, name, type: 'string' }));
	const row = { id: 1, call: 'c1', status: 'sent' };
	const proxy = {
		getColumns: () => Promise.resolve(columns),
		insertRows: note('insertRows', [row]),
		updateRows: note('updateRows', [row]),
		deleteRows: note('deleteRows', [row]),
		getManyRowsAndCount: note('getManyRowsAndCount', { count: 1, data: [row] }),
	};
	const tables = {
		getManyAndCount: note('getManyAndCount', { count: 0, data: [] }),
		createDataTable: note('createDataTable', { id: 't1', name: 'agent_video', columns }),
	};
	return {
		calls,
		additional: {
			'data-table': {
				dataTableProxyProvider: {
					getDataTableProxy: () => Promise.resolve(proxy),
					getDataTableAggregateProxy: () => Promise.resolve(tables),
				},
			},
		},
	};
}

const OF_TABLE = { resource: 'row', dataTableId: { __rl: true, mode: 'id', value: 't1' } };
const condition = (keyName: string, keyValue: unknown) => ({ keyName, condition: 'eq', keyValue });

/** What a compare-and-set asks for: the rows of a token that are still claimed. */
const CLAIMED = {
	matchType: 'allConditions',
	filters: { conditions: [condition('call', 'c1'), condition('status', 'claimed')] },
};

const STEPS: Readonly<Record<string, IDataObject>> = {
	Create: {
		...{ resource: 'table', operation: 'create', tableName: 'agent_video' },
		columns: { column: [{ name: 'call', type: 'string' }] },
		options: { createIfNotExists: false },
	},
	List: {
		...{ resource: 'table', operation: 'list', returnAll: true },
		options: { filterName: 'agent_video' },
	},
	Insert: {
		...{ ...OF_TABLE, operation: 'insert', options: { optimizeBulk: true } },
		columns: { mappingMode: 'autoMapInputData', value: {} },
	},
	Set: {
		...{ ...OF_TABLE, ...CLAIMED, operation: 'update' },
		columns: { mappingMode: 'defineBelow', value: { status: 'sent' } },
	},
	Remove: { ...OF_TABLE, ...CLAIMED, operation: 'deleteRows' },
	Find: {
		...{ ...OF_TABLE, ...CLAIMED, operation: 'get', limit: 5 },
		...{ orderBy: true, orderByColumn: 'id', orderByDirection: 'ASC' },
	},
};

/** Runs one Data Table node for each step, and returns what was asked of the tables, and the status of the last rows. */
async function runDataTable(n8n: InstalledN8n): Promise<unknown> {
	const { DataTable } = n8n.load<Record<string, new () => INodeType>>(DATA_TABLE);
	const { calls, additional } = table();
	const type = 'n8n-nodes-base.dataTable';
	const nodes = Object.entries(STEPS).map(([name, parameters]) => [
		name,
		{ type, typeVersion: 1.1, parameters, alwaysOutputData: true },
	]);
	const ran = await n8n.run({
		...{ additional, types: { [type]: new DataTable!() } },
		items: [{ call: 'c1', status: 'claimed' }],
		nodes: {
			...(Object.fromEntries(nodes) as object),
		},
		wires: { Start: [Object.keys(STEPS)] },
	});
	if (ran.error !== undefined) return ran.error;
	const { DataTableNotFoundError: NotFound } =
		n8n.load<Record<string, new (id: string) => Error>>(NOT_FOUND);
	const byName = Object.fromEntries(
		calls.map((call) => call as [string, IDataObject]),
	) as Partial<Record<string, IDataObject>>;
	return {
		asked: Object.keys(byName).sort(),
		insert: byName['insertRows'],
		compareAndSet: byName['updateRows'],
		found: ran.output('Set')[0],
		missing: new NotFound!('t1').message,
	};
}

const FILTER = {
	type: 'and',
	filters: [
		{ columnName: 'call', condition: 'eq', value: 'c1' },
		{ columnName: 'status', condition: 'eq', value: 'claimed' },
	],
};

const DRAWING = { Video: { main: [[{ node: 'Next', type: 'main', index: 0 }]] } };

/** The points of n8n's server: its modules are loaded, with others in place of the database. */
export const SERVER_POINTS: readonly Point[] = [
	{
		n: 6,
		name: 'resumeToken is the same for all nodes of an execution, and in its Retry',
		usedBy: ['executionOf'],
		observe: async (n8n) => {
			const tokens: unknown[] = [];
			const see = (context: { readonly runExecutionData: IRunExecutionData }) => {
				tokens.push(context.runExecutionData.resumeToken);
				return [[{ json: {} }]];
			};
			const { data } = await n8n.run({ nodes: { Video: see, Next: see } });
			const { executionData } = await retried(n8n, data);
			const [first] = tokens;
			return [
				String(first).length > 30,
				tokens.every((each) => each === first),
				executionData?.resumeToken === first,
			];
		},
		expected: [true, true, true],
		without: {
			context: ({ runExecutionData }) => ({
				runExecutionData: { ...runExecutionData, resumeToken: undefined },
			}),
		},
		lost: [false, true, false],
		engine2: { instead: [true, false, false] },
	},
	{
		n: 7,
		name: 'a Retry has the mode retry, and retryOf and the drawing in its hooks; a sub-workflow has parentExecution',
		usedBy: ['executionOf', 'canLeave', 'isFollowed'],
		observe: async (n8n) => {
			const { ExecutionLifecycleHooks } = n8n.load<typeof N8nCore>('n8n-core');
			const { executionMode = 'manual', retryOf } = await retried(n8n, newExecution(n8n, []));
			const hooks = new ExecutionLifecycleHooks(
				executionMode as 'retry',
				'8',
				{ nodes: [], connections: DRAWING } as never,
				retryOf,
			);
			const seen = await inNode(
				n8n,
				(context) => {
					const { hooks: own } = context.additionalData as {
						hooks?: { retryOf?: string; workflowData?: { connections: object } };
					};
					return [own?.retryOf, own?.workflowData?.connections];
				},
				{ additional: { hooks } },
			);
			const { getRunData } = n8n.load<{
				readonly getRunData: (
					workflow: object,
					items: undefined,
					parent: object,
				) => { executionMode: string; executionData: IRunExecutionData };
			}>(ADDITIONAL_DATA);
			const trigger = { ...TRIGGER, disabled: false };
			const called = getRunData({ id: 'w2', nodes: [trigger] }, undefined, PARENT);
			return [executionMode, seen, called.executionData.parentExecution];
		},
		expected: [
			'retry',
			['7', DRAWING],
			{ executionId: '7', workflowId: 'w1', shouldResume: true },
		],
		without: {
			context: ({ additionalData }) => ({
				additionalData: { ...additionalData, hooks: {} },
			}),
			modules: { [ADDITIONAL_DATA]: () => ({ getRunData: () => ({ executionData: {} }) }) },
		},
		lost: ['retry', [undefined, undefined], undefined],
		engine2: {
			instead: [
				'retry',
				[undefined, undefined],
				{ executionId: '7', workflowId: 'w1', shouldResume: true },
			],
		},
	},
	{
		n: 36,
		name: 'a sub-workflow is told how and when its caller began, which stays the same in a Retry',
		usedBy: ['executionOf'],
		observe: async (n8n) => {
			const told: (IExecutionContext | undefined)[] = [];
			const call = async (context: Context) => {
				const parentExecution = { executionId: context.getExecutionId(), workflowId: 'w1' };
				await context.executeWorkflow({ id: 'w2' }, [], undefined, { parentExecution });
				return [[{ json: {} }]];
			};
			const ran = await n8n.run({
				additional: {
					executeWorkflow: (
						_info: object,
						_data: object,
						options: ExecuteWorkflowOptions,
					) => {
						told.push(options.parentExecution?.executionContext);
						return Promise.resolve({ executionId: '9', data: [null] });
					},
				},
				nodes: {
					Video: async (context) => {
						await context.putExecutionToWait(new Date(Date.now() + 3_600_000));
						return await call(context);
					},
					Next: call,
				},
			});
			const { data } = ran.status === 'waiting' ? await ran.resume() : ran;
			const { executionData } = await retried(n8n, data);
			const kept = executionData?.executionData?.runtimeData;
			return [...told, kept].map((each) => [
				each?.source,
				each !== undefined && each.establishedAt === told[0]?.establishedAt,
			]);
		},
		expected: [
			['manual', true],
			['manual', true],
			['manual', true],
		],
		without: { context: () => ({ getExecutionContext: () => undefined }) },
		lost: [
			[undefined, false],
			[undefined, false],
			['manual', false],
		],
		engine2: {
			instead: [
				[undefined, false],
				[undefined, false],
				[undefined, false],
			],
		},
	},
	{
		n: 8,
		name: 'n8n marks items that it invents, and those of a sub-workflow with its execution',
		usedBy: ['runsOf', 'executionOf'],
		observe: async (n8n) => {
			const { ARTIFICIAL_TASK_DATA: invented } = n8n.load<{
				ARTIFICIAL_TASK_DATA?: { main: { json: IDataObject }[][] };
			}>(CONSTANTS);
			const { ExecuteWorkflow } =
				n8n.load<Record<string, new () => INodeType>>(EXECUTE_WORKFLOW);
			const type = 'n8n-nodes-base.executeWorkflow';
			const ran = await n8n.run({
				additional: {
					executeWorkflow: () =>
						Promise.resolve({ executionId: '9', data: [[{ json: { done: true } }]] }),
				},
				types: { [type]: new ExecuteWorkflow!() },
				nodes: {
					Call: {
						...{ type, typeVersion: 1.2 },
						parameters: {
							source: 'parameter',
							workflowJson: '{"id":"w2","nodes":[],"connections":{}}',
						},
					},
				},
			});
			const [run] = ran.data.resultData.runData['Call'] ?? [];
			const [item] = run?.data?.['main']?.[0] ?? [];
			return [
				invented?.main[0]![0]!.json,
				(item?.metadata ?? run?.metadata)?.subExecution?.executionId,
			];
		},
		expected: [{ isArtificialRecoveredEventItem: true }, '9'],
		without: {
			modules: {
				[CONSTANTS]: () => ({}),
				[EXECUTE_WORKFLOW]: () => ({
					ExecuteWorkflow: class {
						readonly description = description();
						execute = () => Promise.resolve([[{ json: { done: true } }]]);
					},
				}),
			},
		},
		lost: [undefined, undefined],
	},
	{
		n: 13,
		name: 'the Data Table node creates, lists, inserts, compares and sets, removes and finds by these parameters',
		usedBy: ['onTable'],
		observe: runDataTable,
		expected: {
			asked: [
				...['createDataTable', 'deleteRows', 'getManyAndCount'],
				...['getManyRowsAndCount', 'insertRows', 'updateRows'],
			],
			insert: [{ call: 'c1', status: 'claimed' }],
			compareAndSet: { data: { status: 'sent' }, filter: FILTER, dryRun: false },
			found: [{ id: 1, call: 'c1', status: 'sent' }],
			missing: "Could not find the data table: 't1'",
		},
		without: { additional: { 'data-table': undefined } },
		lost: 'Attempted to use Data table node but the module is disabled',
	},
];

const TRIGGER = {
	...{ id: 't', name: 'Start', type: 'n8n-nodes-base.executeWorkflowTrigger' },
	...{ typeVersion: 1.1, position: [0, 0], parameters: {} },
};

const PARENT = { executionId: '7', workflowId: 'w1', shouldResume: true };

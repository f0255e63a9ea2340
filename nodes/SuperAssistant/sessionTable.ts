import type { IExecuteFunctions, INode, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import { InputError } from '../client/errors';

/** Name of the n8n data table that holds the sessions; users can view it and delete rows. */
const TABLE = 'agent_video_sessions';
const COLUMNS = ['app_code', 'memory_key', 'session_id'] as const;

/** Key of a remembered session: a key has one session per assistant. */
export interface SessionKey {
	readonly appCode: string;
	readonly key: string;
}

/**
 * The remembered `session_id` for a key; none when the key is new.
 *
 * Sessions are rows of an n8n data table, in n8n's database: they survive executions and restarts, are shared by all
 * workers, and work in the editor's test chat. Workflow static data cannot do this: n8n saves it as a whole at the end
 * of an execution, so that parallel chats overwrite each other's session, and never saves it in a manual execution.
 *
 * @throws InputError when this n8n has no data tables, or is n8n 1.x, where a node cannot create one.
 */
export async function findSession(
	context: IExecuteFunctions,
	owner: SessionKey,
): Promise<string | undefined> {
	const row = await runOnTable(context, owner, {
		operation: 'get',
		orderBy: true,
		orderByColumn: 'updatedAt',
		limit: 1,
	});
	const id = row?.['session_id'];
	return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Stores the `session_id` of a key for later executions. */
export async function saveSession(
	context: IExecuteFunctions,
	owner: SessionKey,
	sessionId: string,
): Promise<void> {
	await runOnTable(
		context,
		owner,
		{
			operation: 'upsert',
			columns: { mappingMode: 'defineBelow', value: fromStart(COLUMNS) },
		},
		sessionId,
	);
}

/** Runs one operation of n8n's Data Table node in a sub-workflow: community nodes cannot access data tables themselves. */
async function runOnTable(
	context: IExecuteFunctions,
	{ appCode, key }: SessionKey,
	operation: INodeParameters,
	sessionId = '',
) {
	const json = { app_code: appCode, memory_key: key, session_id: sessionId };
	try {
		const { data } = await context.executeWorkflow({ code: tableWorkflow(operation) }, [
			{ json },
		]);
		return data[0]?.[0]?.json;
	} catch (error) {
		throw noTable(error as Error);
	}
}

function noTable({ message }: Error): InputError {
	return new InputError(
		'Session',
		`cannot be remembered: ${message}`,
		'Use n8n 2 with data tables enabled. Otherwise set Session to By ID and store the session_id of the output yourself',
	);
}

function tableWorkflow(operation: INodeParameters): IWorkflowBase {
	const nodes = [
		node('Start', 'executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' }),
		{
			...node('Table', 'dataTable', 1.1, {
				resource: 'table',
				operation: 'create',
				tableName: TABLE,
				columns: { column: COLUMNS.map((name) => ({ name, type: 'string' })) },
				options: { createIfNotExists: true },
			}),
			// When several executions create the missing table at the same time, one succeeds and the others fail once.
			retryOnFail: true,
			maxTries: 2,
			waitBetweenTries: 100,
		},
		node('Row', 'dataTable', 1.1, {
			resource: 'row',
			dataTableId: { __rl: true, mode: 'id', value: '={{ $json.id }}' },
			matchType: 'allConditions',
			filters: {
				conditions: Object.entries(fromStart(['app_code', 'memory_key'])).map(
					([keyName, keyValue]) => ({ keyName, condition: 'eq', keyValue }),
				),
			},
			...operation,
		}),
	];
	const to = (name: string) => ({ main: [[{ node: name, type: 'main' as const, index: 0 }]] });
	// This is all that n8n needs to run a sub-workflow. Its type also requires fields of a saved workflow, such as an ID.
	return {
		name: 'Sessions of Super Assistant',
		nodes,
		connections: { Start: to('Table'), Table: to('Row') },
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
		},
	} as unknown as IWorkflowBase;
}

function node(name: string, type: string, typeVersion: number, parameters: INodeParameters): INode {
	return {
		id: name,
		name,
		type: `n8n-nodes-base.${type}`,
		typeVersion,
		position: [0, 0],
		parameters,
	};
}

/** Expressions that read the values from the input item. A key that looks like an expression is then not evaluated. */
function fromStart(columns: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		columns.map((column) => [column, `={{ $('Start').item.json.${column} }}`]),
	);
}

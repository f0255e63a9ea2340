import type { IExecuteFunctions, INode, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import { InputError } from '../client/errors';

/** Name of the n8n data table with the sessions; a person can look at it and remove rows. */
const TABLE = 'agent_video_sessions';
const COLUMNS = ['app_code', 'memory_key', 'session_id'] as const;

/** Whose session is meant: the same key at another assistant is another session. */
export interface SessionKey {
	readonly appCode: string;
	readonly key: string;
}

/**
 * The session that is remembered for a key; none when it is new.
 *
 * Sessions lie in an n8n data table. That is in n8n's database, row by row: it holds across executions, restarts and
 * workers, in the editor's test chat too. Workflow static data would not do: it is saved as a whole when an execution
 * ends, so that two chats at a time forget one another's session, and never in a manual run.
 *
 * @throws InputError when this n8n has no data tables, or is of the 1.x line, where none can be made by a node.
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

/** Remembers the session of a key for later executions. */
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

/** n8n lets only its own nodes at data tables: the work is done by one of them, in a workflow within this one. */
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
		'This needs n8n 2 with its data tables switched on. Otherwise set Session to By ID and keep the session_id of the output yourself',
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
			// Of several executions that find no table at the same time, one makes it and the others fail, once.
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

/** Expressions for values that travel as data: a key that looks like an expression stays a text. */
function fromStart(columns: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		columns.map((column) => [column, `={{ $('Start').item.json.${column} }}`]),
	);
}

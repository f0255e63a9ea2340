import type { IDataObject, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';

/** Runs the workflows within workflows that work on an n8n data table, over a list of rows in memory. */
export interface DataTables {
	readonly rows: IDataObject[];
	/** What was done, in order. */
	readonly operations: string[];
	/** Says no to everything, as an n8n without data tables does. */
	disabled: boolean;
	readonly executeWorkflow: (
		info: { readonly code?: IWorkflowBase },
		additionalData: unknown,
		options: { readonly inputData?: INodeExecutionData[] },
	) => Promise<{ executionId: string; data: (INodeExecutionData[] | null)[] }>;
}

/** What the operations of n8n's Data Table node do; the real ones are tried in the end-to-end tests. */
export function dataTables(): DataTables {
	const rows: IDataObject[] = [];
	const tables: DataTables = {
		rows,
		operations: [],
		disabled: false,
		executeWorkflow: ({ code }, _additionalData, { inputData }) => {
			if (tables.disabled) return Promise.reject(new Error('the module is disabled'));
			const { json } = inputData![0]!;
			const { parameters } = code!.nodes.find(({ name }) => name === 'Row')!;
			const operation = parameters['operation'] as string;
			tables.operations.push(operation);
			const known = rows.find(
				(row) =>
					row['app_code'] === json['app_code'] &&
					row['memory_key'] === json['memory_key'],
			);
			if (operation === 'upsert') {
				if (known === undefined) rows.push({ ...json });
				else Object.assign(known, json);
			}
			const found = operation === 'get' ? known : json;
			const data = [found === undefined ? [] : [{ json: { ...found } }]];
			return Promise.resolve({ executionId: '2', data });
		},
	};
	return tables;
}

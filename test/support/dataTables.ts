import type { IDataObject, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';

/** A fake of n8n's data tables: runs the sub-workflows that access a table on a list of rows in memory. */
export interface DataTables {
	readonly rows: IDataObject[];
	/** The operations so far, in order. */
	readonly operations: string[];
	/** Rejects every operation, like an n8n without data tables. */
	disabled: boolean;
	readonly executeWorkflow: (
		info: { readonly code?: IWorkflowBase },
		additionalData: unknown,
		options: { readonly inputData?: INodeExecutionData[] },
	) => Promise<{ executionId: string; data: (INodeExecutionData[] | null)[] }>;
}

/** Fakes the operations of n8n's Data Table node; the end-to-end tests use the real ones. */
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

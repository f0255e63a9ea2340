import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import axios, { type AxiosInstance, type AxiosResponse, type Method } from 'axios';
import type { IBinaryData } from 'n8n-workflow';

import { isFinal, readSaved, type Execution, type SavedExecution } from './execution';
import { OWNER } from './owner';
import { bindCredentials, type Workflow } from './workflow';

/** Identifies a workflow in n8n. */
export interface WorkflowRef {
	readonly id: string;
	readonly versionId: string;
}

/** A workflow in the list of all. */
export interface ListedWorkflow extends WorkflowRef {
	readonly name: string;
}

/** A credential to save or to test. */
export interface Credential {
	readonly name: string;
	readonly type: string;
	readonly data: Readonly<Record<string, unknown>>;
}

/** A credential in n8n's list; secret values of its data are hidden. */
interface SavedCredential {
	readonly id: string;
	readonly name: string;
	readonly data?: Readonly<Record<string, unknown>>;
}

/** An execution in the list of a workflow. */
export interface ListedExecution {
	readonly id: string;
	readonly status: string;
	/** How it was started: `manual`, `webhook`, `retry`, `integrated` for a sub-workflow, … */
	readonly mode: string;
}

/** A column of a data table; n8n adds `id`, `createdAt` and `updatedAt`. */
export interface DataTableColumn {
	readonly name: string;
	readonly type: 'string' | 'number' | 'boolean' | 'date';
}

/** A row of a data table, by column name. */
export type DataTableRow = Readonly<Record<string, string | number | boolean | null>>;

/** How far n8n has published an activated workflow. */
interface Publication {
	readonly data?: { readonly status: string };
}

interface DataTableRef {
	readonly id: string;
	readonly projectId: string;
}

/** The maximum of n8n. */
const ROWS_PER_PAGE = 250;

const DATABASE_NOT_READY = 'Database is not ready!';

/** Most workflows of tests end within a fraction of a second: the interval doubles from the first to the last. */
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 500;
/** Milliseconds from the end of an execution until its result must be there: the status may be saved first. */
const SAVE_LIMIT_MS = 3_000;

interface WaitOptions {
	readonly limitMs?: number;
	/**
	 * Called about twice a second with what n8n has saved: with default settings the output of the nodes is missing until
	 * the execution ends or is suspended.
	 */
	readonly onProgress?: (execution: Execution) => Promise<void>;
	/** Whether a suspended execution is enough: one with a form may wait for its last page after it was shown. */
	readonly orWaiting?: boolean;
}

/**
 * A client of n8n's internal REST API, which the editor uses. It is signed in as OWNER.
 *
 * Every method throws an Error with n8n's message if n8n rejects the call.
 */
export class N8nClient {
	private readonly credentialIds: Record<string, string> = {};
	private readonly workflowIds: string[] = [];
	private readonly http: AxiosInstance;

	private constructor(url: string) {
		this.http = axios.create({
			baseURL: `${url}/rest`,
			proxy: false,
			timeout: 60_000,
			validateStatus: () => true,
			// n8n may close an idle connection just when it is used again.
			httpAgent: new Agent({ keepAlive: false }),
			// n8n binds a session to the ID of the browser that signed in.
			headers: { 'browser-id': 'n8n-lab' },
		});
	}

	/** Signs in as OWNER. Creates the owner's account first if n8n has none. */
	static async signIn(url: string): Promise<N8nClient> {
		const client = new N8nClient(url);
		const setUp = await client.http.post('/owner/setup', OWNER);
		const { status, headers } =
			setUp.status === 200
				? setUp
				: await client.http.post('/login', {
						emailOrLdapLoginId: OWNER.email,
						password: OWNER.password,
					});
		const cookies = headers['set-cookie'] ?? [];
		const session = cookies.find((cookie) => cookie.startsWith('n8n-auth='));
		if (session === undefined) throw new Error(`Cannot sign in to n8n (status ${status})`);
		client.http.defaults.headers.common['cookie'] = session.split(';')[0];
		return client;
	}

	/** A client in the same session with credentials of its own: their names may be those of others. */
	beside(): N8nClient {
		const client = new N8nClient(this.http.defaults.baseURL!.replace(/\/rest$/, ''));
		client.http.defaults.headers.common['cookie'] =
			this.http.defaults.headers.common['cookie']!;
		return client;
	}

	/** The header by which n8n knows this user, for a chat that wants a login. */
	get login(): Readonly<Record<string, string>> {
		return { cookie: String(this.http.defaults.headers.common['cookie']) };
	}

	/** Saves a credential. Workflows that are imported later refer to it by name. */
	async createCredential(credential: Credential): Promise<void> {
		const { id } = await this.call<{ id: string }>('POST', '/credentials', credential);
		this.credentialIds[credential.name] = id;
	}

	/**
	 * Saves a credential, or the data of the one with this name if they are for this machine: a person may have entered
	 * another address. Workflows that are imported later refer to it by name.
	 */
	async ensureCredential(credential: Credential): Promise<void> {
		const saved = await this.findCredential(credential.name);
		if (saved === undefined) {
			await this.createCredential(credential);
			return;
		}
		this.credentialIds[credential.name] = saved.id;
		if (!String(saved.data?.['baseUrl'] ?? saved.data?.['host']).includes('127.0.0.1')) return;
		await this.call('PATCH', `/credentials/${saved.id}`, { id: saved.id, ...credential });
	}

	/** The base URL of a saved credential; undefined if there is none with this name. */
	async credentialAddress(name: string): Promise<string | undefined> {
		return (await this.findCredential(name))?.data?.['baseUrl'] as string | undefined;
	}

	private async findCredential(name: string): Promise<SavedCredential | undefined> {
		const all = await this.call<SavedCredential[]>('GET', '/credentials', {
			includeData: true,
		});
		return all.find((saved) => saved.name === name);
	}

	/** Runs the credential test, as the editor does after saving. */
	async testCredential({
		name,
		type,
		data,
	}: Credential): Promise<{ status: string; message: string }> {
		return await this.call('POST', '/credentials/test', {
			credentials: { id: this.credentialIds[name] ?? '', name, type, data },
		});
	}

	/** Saves a workflow and sets the IDs of its credentials, which must have been created here. */
	async importWorkflow(workflow: Workflow): Promise<WorkflowRef> {
		const saved = await this.call<WorkflowRef>('POST', '/workflows', {
			...bindCredentials(workflow, this.credentialIds),
		});
		this.workflowIds.push(saved.id);
		return saved;
	}

	/** Lists all workflows, without archived ones. */
	async workflows(): Promise<readonly ListedWorkflow[]> {
		const all = await this.call<(ListedWorkflow & { isArchived: boolean })[]>(
			'GET',
			'/workflows',
		);
		return all.filter(({ isArchived }) => !isArchived);
	}

	/** Archives a workflow, which also removes its webhooks. */
	async archive(id: string): Promise<void> {
		await this.call('POST', `/workflows/${id}/archive`, {});
	}

	/** Archives all workflows that were imported here. */
	async archiveWorkflows(): Promise<void> {
		for (const id of this.workflowIds.splice(0)) await this.archive(id);
	}

	/** Activates a workflow. n8n answers before others can call it: this returns when they can. */
	async activate({ id, versionId }: WorkflowRef): Promise<void> {
		await this.call('POST', `/workflows/${id}/activate`, { versionId });
		const url = `/workflows/${id}/publication-status`;
		for (;;) {
			const { status, data } = await this.http.get<Publication>(url);
			// An older n8n has no such status, and nothing to wait for.
			if (status === 404 || data.data?.status !== 'in_progress') return;
			await sleep(FIRST_POLL_MS);
		}
	}

	/**
	 * Executes a workflow from a trigger node, as a click on Execute does. Returns the execution ID.
	 *
	 * @param destination Stops after this node, as *Execute step* on it does.
	 */
	async run({ id }: WorkflowRef, trigger: string, destination?: string): Promise<string> {
		const workflowData = await this.call<object>('GET', `/workflows/${id}`);
		const { executionId } = await this.call<{ executionId: string }>(
			'POST',
			`/workflows/${id}/run`,
			{
				workflowData,
				triggerToStartFrom: { name: trigger },
				...(destination && {
					destinationNode: { nodeName: destination, mode: 'inclusive' },
				}),
			},
		);
		return executionId;
	}

	/**
	 * Retries a failed execution from the node that failed, as the Retry button in the list of executions does; a crashed
	 * one from its start. Returns when the retry has ended.
	 */
	async retry(executionId: string): Promise<string> {
		const { id } = await this.call<{ id: string }>(
			'POST',
			`/executions/${executionId}/retry`,
			{},
		);
		return id;
	}

	/** Stops a running or suspended execution, as the Stop button does. */
	async stop(executionId: string): Promise<void> {
		await this.call('POST', `/executions/${executionId}/stop`, {});
	}

	async readExecution(id: string): Promise<Execution> {
		const execution = await this.findExecution(id);
		if (execution === undefined) throw new Error(`n8n returned nothing for execution ${id}`);
		return execution;
	}

	/** n8n in queue mode returns nothing for an execution that it is about to save; n8n 2.20 fails for one that runs. */
	private async findExecution(id: string): Promise<Execution | undefined> {
		const saved = await this.call<SavedExecution | undefined>('GET', `/executions/${id}`).catch(
			(error: unknown) => {
				if ((error as Error).message.includes("reading 'resultData'")) return undefined;
				throw error;
			},
		);
		return saved && (await readSaved(saved));
	}

	/**
	 * Lists the executions of a workflow, newest first: those that run, and the last 100 that have ended. Without those that
	 * nodes start within one, such as a write to a data table: n8n lists them under the same workflow until they end. A
	 * workflow that has no others is one that others call.
	 */
	async executions(ref: WorkflowRef): Promise<readonly ListedExecution[]> {
		const results = await this.allExecutions(ref);
		const own = results.filter(({ mode }) => mode !== 'integrated');
		return own.length > 0 ? own : results;
	}

	/** Lists all executions of a workflow, also those that nodes start within one. */
	async allExecutions({ id }: WorkflowRef): Promise<readonly ListedExecution[]> {
		const { results } = await this.call<{ results: ListedExecution[] }>('GET', '/executions', {
			filter: JSON.stringify({ workflowId: id }),
			limit: 100,
		});
		return results;
	}

	/** Waits for the end of the newest execution of a workflow. */
	async lastExecution(ref: WorkflowRef, options: WaitOptions = {}): Promise<Execution> {
		const [newest] = await this.executions(ref);
		if (newest === undefined) throw new Error('The workflow has not been run');
		return await this.waitForExecution(newest.id, options);
	}

	/**
	 * Waits for the end of an execution, whether it succeeds or fails.
	 *
	 * @throws Error if it has not ended after `limitMs`.
	 */
	async waitForExecution(id: string, options: WaitOptions = {}): Promise<Execution> {
		const { limitMs = 120_000, onProgress, orWaiting = false } = options;
		let intervalMs = FIRST_POLL_MS;
		let status = 'unknown';
		let endedAt: number | undefined;
		for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
			const execution = await this.findExecution(id);
			if (execution !== undefined) {
				await onProgress?.(execution);
				({ status } = execution);
				if (isFinal(execution)) {
					endedAt ??= Date.now();
					if (hasResult(execution) || Date.now() > endedAt + SAVE_LIMIT_MS)
						return execution;
				}
				if (orWaiting && status === 'waiting') return execution;
			}
			await sleep(intervalMs);
			intervalMs = Math.min(2 * intervalMs, LAST_POLL_MS);
		}
		throw new Error(`Execution ${id} has not ended after ${limitMs / 1000} s: ${status}`);
	}

	/**
	 * Waits until all executions of a workflow have ended, at least as many as were started.
	 *
	 * @throws Error if they have not after `limitMs`.
	 */
	async untilEnded(ref: WorkflowRef, started: number, limitMs: number): Promise<void> {
		let statuses: readonly string[] = [];
		for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
			const all = await this.allExecutions(ref);
			if (all.length >= started && all.every(isFinal)) return;
			statuses = all.map(({ status }) => status);
			await sleep(LAST_POLL_MS / 2);
		}
		throw new Error(
			`${started} executions have not ended after ${limitMs / 60_000} minutes: ${statuses.join(', ')}`,
		);
	}

	/** Lets clients of the Model Context Protocol in, as the switch in n8n's settings does. Returns the key that they present. */
	async enableMcp(): Promise<string> {
		await this.call('PATCH', '/mcp/settings', { mcpAccessEnabled: true });
		const { apiKey } = await this.call<{ apiKey: string }>('GET', '/mcp/api-key');
		return apiKey;
	}

	/** The ID of the personal project. */
	async personalProject(): Promise<string> {
		return (await this.call<{ id: string }>('GET', '/projects/personal')).id;
	}

	/** Invites a user, who has a personal project from then on. */
	async invite(email: string): Promise<{ readonly id: string; readonly project: string }> {
		const role = 'global:member';
		await this.call('POST', '/invitations', [{ email, role }]);
		const { items } = await this.call<{ items: readonly { id: string; email: string }[] }>(
			'GET',
			'/users',
		);
		const { id } = items.find((user) => user.email === email)!;
		const projects = await this.call<readonly { id: string; name: string }[]>(
			'GET',
			'/projects',
		);
		return { id, project: projects.find(({ name }) => name.includes(email))!.id };
	}

	/** Answers of n8n to what a user may not do, too. */
	async answer(method: Method, path: string, data?: object): Promise<AxiosResponse<unknown>> {
		return await this.http.request({ method, url: path, data });
	}

	/** Deletes a user; a project takes over workflows and data tables. */
	async deleteUser(id: string, project: string): Promise<void> {
		await this.call('DELETE', `/users/${id}?transferId=${project}`);
	}

	/** Moves a workflow to another project, and shares its credentials with it. */
	async transfer({ id }: WorkflowRef, destinationProjectId: string): Promise<void> {
		const shareCredentials = Object.values(this.credentialIds);
		await this.call('PUT', `/workflows/${id}/transfer`, {
			destinationProjectId,
			shareCredentials,
		});
	}

	/** Creates a data table in the personal project, with rows. */
	async createDataTable(
		name: string,
		columns: readonly DataTableColumn[],
		rows: readonly DataTableRow[] = [],
	): Promise<void> {
		const project = await this.personalProject();
		await this.call('POST', `/projects/${project}/data-tables`, { name, columns });
		if (rows.length > 0) await this.insertDataTableRows(name, project, rows);
	}

	/** Inserts rows into the data table of a project with this name. */
	async insertDataTableRows(
		name: string,
		project: string,
		data: readonly DataTableRow[],
	): Promise<void> {
		const tables = await this.dataTables(name);
		const { id } = tables.find(({ projectId }) => projectId === project)!;
		const path = `/projects/${project}/data-tables/${id}/insert`;
		await this.call('POST', path, { data, returnType: 'count' });
	}

	/** All rows of the data tables with this name, oldest first; undefined if there is no such table. */
	async dataTableRows(name: string): Promise<readonly DataTableRow[] | undefined> {
		const tables = await this.dataTables(name);
		if (tables.length === 0) return undefined;
		const rows: DataTableRow[] = [];
		for (const { id, projectId } of tables) {
			for (let skip = 0, count = 1; skip < count; skip += ROWS_PER_PAGE) {
				const page = await this.call<{ count: number; data: DataTableRow[] }>(
					'GET',
					`/projects/${projectId}/data-tables/${id}/rows`,
					{ take: ROWS_PER_PAGE, skip, sortBy: 'id:asc' },
				);
				rows.push(...page.data);
				({ count } = page);
			}
		}
		return rows;
	}

	/** Deletes the data tables with this name, including their rows. */
	async removeDataTables(name: string): Promise<void> {
		for (const { id, projectId } of await this.dataTables(name)) {
			await this.call('DELETE', `/projects/${projectId}/data-tables/${id}`);
		}
	}

	/** Deletes the rows of the data tables with this name that have a value in a column. */
	async deleteDataTableRows(name: string, columnName: string, value: string): Promise<void> {
		const filters = [{ columnName, condition: 'eq', value }];
		const filter = encodeURIComponent(JSON.stringify({ type: 'and', filters }));
		for (const { id, projectId } of await this.dataTables(name)) {
			await this.call(
				'DELETE',
				`/projects/${projectId}/data-tables/${id}/rows?filter=${filter}`,
			);
		}
	}

	/** Writes values into the rows of the data tables with this name that have a value in a column, as the editor does. */
	async updateDataTableRows(
		name: string,
		[columnName, value]: readonly [string, string],
		data: DataTableRow,
	): Promise<void> {
		const filter = { type: 'and', filters: [{ columnName, condition: 'eq', value }] };
		for (const { id, projectId } of await this.dataTables(name)) {
			const path = `/projects/${projectId}/data-tables/${id}/rows`;
			await this.call('PATCH', path, { filter, data });
		}
	}

	private async dataTables(name: string): Promise<readonly DataTableRef[]> {
		const { data } = await this.call<{ data: readonly DataTableRef[] }>(
			'GET',
			'/data-tables-global',
			{ filter: JSON.stringify({ name }) },
		);
		return data;
	}

	/** Downloads binary data that an execution has stored. */
	async download({ id, fileName, mimeType, data }: IBinaryData): Promise<Buffer> {
		if (id === undefined) return Buffer.from(data, 'base64');
		const answer = await this.http.get<ArrayBuffer>('/binary-data', {
			params: { id, action: 'download', fileName, mimeType },
			responseType: 'arraybuffer',
		});
		if (answer.status !== 200)
			throw new Error(`n8n has no file ${id} (status ${answer.status})`);
		return Buffer.from(answer.data);
	}

	/**
	 * Sends one request. `content` is the query of a GET and the body of other methods. Returns the `data` of the response.
	 * n8n has not carried out what it rejects because its database did not answer in time, as after thousands of items.
	 */
	private async call<T>(method: Method, path: string, content?: object, tries = 5): Promise<T> {
		const { status, data } = await this.http.request<{ data: T; message?: string }>({
			method,
			url: path,
			[method === 'GET' ? 'params' : 'data']: content,
		});
		if (status < 300) return data.data;
		if (status === 503 && data.message === DATABASE_NOT_READY && tries > 1) {
			await sleep(1_000);
			return await this.call(method, path, content, tries - 1);
		}
		throw new Error(
			`n8n answered ${method} ${path} with status ${status}: ${data.message ?? 'no message'}`,
		);
	}
}

/** Whether a node has run, or an error says why none has. */
function hasResult({ data }: Execution): boolean {
	const { runData, error } = data.resultData;
	return error !== undefined || Object.keys(runData).length > 0;
}

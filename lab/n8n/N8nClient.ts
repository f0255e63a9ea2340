import { setTimeout as sleep } from 'node:timers/promises';

import axios, { type AxiosInstance, type Method } from 'axios';
import type { IBinaryData } from 'n8n-workflow';

import { isFinal, readSaved, type Execution, type SavedExecution } from './execution';
import { bindCredentials, type Workflow } from './workflow';

/** Identifies a workflow in n8n. */
export interface WorkflowRef {
	readonly id: string;
	readonly versionId: string;
}

/** A credential to save or to test. */
export interface Credential {
	readonly name: string;
	readonly type: string;
	readonly data: Readonly<Record<string, string | number | boolean>>;
}

/** The account of the lab's n8n. Its password is no secret: this n8n listens on this machine only. */
export const OWNER = {
	email: 'demo@example.com',
	firstName: 'Demo',
	lastName: 'Owner',
	password: 'Demo-1234',
} as const;

/** Most workflows of tests end within a fraction of a second: the interval doubles from the first to the last. */
const FIRST_POLL_MS = 50;
const LAST_POLL_MS = 500;

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
			// n8n binds a session to the ID of the browser that signed in.
			headers: { 'browser-id': 'n8n-lab' },
		});
	}

	/** Signs in. Creates the owner's account first if n8n has none. */
	static async signIn(url: string): Promise<N8nClient> {
		const client = new N8nClient(url);
		const setUp = await client.http.post('/owner/setup', OWNER);
		const answer =
			setUp.status === 200
				? setUp
				: await client.http.post('/login', {
						emailOrLdapLoginId: OWNER.email,
						password: OWNER.password,
					});
		const cookies = answer.headers['set-cookie'] ?? [];
		const session = cookies.find((cookie) => cookie.startsWith('n8n-auth='));
		if (session === undefined)
			throw new Error(`Cannot sign in to n8n (status ${answer.status})`);
		client.http.defaults.headers.common['cookie'] = session.split(';')[0];
		return client;
	}

	/** Saves a credential. Workflows that are imported later refer to it by name. */
	async createCredential(credential: Credential): Promise<void> {
		const { id } = await this.call<{ id: string }>('POST', '/credentials', credential);
		this.credentialIds[credential.name] = id;
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
			// n8n 1.x has no default for this field.
			active: false,
		});
		this.workflowIds.push(saved.id);
		return saved;
	}

	/** Archives all workflows that were imported here, which also removes their webhooks. */
	async archiveWorkflows(): Promise<void> {
		for (const id of this.workflowIds.splice(0)) {
			await this.call('POST', `/workflows/${id}/archive`, {});
		}
	}

	/** Activates a workflow. Its webhooks are available about 100 ms later. */
	async activate({ id, versionId }: WorkflowRef): Promise<void> {
		await this.call('POST', `/workflows/${id}/activate`, { versionId });
	}

	/**
	 * Executes a workflow from a trigger node, as a click on Execute does. Returns the execution ID.
	 *
	 * @param destination Stops after this node, as *Execute step* on it does.
	 */
	async run({ id }: WorkflowRef, trigger: string, destination?: string): Promise<string> {
		// n8n 1.x runs the workflow in the request; later versions ignore it and run the saved one.
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

	/** Retries a failed execution from the node that failed, as the Retry button in the list of executions does. */
	async retry(executionId: string): Promise<string> {
		const { id } = await this.call<{ id: string }>(
			'POST',
			`/executions/${executionId}/retry`,
			{},
		);
		return id;
	}

	async readExecution(id: string): Promise<Execution> {
		return await readSaved(await this.call<SavedExecution>('GET', `/executions/${id}`));
	}

	/** Lists the saved executions of a workflow, newest first, at most 100. */
	async executions({ id }: WorkflowRef): Promise<readonly { readonly id: string }[]> {
		const { results } = await this.call<{ results: { id: string }[] }>('GET', '/executions', {
			filter: JSON.stringify({ workflowId: id }),
			limit: 100,
		});
		return results;
	}

	/** Waits for the end of the newest execution of a workflow. */
	async lastExecution(
		ref: WorkflowRef,
		options: { readonly limitMs?: number } = {},
	): Promise<Execution> {
		const [newest] = await this.executions(ref);
		if (newest === undefined) throw new Error('The workflow has not been run');
		return await this.waitForExecution(newest.id, options);
	}

	/**
	 * Waits for the end of an execution, whether it succeeds or fails.
	 *
	 * @param onProgress Called about twice a second with what has been saved so far.
	 * @throws Error if it has not ended after `limitMs`.
	 */
	async waitForExecution(
		id: string,
		options: {
			readonly limitMs?: number;
			readonly onProgress?: (execution: Execution) => Promise<void>;
		} = {},
	): Promise<Execution> {
		const { limitMs = 120_000, onProgress } = options;
		let intervalMs = FIRST_POLL_MS;
		for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
			const execution = await this.readExecution(id);
			await onProgress?.(execution);
			if (isFinal(execution)) return execution;
			await sleep(intervalMs);
			intervalMs = Math.min(2 * intervalMs, LAST_POLL_MS);
		}
		throw new Error(`Execution ${id} has not ended after ${limitMs / 1000} s`);
	}

	/** Deletes the data tables with this name, including their rows. */
	async removeDataTables(name: string): Promise<void> {
		const { data } = await this.call<{
			data: readonly { readonly id: string; readonly projectId: string }[];
		}>('GET', '/data-tables-global', { filter: JSON.stringify({ name }) });
		for (const { id, projectId } of data) {
			await this.call('DELETE', `/projects/${projectId}/data-tables/${id}`);
		}
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

	/** Sends one request. `content` is the query of a GET and the body of other methods. Returns the `data` of the response. */
	private async call<T>(method: Method, path: string, content?: object): Promise<T> {
		const { status, data } = await this.http.request<{ data: T; message?: string }>({
			method,
			url: path,
			[method === 'GET' ? 'params' : 'data']: content,
		});
		if (status < 300) return data.data;
		throw new Error(
			`n8n answered ${method} ${path} with status ${status}: ${data.message ?? 'no message'}`,
		);
	}
}

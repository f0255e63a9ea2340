import type { ServerResponse } from 'node:http';

import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import type { Clock } from '../../nodes/client/ports';
import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import * as clockModule from '../../nodes/shared/engine/context';
import { dataTables } from './dataTables';
import {
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type EnvironmentOptions,
	type RunOptions,
	type RunResult,
	type Wires,
} from './engine';
import { sampleFile } from './sampleFiles';
import { json, serverForEach, type SeenRequest } from './scriptedServer';

export const CREATE = '/v1/videos/generations';
export const POLL = '/v1/videos/tasks';
export const FILE = '/cdn/';

/** What the service does with a request. */
export type Answer = (response: ServerResponse) => void;

export const reply =
	(body: unknown, status = 200, headers = {}): Answer =>
	(response) => {
		json(response, status, body, headers);
	};
export const reject = (status: number, headers = {}) =>
	reply({ error: { message: 'no', type: 'x' } }, status, headers);
export const breakOff: Answer = (response) => {
	response.destroy();
};

export const byId = (value: string) => ({ __rl: true, mode: 'id', value });
export const DATE = expect.stringMatching(/^\d{4}-.*Z$/) as string;

/** The retry of the execution in which videos are created. */
export const retryAs = (id: string) => ({ execution: { id, token: 'token-1', isRetry: true } });
export const RETRY = retryAs('12');
export const another = (id: string) => ({ execution: { id, token: `token of ${id}` } });

export const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
export const reusedOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['reused'] === true);

/** Prompts, or items with more fields. */
type Items = readonly (string | IDataObject)[];
export type More = Partial<RunOptions> & { readonly type?: string };

const toItems = (items: Items) =>
	items.map((item) => (typeof item === 'string' ? { prompt: item } : item));

export function parametersOf(options: IDataObject, more: IDataObject = {}): IDataObject {
	return {
		model: byId('video-m1'),
		prompt: '={{ $json.prompt }}',
		waitUntilFinished: false,
		...more,
		options: { retries: 0, ...options },
	};
}

/** For a tool the default is $fromAI, which only an agent has values for. */
const ofTool = (type: string) => (type.endsWith('Tool') ? { aspectRatio: '', duration: 0 } : {});

/** The name of a request: the prompt of a creation, the task of a poll, or the path of a file. */
function nameOf({ path, body }: SeenRequest): string {
	const { prompt, task_id } = (body ?? {}) as { prompt?: string; task_id?: string };
	return prompt ?? task_id ?? decodeURI(path);
}

/**
 * A service that creates videos, completes them and sends their files, and the tables of n8n. Both are new for each test.
 *
 * @param taskIdOf Names the task of a prompt that has had so many, and the service so many in all.
 */
export function videoService(
	taskIdOf: (prompt: string, nth: number, ofAll: number) => string = (prompt, nth) =>
		`task-${prompt}${nth > 1 ? ` ${nth}` : ''}`,
) {
	const fresh = () => ({
		tables: dataTables(),
		/** What the service does with a request of this name; what is in a list it does once. */
		answers: {} as Record<string, Answer | Answer[]>,
		/** How the videos end. */
		ending: { status: 'completed' } as object,
		/** Called for each request that arrives, and awaited before it is answered. */
		onRequest: (() => undefined) as (name: string, path: string) => Promise<void> | void,
		taskIdOf,
	});
	const state = fresh();
	let created: string[] = [];

	const usual: Readonly<Record<string, (name: string, body: unknown) => Answer>> = {
		[CREATE]: (prompt, body) => {
			const { length } = created.filter((each) => each === prompt);
			const task_id = state.taskIdOf(prompt, length + 1, created.push(prompt));
			const { model } = body as { model: string };
			return reply({ task_id, status: 'queued', model, created_at: 1 });
		},
		[POLL]: (task_id) =>
			reply({ task_id, model: 'video-m1', video_url: urlOf(task_id), ...state.ending }),
	};
	const sendFile: Answer = (response) => {
		response.writeHead(200, { 'content-type': 'video/mp4' });
		response.end(sampleFile('video/mp4'));
	};

	const server = serverForEach((response, request) => {
		const { path, body } = request;
		const name = nameOf(request);
		const answer = () => {
			const given = Object.hasOwn(state.answers, name) ? state.answers[name] : undefined;
			const own = Array.isArray(given) ? given.shift() : given;
			(own ?? usual[path]?.(name, body) ?? sendFile)(response);
		};
		const pause = state.onRequest(name, path);
		if (pause) void pause.then(answer);
		else answer();
	});
	beforeEach(() => {
		Object.assign(state, fresh());
		created = [];
	});

	const urlOf = (taskId: string) => `${server.url}${encodeURI(`${FILE}${taskId}`)}`;
	const environment = () => ({
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		tables: state.tables,
		execution: { id: '11', token: 'token-1' },
	});

	/** Makes the tables those that a killed n8n has left: these rows in a new table. */
	function restore(rows: readonly IDataObject[]): void {
		state.tables = dataTables();
		state.tables.insert(TASK_TABLE, ...rows);
	}

	/** Lets the service know no creation any more: those of a killed n8n among them that it has not seen. */
	function forget(): void {
		created = [];
		server.requests.length = 0;
	}

	const requested = (path: string) =>
		server.requests.filter((request) => request.path.startsWith(path)).map(nameOf);

	/** Creates a task as usual, where a test answers later. */
	function createTask(response: ServerResponse, prompt: string): void {
		usual[CREATE]!(prompt, { model: 'video-m1' })(response);
	}

	async function create(
		items: Items,
		options: IDataObject = {},
		{ type = 'createVideo', parameters, ...more }: More = {},
	): Promise<RunResult> {
		return await runNode(type, {
			...environment(),
			items: toItems(items),
			parameters: parametersOf(options, { ...ofTool(type), ...parameters }),
			...more,
		});
	}

	/** Runs a workflow whose first node gets these items. */
	const flow = async (
		nodes: readonly INode[],
		wires: Wires,
		items: Items,
		more: Partial<EnvironmentOptions> = {},
	) =>
		await runWorkflow(nodes, wires, nodes[0]!.name, {
			...environment(),
			items: toItems(items),
			...more,
		});

	/** Runs the node once for each list of items, in one execution. */
	async function loop(
		rounds: readonly Items[],
		options: IDataObject = {},
		{ type = 'createVideo', parameters, ...more }: More = {},
	): Promise<RunResult> {
		const [first, ...rest] = rounds.map(toItems);
		const next = rest.values();
		const back = stubNode('Loop', (items) => {
			const { value } = next.next();
			return value === undefined
				? [[], items]
				: value.map((fields, item) => ({ json: fields, pairedItem: { item } }));
		});
		const all = parametersOf(options, { ...ofTool(type), ...parameters });
		return await flow(
			[packageNode('Create', type, { ...more, parameters: all }), back],
			{ Create: [['Loop'], ['Loop']], Loop: [['Create'], []] },
			first!,
			more,
		);
	}

	/** Waits for the tasks of these items. */
	const wait = async (
		items: readonly IDataObject[],
		parameters: IDataObject = {},
		more: Partial<RunOptions> = {},
	) => await runNode('waitForVideo', { ...environment(), items, ...more, parameters });

	/** Runs an execution that is killed when this request arrives: nothing of it is left but its rows. */
	async function runKilledAt(request: string, run: () => Promise<unknown>): Promise<void> {
		let rows: readonly IDataObject[] | undefined;
		state.onRequest = (name) => {
			if (name === request) rows ??= structuredClone(state.tables.rows);
		};
		await run();
		state.onRequest = () => undefined;
		forget();
		restore(rows!);
	}

	return Object.assign(state, {
		server,
		urlOf,
		environment,
		restore,
		forget,
		/** The names of the requests so far. */
		requested,
		/** The prompts of the creations so far. */
		sent: () => requested(CREATE),
		rowsOf: () =>
			state.tables.rows
				.map(({ prompt, status }) => `${String(prompt)} ${String(status)}`)
				.sort(),
		createTask,
		create,
		flow,
		loop,
		wait,
		runKilledAt,
	});
}

/** The clocks of n8n and of the process, which the tests of a file move. */
export function movedClock() {
	const moved = {
		aheadMs: 0,
		/** Whether every pause of the node ends at once: its clock jumps to the end. */
		skipsPauses: false,
	};
	const { n8nClock } = clockModule;
	beforeEach(() => {
		Object.assign(moved, { aheadMs: 0, skipsPauses: false });
		const { now } = Date;
		jest.spyOn(Date, 'now').mockImplementation(() => now() + moved.aheadMs);
		jest.spyOn(clockModule, 'n8nClock').mockImplementation((context): Clock => {
			const clock = n8nClock(context);
			const startMs = moved.aheadMs;
			return {
				random: () => clock.random(),
				now: () => clock.now() + moved.aheadMs - startMs,
				async sleep(ms, end) {
					if (moved.skipsPauses) moved.aheadMs += ms;
					await clock.sleep(moved.skipsPauses ? 0 : ms, end);
				},
			};
		});
	});
	return moved;
}

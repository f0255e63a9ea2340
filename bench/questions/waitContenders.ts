import axios from 'axios';

import { DEFAULT_SCHEDULE } from '../../nodes/client/video/poll/task';
import { pollTasks } from '../../nodes/client/video/poll/pollTasks';
import { drawn, node } from '../../test/e2e/support/buildWorkflow';
import { fakeClock } from '../../test/support/fakeClock';
import type { Workflow } from '../../lab/n8n/workflow';
import { httpRequest, ours, splitItems, webhook } from '../lab/nodes';
import type { Lab } from '../lab/startLab';
import { TaskRuns, type Notice } from '../server/taskRuns';
import {
	fixedGap,
	SHORTEST_GAP_MS,
	taskIds,
	waitFigures,
	waitingFor,
	type WaitFigures,
} from './waitPlan';

/** A way of waiting for tasks in n8n. */
export interface N8nContender {
	readonly id: string;
	readonly name: string;
	readonly note: string;
	/** Executions used, and places of a worker held while waiting. */
	readonly held: { readonly executions: number; readonly slots: number };
	/** Whether a quick run leaves it out. */
	readonly isSlow?: true;
	/** The workflow that waits for the tasks in the webhook's items. */
	readonly workflow: (path: string, serverUrl: string) => Workflow;
}

/** A way of waiting without n8n. */
export interface PlainContender {
	readonly id: string;
	readonly name: string;
	readonly note: string;
	/** @param finishMs When the tasks finish, in milliseconds. */
	readonly run: (finishMs: readonly number[]) => Promise<WaitFigures>;
}

/**
 * Waits in n8n and reads at the server what was noticed and when.
 *
 * @param finishMs When the tasks finish, in milliseconds.
 */
export async function waitInN8n(
	{ id, workflow }: N8nContender,
	lab: Lab,
	serverUrl: string,
	finishMs: readonly number[],
): Promise<WaitFigures> {
	const call = await lab.install(workflow(id, serverUrl), id);
	await call({ items: taskIds(id, finishMs).map((task_id) => ({ task_id })) });
	const { data } = await axios.get<Notice[]>(`${serverUrl}/bench/runs/${id}`, { proxy: false });
	return waitFigures(data);
}

/** The loop that tutorials and templates show. */
const template = (waitSeconds: number) => (path: string, serverUrl: string) =>
	drawn(
		path,
		[
			webhook(path, 'lastNode'),
			splitItems(),
			httpRequest(
				'Status',
				`${serverUrl}/v1/videos/tasks`,
				'={{ JSON.stringify({ task_id: $json.task_id }) }}',
			),
			node('Finished?', 'n8n-nodes-base.if', 2.2, {
				parameters: {
					conditions: {
						options: {
							version: 2,
							caseSensitive: true,
							typeValidation: 'strict',
							leftValue: '',
						},
						combinator: 'and',
						conditions: [
							{
								leftValue: '={{ $json.status }}',
								rightValue: 'completed',
								operator: { type: 'string', operation: 'equals' },
							},
						],
					},
				},
			}),
			node('Done', 'n8n-nodes-base.noOp', 1),
			node('Wait', 'n8n-nodes-base.wait', 1.1, {
				parameters: { amount: waitSeconds, unit: 'seconds' },
				webhookId: path,
			}),
		],
		{
			Webhook: [['Items']],
			Items: [['Status']],
			Status: [['Finished?']],
			'Finished?': [['Done'], ['Wait']],
			Wait: [['Status']],
		},
	);

const waitForVideo =
	(parameters: { readonly waitMode: string; readonly options?: object }) => (path: string) =>
		drawn(
			path,
			[
				webhook(path, 'lastNode'),
				splitItems(),
				ours('Wait for Video', 'waitForVideo', { ...parameters, download: false }),
			],
			{
				Webhook: [['Items']],
				Items: [['Wait for Video']],
				...(parameters.waitMode === 'suspend'
					? { 'Wait for Video': [['Wait for Video']] }
					: {}),
			},
		);

/** Our scheduler by itself: time is virtual and a query takes none. */
async function virtually(finishMs: readonly number[]): Promise<WaitFigures> {
	const clock = fakeClock();
	const runs = new TaskRuns();
	await pollTasks(
		clock,
		waitingFor(taskIds('virtual', finishMs), clock.now()),
		(task_id) => Promise.resolve({ task_id, status: runs.query(task_id, clock.now()) }),
		{ schedule: DEFAULT_SCHEDULE, concurrency: 10 },
	);
	return waitFigures(runs.notices('virtual'));
}

const ONE = { executions: 1, slots: 1 };
const REAL = 'real n8n, real time';

/** Everybody; ours in the real n8n comes first, the usual loop second. A further way of waiting is one more row. */
export const IN_N8N: readonly N8nContender[] = [
	{
		id: 'in-place',
		name: 'Wait for Video, in place',
		note: REAL,
		held: ONE,
		workflow: waitForVideo({ waitMode: 'inPlace' }),
	},
	{
		id: 'template-10',
		name: 'HTTP Request + Wait 10 s + IF',
		note: REAL,
		held: ONE,
		workflow: template(10),
	},
	{
		id: 'template-5',
		name: 'HTTP Request + Wait 5 s + IF',
		note: REAL,
		held: ONE,
		workflow: template(5),
	},
	{
		id: 'in-place-5',
		name: 'Wait for Video, in place, a poll every 5 s',
		note: REAL,
		held: ONE,
		workflow: waitForVideo({
			waitMode: 'inPlace',
			options: { longestInterval: 5, jitter: 0 },
		}),
	},
	{
		id: 'suspend',
		name: 'Wait for Video, suspended between polls',
		note: `${REAL}; a step is about 60 s, and the execution is saved in between`,
		held: { executions: 1, slots: 0 },
		isSlow: true,
		workflow: waitForVideo({ waitMode: 'suspend' }),
	},
];

/** What the scheduler does by itself, and what no way of waiting can do better. */
export const PLAIN: readonly PlainContender[] = [
	{
		id: 'scheduler',
		name: 'the scheduler of Wait for Video alone',
		note: 'virtual time, queries take none',
		run: virtually,
	},
	{
		id: 'optimum',
		name: 'optimum: every allowed poll (5 s)',
		note: 'computed',
		run: (finishMs) => Promise.resolve(fixedGap(finishMs, SHORTEST_GAP_MS)),
	},
	{
		id: 'every-10',
		name: 'a poll every 10 s',
		note: 'computed',
		run: (finishMs) => Promise.resolve(fixedGap(finishMs, 2 * SHORTEST_GAP_MS)),
	},
];

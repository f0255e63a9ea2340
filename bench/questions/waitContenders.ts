import axios from 'axios';

import { pollTasks } from '../../nodes/client/video/pollTasks';
import { drawn, node } from '../../test/e2e/support/buildWorkflow';
import { fakeClock } from '../../test/support/fakeClock';
import type { Workflow } from '../../lab/n8n/workflow';
import { httpRequest, ourNode, splitItems, webhook } from '../n8n/nodes';
import type { N8nInstance } from '../n8n/startInstance';
import { TaskRuns, type TaskObservation } from '../server/taskRuns';
import {
	fixedInterval,
	MIN_INTERVAL_MS,
	taskIds,
	waitFigures,
	waitingFor,
	type WaitFigures,
} from './taskPlan';

/** A polling strategy that runs in n8n. */
export interface N8nContender {
	readonly id: string;
	readonly name: string;
	readonly note?: string;
	/** Whether a quick run skips it. */
	readonly isSlow?: true;
	/** Creates the workflow that waits for the tasks in the webhook's body. */
	readonly workflow: (path: string, serverUrl: string) => Workflow;
}

/** A polling strategy that is simulated or computed without n8n. */
export interface PlainContender {
	readonly id: string;
	readonly name: string;
	readonly note: string;
	/** @param finishMs Finish times of the tasks, in milliseconds. */
	readonly run: (finishMs: readonly number[]) => Promise<WaitFigures>;
}

/**
 * Waits for the tasks in n8n and gets the detection times from the server.
 *
 * @param finishMs Finish times of the tasks, in milliseconds.
 */
export async function waitInN8n(
	{ id, workflow }: N8nContender,
	n8n: N8nInstance,
	serverUrl: string,
	finishMs: readonly number[],
): Promise<WaitFigures> {
	const call = await n8n.install(workflow(id, serverUrl), id);
	await call({ items: taskIds(id, finishMs).map((task_id) => ({ task_id })) });
	const { data } = await axios.get<TaskObservation[]>(`${serverUrl}/bench/runs/${id}`, {
		proxy: false,
	});
	return waitFigures(data);
}

/** The polling loop from n8n tutorials and templates. */
const pollingLoop = (waitSeconds: number) => (path: string, serverUrl: string) =>
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

const waitForVideo = (parameters: { readonly waitMode: string }) => (path: string) =>
	drawn(
		path,
		[
			webhook(path, 'lastNode'),
			splitItems(),
			ourNode('Wait for Video', 'waitForVideo', { ...parameters, download: false }),
		],
		{
			Webhook: [['Items']],
			Items: [['Wait for Video']],
		},
	);

/** The scheduler of Wait for Video on a virtual clock; polls take no time. */
async function simulate(finishMs: readonly number[]): Promise<WaitFigures> {
	const clock = fakeClock();
	const runs = new TaskRuns();
	await pollTasks(
		clock,
		waitingFor(taskIds('virtual', finishMs), clock.now()),
		(task_id) => Promise.resolve({ task_id, status: runs.poll(task_id, clock.now()) }),
		{ timeoutMs: 600_000, concurrency: 10 },
	);
	return waitFigures(runs.observations('virtual'));
}

/** The strategies that run in n8n. Another strategy is one more row. */
export const IN_N8N: readonly N8nContender[] = [
	{
		id: 'in-place',
		name: 'Wait for Video, in place',
		workflow: waitForVideo({ waitMode: 'inPlace' }),
	},
	{
		id: 'loop-10',
		name: 'HTTP Request + Wait 10 s + IF',
		workflow: pollingLoop(10),
	},
	{
		id: 'loop-5',
		name: 'HTTP Request + Wait 5 s + IF',
		workflow: pollingLoop(5),
	},
	{
		id: 'suspend',
		name: 'Wait for Video, suspended between polls',
		note: 'n8n looks for executions to resume once a minute',
		isSlow: true,
		workflow: waitForVideo({ waitMode: 'suspend' }),
	},
];

/** The scheduler without n8n, and theoretical limits. */
export const PLAIN: readonly PlainContender[] = [
	{
		id: 'scheduler',
		name: 'scheduler of Wait for Video alone',
		note: 'on a virtual clock, polls take no time',
		run: simulate,
	},
	{
		id: 'optimum',
		name: 'optimum: polling every 5 s, the shortest allowed interval',
		note: 'computed',
		run: (finishMs) => Promise.resolve(fixedInterval(finishMs, MIN_INTERVAL_MS)),
	},
	{
		id: 'every-10',
		name: 'polling every 10 s',
		note: 'computed',
		run: (finishMs) => Promise.resolve(fixedInterval(finishMs, 2 * MIN_INTERVAL_MS)),
	},
];

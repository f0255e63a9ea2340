import type { IDataObject } from 'n8n-workflow';

import { chance, pick } from '../../emulator/random';
import type { Emulator } from '../../emulator/startEmulator';
import { dataTables } from '../support/dataTables';
import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import type { FakeTime } from '../support/fakeTimers';
import { thorough } from '../support/thorough';
import { addRandomFault, PATHS } from './soakFaults';

/** What the nodes reported, to compare with the emulator's tasks and journal. */
export interface LoadReport {
	/** Outcome of each paid call, by its question. */
	readonly replies: Map<string, 'answered' | 'failed'>;
	/** Result of each creation, by its prompt: the task, or whether one may exist. */
	readonly creations: Map<string, { readonly taskId?: string; readonly outcomeUnknown: boolean }>;
	/** Final output item of Wait for Video, by task ID. */
	readonly endings: Map<string, IDataObject>;
	/** Number of node runs. */
	runs: number;
}

/** How long the users work, in minutes of fake time. */
export const LOAD_MINUTES = thorough(8, 30);
const LOAD_MS = LOAD_MINUTES * 60_000;
/** Maximum pause of a user between two runs. */
const PAUSE_MS = 20_000;
/** Words in a prompt that decide how the emulator ends the task. */
const OUTCOMES = ['', '', '', '', 'fail-task', 'moderated-task', 'unknown-task', 'stuck-task'];
const SEED = 'soak';
const ERROR_OUTPUT = { onError: 'continueErrorOutput' } as const;
const WEATHER = {
	name: 'weather',
	description: 'Tells the weather of a city',
	define: 'fields',
	parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs all nodes, each by a user of its own. */
export async function load(
	emulator: Emulator,
	apiKey: string,
	time: FakeTime,
): Promise<LoadReport> {
	const report: LoadReport = {
		replies: new Map(),
		creations: new Map(),
		endings: new Map(),
		runs: 0,
	};
	const environment = {
		credential: { baseUrl: emulator.url, apiKey },
		tables: dataTables(),
	};
	const toWaitFor: string[] = [];
	const isLoadOver = () => time.passedMs() >= LOAD_MS;

	/** Runs a node repeatedly, with random faults. */
	async function user(
		name: string,
		path: string,
		run: (nth: number, seed: string) => Promise<void>,
	) {
		for (let nth = 0; !isLoadOver(); nth++) {
			const seed = `${SEED} ${name} ${nth}`;
			addRandomFault(emulator, path, seed);
			await run(nth, seed);
			report.runs++;
			await pause(chance(seed, 'pause') * PAUSE_MS);
		}
	}

	async function chat(node: string, parameters: IDataObject, question: string, seed: string) {
		const { outputs } = await runNode(node, {
			...environment,
			...ERROR_OUTPUT,
			streaming: chance(seed, 'live') < 0.5,
			items: [{ question, key: pick(['a', 'b'], seed, 'key') }],
			parameters: {
				streaming: pick(['auto', 'off'], seed, 'streaming'),
				options: { timeout: 60 },
				...parameters,
			},
		});
		note(question, outputs.flat());
	}

	function note(question: string, items: readonly { readonly json: IDataObject }[]): void {
		const isGood = items.length === 1 && items[0]!.json['error'] === undefined;
		report.replies.set(question, isGood ? 'answered' : 'failed');
	}

	async function agent(question: string): Promise<void> {
		const nodes = [
			stubNode('Start', (items) => items),
			packageNode('Agent', 'functionCallingAgent', {
				...ERROR_OUTPUT,
				parameters: {
					prompt: question,
					tools: { tool: [WEATHER] },
					options: { timeout: 60 },
				},
			}),
			stubNode('Weather', () => [{ json: { sky: 'clear' } }]),
		];
		const wires = { Start: [['Agent']], Agent: [[], [], ['Weather']], Weather: [['Agent']] };
		const result = await runWorkflow(nodes, wires, 'Start', environment);
		const ended = allItems(result, 'Agent').flat();
		note(
			question,
			ended.filter(({ json }) => json['tool_call'] === undefined),
		);
	}

	async function model(question: string, stream: boolean): Promise<void> {
		const nodes = [
			packageNode('Model', 'agentVideoChatModel', {
				parameters: { options: { timeout: 60, extraBody: { marker: question } } },
			}),
			modelCallerNode('Chain', { stream }),
		];
		const { status } = await runWorkflow(nodes, {}, 'Chain', {
			...environment,
			model: { name: 'Model', of: 'Chain' },
		});
		report.replies.set(question, status === 'success' ? 'answered' : 'failed');
	}

	async function create(nth: number, seed: string): Promise<void> {
		const prompts = [...Array(1 + Math.floor(chance(seed, 'items') * 3)).keys()].map((item) =>
			`Clip ${nth}-${item} ${pick(OUTCOMES, seed, item)}`.trim(),
		);
		const { outputs } = await runNode('createVideo', {
			...environment,
			...ERROR_OUTPUT,
			retryOnFail: chance(seed, 'retries') < 0.3,
			items: prompts.map((prompt) => ({ prompt })),
			parameters: {
				prompt: '={{ $json.prompt }}',
				model: { __rl: true, mode: 'id', value: 'video-m1' },
			},
		});
		for (const { json, pairedItem } of outputs.flat()) {
			const prompt = prompts[(pairedItem as { item: number }).item]!;
			const details = json['details'] as IDataObject | undefined;
			const { task_id: taskId } = json;
			const isMade = typeof taskId === 'string';
			report.creations.set(prompt, {
				...(isMade ? { taskId } : {}),
				outcomeUnknown: isMade || details?.['outcome_unknown'] === true,
			});
			// When the outcome is unknown, a person would look up the task at the service.
			const task = emulator.tasks.all.find(({ video }) => video.prompt === prompt);
			if (task !== undefined) toWaitFor.push(task.id);
		}
	}

	async function waitFor(taskIds: readonly string[], options: Partial<RunOptions> = {}) {
		const { outputs } = await runNode('waitForVideo', {
			...environment,
			items: taskIds.map((task_id) => ({ task_id })),
			...options,
		});
		for (const { json } of outputs.flat()) {
			const { task_id: taskId, reason } = json as { task_id: string; reason?: string };
			report.endings.set(taskId, json);
			// Polling again costs nothing.
			if (reason === 'http' || reason === 'download') toWaitFor.push(taskId);
		}
	}

	const question = (name: string, nth: number) => `Weather in Rome? ${name} ${nth}`;
	const users = [
		user('chat', PATHS.chat, async (nth, seed) => {
			await chat(
				'chatCompletion',
				{ prompt: '={{ $json.question }}' },
				question('chat', nth),
				seed,
			);
		}),
		user('assistant', PATHS.chat, async (nth, seed) => {
			const session = { session: 'key', sessionKey: '={{ $json.key }}' };
			const parameters = {
				appCode: 'demo-assistant',
				message: '={{ $json.question }}',
				...session,
			};
			await chat('superAssistant', parameters, question('assistant', nth), seed);
		}),
		user('agent', PATHS.chat, async (nth) => {
			await agent(question('agent', nth));
		}),
		user('model', PATHS.chat, async (nth, seed) => {
			await model(question('model', nth), chance(seed, 'stream') < 0.5);
		}),
		user('create', PATHS.creation, create),
		...['one', 'two', 'three'].map(async (name) => {
			await user(`wait ${name}`, PATHS.query, async (_nth, seed) => {
				addRandomFault(emulator, PATHS.files, seed);
				const taken = toWaitFor.splice(0, 5);
				if (taken.length > 0) await waitFor(taken);
			});
		}),
	];
	await Promise.all(users);
	emulator.faults.clear();
	while (toWaitFor.length > 0) await waitFor(toWaitFor.splice(0));
	return report;
}

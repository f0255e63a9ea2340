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
import { addRandomFault, PATHS } from './soakFaults';

/** What the nodes have told, to be held against the books of the emulator. */
export interface Told {
	/** Replies and failures of paid calls, by the question. */
	readonly replies: Map<string, 'answered' | 'failed'>;
	/** By prompt: the task, or that there may be one, or that there is none. */
	readonly creations: Map<string, { readonly taskId?: string; readonly outcomeUnknown: boolean }>;
	/** By task: how the wait for it ended. */
	readonly endings: Map<string, IDataObject>;
	/** Runs of nodes. */
	runs: number;
}

const LOAD_MS = 30 * 60_000;
/** Longest pause of a user between two runs. */
const PAUSE_MS = 20_000;
/** What becomes of a video, by words that the emulator knows. */
const FATES = ['', '', '', '', 'fail-task', 'moderated-task', 'unknown-task', 'stuck-task'];
const SEED = 'soak';
const GOES_ON = { onError: 'continueErrorOutput' } as const;
const WEATHER = {
	name: 'weather',
	description: 'Tells the weather of a city',
	define: 'fields',
	parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Half an hour of work for all nodes, each used by somebody who does not know of the others. */
export async function load(emulator: Emulator, apiKey: string, time: FakeTime): Promise<Told> {
	const told: Told = { replies: new Map(), creations: new Map(), endings: new Map(), runs: 0 };
	const environment = {
		credential: { baseUrl: emulator.url, apiKey },
		tables: dataTables(),
	};
	const toWaitFor: string[] = [];
	const isLoadOver = () => time.passedMs() >= LOAD_MS;

	/** A user who runs a node again and again, and whose calls go wrong on the way. */
	async function user(
		name: string,
		path: string,
		run: (nth: number, seed: string) => Promise<void>,
	) {
		for (let nth = 0; !isLoadOver(); nth++) {
			const seed = `${SEED} ${name} ${nth}`;
			addRandomFault(emulator, path, seed);
			await run(nth, seed);
			told.runs++;
			await pause(chance(seed, 'pause') * PAUSE_MS);
		}
	}

	async function chat(node: string, parameters: IDataObject, question: string, seed: string) {
		const { outputs } = await runNode(node, {
			...environment,
			...GOES_ON,
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
		told.replies.set(question, isGood ? 'answered' : 'failed');
	}

	async function agent(question: string): Promise<void> {
		const nodes = [
			stubNode('Start', (items) => items),
			packageNode('Agent', 'agentWithTools', {
				...GOES_ON,
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
		told.replies.set(question, status === 'success' ? 'answered' : 'failed');
	}

	async function create(nth: number, seed: string): Promise<void> {
		const prompts = [...Array(1 + Math.floor(chance(seed, 'items') * 3)).keys()].map((item) =>
			`Clip ${nth}-${item} ${pick(FATES, seed, item)}`.trim(),
		);
		const { outputs } = await runNode('createVideo', {
			...environment,
			...GOES_ON,
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
			told.creations.set(prompt, {
				...(isMade ? { taskId } : {}),
				outcomeUnknown: isMade || details?.['outcome_unknown'] === true,
			});
			// After a failure in doubt, a person looks whether the service has the task.
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
			told.endings.set(taskId, json);
			// Nothing is lost by asking again.
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
	return told;
}

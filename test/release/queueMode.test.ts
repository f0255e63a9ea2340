import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { streamWebhook } from '../../lab/n8n/streamChat';
import { events, startScriptedServer, type Script } from '../support/scriptedServer';
import { drawn, node, webhook, workflow } from '../e2e/support/buildWorkflow';
import { set, start } from '../e2e/support/drawAgent';
import { heldReply, text } from '../e2e/support/heldReply';
import { createAtOnce, keyedWorkflow } from '../e2e/support/keyedVideos';
import { CREATIONS, LEDGER } from '../e2e/support/ledger';
import { crowdedAssistant, sendAtOnce } from '../e2e/support/sharedSession';
import { startQueueSession } from '../e2e/support/queueSession';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { useSessionOf } from '../e2e/support/useSession';

const ASSISTANT = 'n8n-nodes-agent-video.superAssistant';
/** Executions that a person starts run on the main process by default; here on the workers, like all others. */
const MANUAL_ON_WORKERS = { OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' };

/** Concurrency 2: four executions need both workers. */
const OPTIONS = { videoSeconds: 4, concurrency: 2, settings: MANUAL_ON_WORKERS };

const session = useSessionOf((running) => startQueueSession(running, OPTIONS));
let answer: Script;

beforeAll(async () => {
	const scripted = session.keep(
		await startScriptedServer((...args) => {
			answer(...args);
		}),
	);
	await session.credential('Scripted', scripted.url);
}, SET_UP_LIMIT_MS);

/** An assistant that keeps a session for the key in the body of the webhook. */
const KEYED = {
	message: '={{ $json.body.message }}',
	session: 'key',
	sessionKey: '={{ $json.body.key }}',
};
const assistant = (parameters: object, credential = EXAMPLE_CREDENTIAL) =>
	node('Assistant', ASSISTANT, 1, {
		parameters: { appCode: 'demo-assistant', ...parameters },
		credential,
	});

/** The indexes of the workers that ran these executions. */
const workersOf = (executions: readonly { readonly id: string }[]) =>
	[...new Set(executions.map(({ id }) => session.workerOf(id)))].sort();

describe('sessions remembered per key', () => {
	const NAMES = ['Ada', 'Bob', 'Cleo', 'Dan'] as const;
	let ref: WorkflowRef;
	const sendMessage = async (key: string, message: string) => {
		const url = `${session.queue.main.url}/webhook/memory`;
		return (await postWebhook<{ output: string }>(url, { key, message })).data.output;
	};

	beforeAll(async () => {
		ref = await session.publish(
			workflow('Memory', [webhook('memory', 'lastNode'), assistant(KEYED)]),
		);
	}, RUN_LIMIT_MS);

	it(
		'remembers concurrent first messages on all workers',
		async () => {
			await Promise.all(
				NAMES.map((name) => sendMessage(`chat-${name}`, `My name is ${name}.`)),
			);
			const recalled = await Promise.all(
				NAMES.map((name) => sendMessage(`chat-${name}`, 'What is my name?')),
			);
			expect(recalled).toStrictEqual(NAMES.map((name) => `Your name is ${name}.`));
			expect(await sendMessage('chat-nobody', 'What is my name?')).toBe(
				'You have not told me that yet.',
			);

			const executions = await session.client.executions(ref);
			expect(executions).toHaveLength(2 * NAMES.length + 1);
			expect(workersOf(executions)).toStrictEqual([0, 1]);
		},
		RUN_LIMIT_MS,
	);

	it(
		'of first messages of one key at the same moment on both workers, the session of the newest row stays',
		async () => {
			answer = crowdedAssistant();
			const crowd = await session.publish(
				workflow('Crowd', [
					webhook('crowd', 'lastNode'),
					assistant({ ...KEYED, output: 'detailed' }, 'Scripted'),
				]),
			);
			const url = `${session.queue.main.url}/webhook/crowd`;
			const { first, newest, later } = await sendAtOnce(session.client, url);
			expect([...first].sort()).toStrictEqual(['s-0', 's-1', 's-2', 's-3']);
			expect(first).toContain(newest);
			expect(later).toBe(newest);
			expect(workersOf(await session.client.executions(crowd))).toStrictEqual([0, 1]);
		},
		RUN_LIMIT_MS,
	);

	it(
		'concurrent first messages do not conflict when they create the table',
		async () => {
			for (let round = 1; round <= 2; round++) {
				await session.client.removeDataTables('agent_video_sessions');
				const replies = await Promise.all(
					NAMES.map((name) => sendMessage(`${round}-${name}`, `My name is ${name}.`)),
				);
				expect(new Set(replies)).toStrictEqual(
					new Set(['Noted, I will keep that in mind.']),
				);
			}
		},
		RUN_LIMIT_MS,
	);
});

it(
	'messages of one chat on both workers at the same moment lose no turn of its memory',
	async () => {
		const names = ['a', 'b', 'c', 'd'];
		const requests: { readonly messages: readonly { readonly content: string }[] }[] = [];
		/** The first reply waits for the second request: it is of the other worker, which has then read the memory, too. */
		let held: (() => void) | undefined;
		answer = (response, { body }) => {
			const request = body as (typeof requests)[number];
			const send = () => {
				const reply = `Re: ${request.messages.at(-1)!.content}`;
				events(response, [text(reply), { choices: [{ finish_reason: 'stop' }] }, '[DONE]']);
			};
			if (requests.push(request) === 1) held = send;
			else {
				held?.();
				held = undefined;
				send();
			}
		};
		const ref = await session.publish(
			workflow('Chat', [
				webhook('chat', 'lastNode'),
				node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: {
						prompt: '={{ $json.body.message }}',
						memory: 'key',
						memoryKey: '={{ $json.body.key }}',
					},
					credential: 'Scripted',
				}),
			]),
		);
		const url = `${session.queue.main.url}/webhook/chat`;
		const send = async (message: string) => await postWebhook(url, { message, key: 'one' });
		for (const round of ['1', '2'])
			await Promise.all(names.map(async (name) => await send(name + round)));
		await send('last');
		const texts = requests.at(-1)!.messages.map(({ content }) => content);
		const asked = texts.filter((content) => /^[a-d]/.test(content));
		expect(asked.sort()).toStrictEqual(names.flatMap((name) => [`${name}1`, `${name}2`]));
		expect(texts).toHaveLength(17);
		expect(workersOf(await session.client.executions(ref))).toStrictEqual([0, 1]);
	},
	RUN_LIMIT_MS,
);

it(
	'executions of one Idempotency Key at the same moment create one video on all workers',
	async () => {
		const ref = await session.publish(keyedWorkflow('keyed'));
		const items = await createAtOnce(
			session,
			ref,
			`${session.queue.main.url}/webhook/keyed`,
			// Concurrency 2 on two workers.
			{ key: 'order 1', count: 4 },
		);
		expect(session.emulator.journal.of(CREATIONS)).toHaveLength(1);
		expect(new Set(items.map(({ task_id: id }) => id)).size).toBe(1);
		expect(items.filter(({ reused }) => reused === true)).toHaveLength(3);
		expect(workersOf(await session.client.executions(ref))).toStrictEqual([0, 1]);
	},
	RUN_LIMIT_MS,
);

it(
	'executions on two workers at the same moment do not exceed a limit of the day',
	async () => {
		const { emulator, queue } = session;
		const ref = await session.publish(
			workflow('Limited', [
				webhook('limited', 'onReceived'),
				node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
					parameters: {
						prompt: '=limited {{ $execution.id }}',
						options: { maximumVideos: 3, limitPeriod: 'day' },
					},
					credential: EXAMPLE_CREDENTIAL,
				}),
			]),
		);
		const post = async () => await postWebhook(`${queue.main.url}/webhook/limited`, {});
		const made = () =>
			emulator.tasks.all.filter(({ video }) => video.prompt.startsWith('limited '));
		await Promise.all(Array.from({ length: 6 }, post));
		const ended = await Promise.all(
			(await session.client.executions(ref)).map(({ id }) =>
				session.client.waitForExecution(id),
			),
		);
		expect(workersOf(ended)).toStrictEqual([0, 1]);
		// One of each worker, of which the last video of the day would do for one: both may be refused.
		const { length } = made();
		expect([2, 3]).toContain(length);
		const failures = ended.map(failureOf).filter((each) => each !== '');
		expect(failures).toStrictEqual(
			Array(6 - length).fill(
				expect.stringMatching(
					/Maximum Videos is 3\. This run would create 1, and this workflow has created [3-5] today/,
				),
			),
		);
		const rows = (await session.client.dataTableRows(LEDGER))!;
		const own = rows.filter(({ prompt }) => String(prompt).startsWith('limited '));
		expect(own.map(({ status }) => status)).toStrictEqual(Array(length).fill('open'));

		let last = '';
		for (let later = length; later <= 3; later++) {
			await post();
			last = failureOf(await session.client.lastExecution(ref));
		}
		expect(last).toContain('has created 3 today');
		expect(made()).toHaveLength(3);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'an agent runs its tools on a worker in every round',
	async () => {
		const tool = {
			name: 'get_weather',
			description: 'Get the current weather of a city',
			define: 'example',
			example: '{ "city": "Rome" }',
		};
		const nodes = [
			start,
			node('Agent', 'n8n-nodes-agent-video.functionCallingAgent', 1, {
				parameters: {
					prompt: 'What is the weather in Paris and Rome?',
					tools: { tool: [tool] },
					output: 'detailed',
				},
				credential: EXAMPLE_CREDENTIAL,
			}),
			set('Weather', '={{ { "sky": "clear in " + $json.city } }}'),
		];
		const ways = { Start: [['Agent']], Agent: [[], [], ['Weather']], Weather: [['Agent']] };
		const execution = await session.execute(drawn('Agent', nodes, ways));
		expect(failureOf(execution)).toBe('');
		expect(workersOf([execution])).not.toContain(-1);
		const [reply] = outputItems(execution, 'Agent');
		expect(reply!.json['tool_calls']).toMatchObject([
			{ arguments: { city: 'Paris' }, result: { sky: 'clear in Paris' } },
			{ arguments: { city: 'Rome' }, result: { sky: 'clear in Rome' } },
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'text that a worker receives is streamed through the main process at once',
	async () => {
		const reply = heldReply([text('The first ')], [text('and the last.')]);
		answer = reply.script;
		const ref = await session.publish(
			workflow('Live', [
				webhook('live', 'streaming'),
				assistant({ message: '={{ $json.body.message }}' }, 'Scripted'),
			]),
		);
		let finishedAtFirstItem: boolean | undefined;
		const lines = await streamWebhook(
			`${session.queue.main.url}/webhook/live`,
			{ message: 'Hi' },
			({ type }) => {
				if (type !== 'item' || finishedAtFirstItem !== undefined) return;
				finishedAtFirstItem = reply.isFinished();
				// The service continues only after the first chunk has arrived.
				reply.finish();
			},
		);
		expect(finishedAtFirstItem).toBe(false);
		expect(lines.map(({ type, content }) => [type, content])).toStrictEqual([
			['begin', undefined],
			['item', 'The first '],
			['item', 'and the last.'],
			['end', undefined],
		]);
		expect(workersOf(await session.client.executions(ref))).not.toContain(-1);
	},
	RUN_LIMIT_MS,
);

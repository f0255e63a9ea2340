// @seconds 115
/** What goes on when n8n is killed: work of all kinds is under way in one n8n, which is killed and started again. */
import { setTimeout as sleep } from 'node:timers/promises';

import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { EXAMPLE_CREDENTIAL, readExampleFile } from '../../lab/n8n/readExample';
import { chatText, streamWebhook } from '../../lab/n8n/streamChat';
import type { Workflow } from '../../lab/n8n/workflow';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { chatMessage, chatTrigger, node, workflow } from './support/buildWorkflow';
import { code, set, start } from './support/drawAgent';
import {
	callingWorkflow,
	compareBooks,
	CREATIONS,
	expectEnd,
	expectFile,
	IN_ORDER,
	ledgerRows,
	loopWorkflow,
	MOMENTS,
	POLLS,
	prepare,
	requestsOf,
	unanswered,
	until,
	VIDEOS,
	videosWorkflow,
	type Moment,
	type OnError,
} from './support/ledger';
import { makeTasksOld } from './support/oldTasks';
import { startScriptedModel } from './support/scriptedModel';
import { createCredential, SET_UP_LIMIT_MS } from './support/session';
import { surviveKills, type Ends, type Place, type Survivor } from './support/survivors';

/** How often executions are killed at a drawn moment, each up to three times. Workers are killed in test/release/ledgerQueue.test.ts. */
const KILLS = thorough(MOMENTS.length, 20);
const MOST_KILLS = thorough(2, 3);
/** n8n writes an answer to its table within this time: some kills hit it. */
const LATER_MS = 80;
/** n8n recovers crashed executions while it starts, and goes on with those that it had only queued. */
const RECOVERY_MS = 30_000;
const FILES = '/cdn/';

/** A moment at which n8n is killed, or a little later: while it may be writing to the ledger. */
interface Kill {
	readonly moment: Moment;
	readonly laterMs: number;
}

/**
 * The node that starts the workflow was added last. A retry begins without the run of the node that is last in the list,
 * and keeps what n8n has noted for the others of a crashed execution.
 */
const startLast = (drawn: Workflow): Workflow => ({ ...drawn, nodes: drawn.nodes.toReversed() });

/** Starts an execution by its webhook; returns its ID. */
async function begin({ n8n, client, key }: Place, ref: WorkflowRef, path = key): Promise<string> {
	await postWebhook(`${n8n.url}/webhook/${path}`, { key });
	const [newest] = await client.executions(ref);
	return newest!.id;
}

const retry = async (client: N8nClient, { id }: Pick<Execution, 'id'>) =>
	await client.readExecution(await client.retry(id));

/** Starts the retry of an execution; `ended` is true when it has ended. A kill breaks its connection. */
function beginRetry(
	client: N8nClient,
	id: string,
): { ended: boolean; readonly end: Promise<string> } {
	const begun = { ended: false, end: client.retry(id) };
	const end = () => (begun.ended = true);
	begun.end.then(end, end);
	return begun;
}

/**
 * The newest execution, once it has ended: n8n finds it crashed. One that was killed after its start was logged and before that
 * of its first node stays "running" in n8n: it is stopped as a person would.
 */
async function crashed(client: N8nClient, ref: WorkflowRef): Promise<Execution> {
	const [newest] = await client.executions(ref);
	const { id } = newest!;
	return await client.waitForExecution(id, { limitMs: RECOVERY_MS }).catch(async () => {
		await client.stop(id);
		return await client.waitForExecution(id);
	});
}

async function expectBooksInOrder({ emulator, client, key }: Place): Promise<void> {
	expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);
}

/** Groups of kills, each for one execution and its retries. All kinds of moments take part equally often. */
function drawKills(): Kill[][] {
	const random = seededRandom(18);
	const draw = (below: number) => Math.floor(random() * below);
	const kills = Array.from({ length: KILLS }, (_, index): Kill => ({
		moment: MOMENTS[index % MOMENTS.length]!(draw(VIDEOS)),
		laterMs: draw(LATER_MS),
	})).sort(() => random() - 0.5);
	const groups: Kill[][] = [];
	while (kills.length > 0) groups.push(kills.splice(0, 1 + draw(MOST_KILLS)));
	return groups;
}

/** An execution whose every try is killed at a moment, and is retried after it: nothing is created twice. */
const killedAt = (kills: readonly Kill[], onError: OnError): Survivor => ({
	isTimed: true,
	work: async function* (place) {
		const { emulator, client, key } = place;
		const drawn = videosWorkflow(key, { onError });
		const ref = await place.publish(onError === 'stopWorkflow' ? drawn : startLast(drawn));
		let execution: Execution | undefined;
		for (const { moment, laterMs } of kills) {
			prepare(emulator, key, moment);
			emulator.journal.clear();
			const begun = execution && beginRetry(client, execution.id);
			if (!begun) await begin(place, ref);
			// A retry that has no such request left polls the videos of the known tasks.
			const polls = () => begun !== undefined && emulator.journal.of(POLLS).length > 0;
			const hasCome = () => moment.hasCome(requestsOf(emulator, key));
			await until(() => hasCome() || polls() || begun?.ended === true);
			await sleep(laterMs);
			yield;
			execution = await crashed(client, ref);
			if (!begun) expect(['crashed', 'canceled']).toContain(execution.status);
			// A retry may need no request that it could be killed at.
			if (!['crashed', 'canceled'].includes(execution.status)) break;
		}
		if (['crashed', 'canceled'].includes(execution!.status))
			execution = await retry(client, execution!);
		await expectBooksInOrder(place);
		await expectEnd(client, key, execution!, onError);
		// Two were under way at each kill.
		const open = unanswered(await ledgerRows(client, key));
		expect(open.length).toBeLessThanOrEqual(2 * kills.length);
	},
});

const DRAWN: Readonly<Record<string, Survivor>> = Object.fromEntries(
	drawKills().map((kills, index) => {
		const onError = index % 2 === 0 ? 'stopWorkflow' : 'continueErrorOutput';
		const moments = kills.map(({ moment, laterMs }) => `${moment.name} + ${laterMs} ms`);
		return [
			`n8n is killed ${index + 1}: ${moments.join('; then ')} (${onError})`,
			killedAt(kills, onError),
		];
	}),
);

/** All videos are created, and the execution waits for them: its retry knows all of them. */
const knowsAll = (draw: (place: Place) => Promise<Workflow>): Survivor => ({
	work: async function* (place) {
		const { emulator, client, key } = place;
		const ref = await place.publish(await draw(place));
		emulator.faults.add({ kind: 'stall', path: POLLS, count: 99 });
		await begin(place, ref);
		await until(async () => {
			const rows = await ledgerRows(client, key);
			return rows.filter(({ status }) => status !== 'sent').length === VIDEOS;
		});
		yield;
		const execution = await retry(client, await client.lastExecution(ref));
		await expectBooksInOrder(place);
		await expectEnd(client, key, execution);
	},
});

const LEDGER_SURVIVORS: Readonly<Record<string, Survivor>> = {
	'a retry knows the videos of each round of a loop': knowsAll(({ key }) =>
		Promise.resolve(loopWorkflow(key)),
	),
	'a retry knows the videos of each call of a sub-workflow': knowsAll(
		async ({ key, client }) => await callingWorkflow(key, client),
	),

	'the execution of a sub-workflow is retried by itself': {
		work: async function* (place) {
			const { emulator, client, key } = place;
			emulator.faults.add({ kind: 'stall', path: CREATIONS, skip: 4, count: 99 });
			const inBackground = { mode: 'once', options: { waitForSubWorkflow: false } };
			const { called, ...calling } = await callingWorkflow(key, client, inBackground);
			await begin(place, await place.publish(calling));
			await until(async () => {
				const rows = await ledgerRows(client, key);
				return unanswered(rows).length === 2 && rows.filter(hasTask).length === 4;
			});
			yield;
			// The table operations of its nodes are listed for a moment as later ones.
			const [first] = (await client.executions(called)).slice(-1);
			const execution = await client.waitForExecution(first!.id);
			expect(execution.status).toBe('crashed');
			// Nobody knows whether the last two exist.
			expect(failureOf(await retry(client, execution))).toMatch(/may exist/);
			for (const { prompt } of unanswered(await ledgerRows(client, key)))
				await client.deleteDataTableRows('agent_video_tasks', 'prompt', prompt);
			const retried = await retry(client, execution);
			expect(retried.status).toBe('success');
			expect(outputItems(retried, 'Create Video')).toHaveLength(VIDEOS);
			await expectBooksInOrder(place);
		},
	},

	'Retry On Fail repeats no creation, also when n8n is killed in between': {
		work: async function* (place) {
			const { emulator, client, key } = place;
			// The third creation is rejected once: n8n tries the node again, and is killed in this try.
			emulator.faults.add(
				{ kind: 'status', status: 402, path: CREATIONS, skip: 2 },
				{ kind: 'holdBody', path: CREATIONS, skip: 4, count: 9 },
			);
			const more = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
			const ref = await place.publish(startLast(videosWorkflow(key, { more })));
			await begin(place, ref);
			await until(() => emulator.journal.of(CREATIONS).length === 7);
			yield;
			const execution = await retry(client, await crashed(client, ref));
			await expectBooksInOrder(place);
			await expectEnd(client, key, execution);
		},
	},

	'a retry that asks for something else under a key of its killed try says at once that it is in use':
		{
			work: async function* (place) {
				const { emulator, client, key } = place;
				emulator.faults.add({ kind: 'stall', path: CREATIONS, count: 9 });
				const parameters = { prompt: '={{ $json.prompt }} in {{ $execution.id }}' };
				const ref = await place.publish(videosWorkflow(key, { parameters, isKeyed: true }));
				await begin(place, ref);
				await until(() => emulator.journal.of(CREATIONS).length === 2);
				yield;
				emulator.journal.clear();
				const begun = beginRetry(client, (await crashed(client, ref)).id);
				// Another execution would wait for 90 s.
				await until(() => begun.ended, 60_000);
				const execution = await client.readExecution(await begun.end);
				expect(failureOf(execution)).toMatch(/Idempotency Key is in use: an execution/);
				expect(emulator.journal.of(CREATIONS)).toStrictEqual([]);
			},
		},

	'n8n is killed in a Retry, and the next one goes on': {
		work: async function* (place) {
			const { emulator, client, key } = place;
			// One video is rejected; of another the file is gone, once.
			emulator.faults.add(
				{ kind: 'status', status: 406, path: CREATIONS, contains: 'shot 4' },
				{ kind: 'status', status: 410, path: FILES, skip: 1 },
			);
			const ref = await place.publish(videosWorkflow(key));
			await begin(place, ref);
			const failed = await client.lastExecution(ref);
			expect(failureOf(failed)).toMatch(/1 of 5 videos failed: .*1 of 6 videos failed: /);
			emulator.faults.add({ kind: 'hold', path: POLLS, count: 2 });
			const before = emulator.journal.of(POLLS).length;
			beginRetry(client, failed.id);
			await until(() => emulator.journal.of(POLLS).length > before);
			yield;
			const killed = await client.lastExecution(ref);
			expect(killed.status).toBe('crashed');
			expect(killed.id).not.toBe(failed.id);
			const retried = await retry(client, killed);
			await expectEnd(client, key, retried);
			await expectBooksInOrder(place);
			expect(emulator.journal.of(CREATIONS)).toHaveLength(VIDEOS + 1);
		},
	},

	'a node that waits itself is killed while it downloads: the retry creates no video, and has all files':
		{
			work: async function* (place) {
				const { emulator, client, key } = place;
				// The first two requests of this kind are answered.
				emulator.faults.add({ kind: 'holdBody', path: FILES, skip: 2, count: 99 });
				const parameters = { waitUntilFinished: true };
				const { nodes } = videosWorkflow(key, { parameters });
				// Without Wait for Video.
				const ref = await place.publish(workflow(key, nodes.slice(0, -1)));
				await begin(place, ref);
				const files = () =>
					emulator.journal.entries.filter(({ path }) => path.startsWith(FILES));
				await until(() => files().length > 2);
				yield;
				const killed = await client.lastExecution(ref);
				expect(killed.status).toBe('crashed');
				emulator.journal.clear();
				const retried = await retry(client, killed);
				expect(emulator.journal.of(CREATIONS)).toHaveLength(0);
				const items = outputItems(retried, 'Create Video');
				expect(items.map(({ json }) => json['status'])).toStrictEqual(
					Array(VIDEOS).fill('completed'),
				);
				for (const item of items) await expectFile(client, item);
				await expectBooksInOrder(place);
				expect(await ledgerRows(client, key)).toMatchObject(
					Array(VIDEOS).fill({ status: 'done', finished_at: SOME_TEXT }),
				);
			},
		},

	'a schedule delivers what an execution left behind, once': {
		work: async function* (place) {
			const { emulator, client, key } = place;
			await createCredential(client, EXAMPLE_CREDENTIAL, emulator.url);
			const collecting = await client.importWorkflow(
				await readExampleFile('collect-videos.json'),
			);
			const collect = async () => {
				const id = await client.run(collecting, 'Run Now');
				const execution = await client.waitForExecution(id);
				expect(failureOf(execution)).toBe('');
				return outputItems(execution, 'Finished Videos');
			};
			const ref = await place.publish(videosWorkflow(key));
			emulator.faults.add({ kind: 'stall', path: POLLS, count: 99 });
			await begin(place, ref);
			// All are created, and the execution waits for them.
			await until(() => emulator.journal.of(POLLS).length >= VIDEOS);
			yield;
			const taskIds = emulator.tasks.all.map(({ id }) => id).sort();
			expect(taskIds).toHaveLength(VIDEOS);
			expect(await client.lastExecution(ref)).toMatchObject({ status: 'crashed' });
			expect(await collect()).toStrictEqual([]);

			await makeTasksOld(client, taskIds);
			// Of two schedules at the same moment, each gets some of the tasks or all.
			const collected = (await Promise.all([collect(), collect()])).flat();
			expect(collected.map(({ json }) => json['task_id']).sort()).toStrictEqual(taskIds);
			for (const item of collected) {
				await expectFile(client, item);
				expect(item.json).toMatchObject({
					prompt: expect.stringContaining(`${key} shot`) as string,
					ledger: { workflow_id: ref.id, model: 'video-m1' },
				});
			}
			expect(await collect()).toStrictEqual([]);
			const address = expect.stringContaining('.mp4') as string;
			expect(await ledgerRows(client, key)).toMatchObject(
				Array(VIDEOS).fill({
					...{ status: 'done', finished_at: SOME_TEXT },
					...{ video_url: address, file_name: address },
				}),
			);
		},
	},
};

const SOME_TEXT = expect.any(String) as string;
const hasTask = ({ task_id: id }: Readonly<Record<string, unknown>>) => Boolean(id);

const completion = (parameters: object, credential = 'Emulator') =>
	node('Answer', 'n8n-nodes-agent-video.chatCompletion', 1, {
		parameters: { prompt: '={{ $json.question }}', memory: 'chat', ...parameters },
		credential,
	});
const EDIT = set('Edit', '={{ { "question": $json.chatInput } }}');

const CHAT_SURVIVORS: Readonly<Record<string, Survivor>> = {
	'a public chat remembers in Chat Completion, behind another node, and in Super Assistant by default':
		{
			work: async function* ({ n8n, client, key, publish, running }) {
				const model = running.keep(await startScriptedModel());
				model.replyWith((messages) => `Re: ${String(messages.at(-1)!.content)}`);
				await createCredential(client, 'Model', model.url);
				const answer = completion({ systemMessage: 'Be brief' }, 'Model');
				const { id } = await publish(
					workflow(key, [chatTrigger(key, 'lastNode'), EDIT, answer]),
				);
				const assistant = node('Answer', 'n8n-nodes-agent-video.superAssistant', 1, {
					parameters: { appCode: 'demo-assistant' },
					credential: 'Emulator',
				});
				const path = `${key}-assistant`;
				await publish(workflow(path, [chatTrigger(path, 'streaming'), assistant]));
				const urlOf = (name: string) => `${n8n.url}/webhook/${name}/chat`;
				const say = async (text: string, visitor = 'visitor-1') => {
					await postWebhook(urlOf(key), chatMessage(text, visitor));
					return model.requests.at(-1)!.messages;
				};
				const ask = async (text: string, visitor: string) =>
					chatText(await streamWebhook(urlOf(path), chatMessage(text, visitor)));

				const system = { role: 'system', content: 'Be brief' };
				const user = (content: string) => ({ role: 'user', content });
				const first = [system, user('one')];
				expect(await say('one')).toStrictEqual(first);
				const says = { role: 'assistant', content: 'Re: one' };
				expect(await say('two')).toStrictEqual([...first, says, user('two')]);
				expect(await say('three', 'visitor-2')).toStrictEqual([system, user('three')]);
				await ask('My name is Ada.', 'visitor-1');
				yield;
				expect(await ask('What is my name?', 'visitor-1')).toContain('Ada');
				expect(await ask('What is my name?', 'visitor-2')).toMatch(/have not told/);
				expect(await say('four')).toHaveLength(6);
				const mine = `chat ${id} visitor-1`;
				await client.deleteDataTableRows('agent_video_memory', 'session_key', mine);
				expect(await say('five')).toHaveLength(2);
				expect(await say('six', 'visitor-2')).toHaveLength(4);
			},
		},

	'the memory of a chat is found by the retry of an execution that crashed': {
		work: async function* ({ n8n, client, emulator, key, publish }) {
			const ref = await publish(
				workflow(key, [chatTrigger(key, 'lastNode'), EDIT, completion({})]),
			);
			const url = `${n8n.url}/webhook/${key}/chat`;
			await postWebhook(url, chatMessage('My name is Ada.', 'visitor-1'));
			emulator.journal.clear();
			emulator.faults.add({ kind: 'stall' });
			const asked = chatMessage('What is my name?', 'visitor-1');
			// The kill breaks its connection.
			postWebhook(url, asked).catch(() => undefined);
			await until(() => emulator.journal.entries.length > 0);
			yield;
			const killed = await client.lastExecution(ref);
			expect(killed.status).toBe('crashed');
			const retried = await retry(client, killed);
			expect(failureOf(retried)).toBe('');
			expect(outputItems(retried, 'Answer')).toMatchObject([
				{ json: { output: 'Your name is Ada.' } },
			]);
		},
	},
};

const SHOTS = `const scenes = ['A lighthouse', 'A paper boat', 'A tram', 'A kite', 'A market'];
const lights = ['at dawn', 'at noon', 'in the rain', 'at night'];
return scenes.flatMap((scene) => lights.map((light) => ({ json: { scene, light } })));`;
const linked = (name: string) => `={{ $('Shots').item.json.${name} }}`;

/** Twenty videos that are waited for in a suspended execution. */
const DURABLE = workflow('Durable Waiting', [
	start,
	code('Shots', SHOTS),
	node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
		parameters: { prompt: '={{ $json.scene }} {{ $json.light }}' },
		credential: 'Emulator',
	}),
	node('Wait for Video', 'n8n-nodes-agent-video.waitForVideo', 1, {
		parameters: {
			waitMode: 'suspend',
			options: { fileName: `${linked('scene')} ${linked('light').slice(1)}` },
		},
		credential: 'Emulator',
	}),
	node('Finished', 'n8n-nodes-base.set', 3.4, {
		parameters: {
			assignments: {
				assignments: ['scene', 'light'].map((name) => ({
					...{ id: name, name, type: 'string', value: linked(name) },
				})),
			},
			includeOtherFields: true,
			options: { stripBinary: false },
		},
	}),
]);

const SUSPENDED: Survivor = {
	// The tasks progress only when the test advances the clock.
	service: { clock: 'virtual', videoSeconds: 30 },
	work: async function* ({ client, emulator }) {
		const ref = await client.importWorkflow(DURABLE);
		const id = await client.run(ref, 'Start');
		await client.waitForExecution(id, { orWaiting: true });
		expect(emulator.journal.of(POLLS)).toHaveLength(20);
		yield;
		await emulator.clock.advance(60_000);
		const execution = await client.waitForExecution(id);
		expect(execution.status).toBe('success');
		// One step after the clock was advanced. Beside slow work there are two before it.
		const polls = emulator.journal.of(POLLS).map(({ time }) => time);
		expect(polls.filter((time) => time > polls[0]!)).toHaveLength(20);
		expect([40, 60]).toContain(polls.length);
		const created = outputItems(execution, 'Create Video').map(({ json }) => json['task_id']);
		expect(new Set(created)).toStrictEqual(new Set(emulator.tasks.all.map((task) => task.id)));
		const delivered = outputItems(execution, 'Wait for Video', COMPLETED);
		expect(delivered.map(({ json }) => json['task_id'])).toStrictEqual(created);
		expect(outputItems(execution, 'Wait for Video', FAILED)).toHaveLength(0);

		// Each result is still linked to its original item.
		const finished = outputItems(execution, 'Finished');
		const shots = outputItems(execution, 'Shots').map(({ json }) => json);
		expect(finished.map(({ json: { scene, light } }) => ({ scene, light }))).toStrictEqual(
			shots,
		);
		expect(finished.map((item) => binaryOf(item, 'data').fileName)).toStrictEqual(
			shots.map(({ scene, light }) => `${String(scene)} ${String(light)}.mp4`),
		);
		for (const item of finished) await expectFile(client, item);
	},
};

const SURVIVORS: Readonly<Record<string, Survivor>> = {
	...DRAWN,
	...LEDGER_SURVIVORS,
	...CHAT_SURVIVORS,
	'a suspended execution delivers every video': SUSPENDED,
};

let ends: Ends = {};

beforeAll(
	async () => {
		const others = Object.keys(SURVIVORS).filter((name) => !(name in DRAWN));
		// Alone each is killed at its very moment.
		const groups = thorough(
			[Object.keys(SURVIVORS)],
			[others, ...Object.keys(DRAWN).map((name) => [name])],
		);
		for (const group of groups) {
			const survivors = group.map((name) => [name, SURVIVORS[name]!] as const);
			ends = { ...ends, ...(await surviveKills(Object.fromEntries(survivors))) };
		}
	},
	thorough(2, 8) * SET_UP_LIMIT_MS,
);

it.each(Object.keys(SURVIVORS))('%s', (name) => {
	const end = ends[name]!;
	if (end.status === 'rejected') throw end.reason;
});

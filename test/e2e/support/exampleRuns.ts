import { randomUUID } from 'node:crypto';

import axios from 'axios';
import type { Browser } from 'playwright-core';

import { binaryOf, failureOf, outputItems, type Execution } from '../../../lab/n8n/execution';
import type { WorkflowRef } from '../../../lab/n8n/N8nClient';
import { postWebhook } from '../../../lab/n8n/postWebhook';
import { OWNER } from '../../../lab/n8n/owner';
import {
	BEARER_CREDENTIAL,
	EXAMPLE_CREDENTIAL,
	readExampleFile,
	webhookIdOf,
} from '../../../lab/n8n/readExample';
import { chatText, chatUrl, streamWebhook } from '../../../lab/n8n/streamChat';
import type { Workflow } from '../../../lab/n8n/workflow';
import type { Running } from '../../../lab/services/Running';
import { chatMessage, node, webhook, workflow } from './buildWorkflow';
import { expectFile, LATE, LEDGER, until } from './ledger';
import { startMailbox } from './mailbox';
import { connectMcp, mcpStatus } from './mcpClient';
import { makeTasksOld } from './oldTasks';
import { orderAtDesk } from './orderAtDesk';
import { uploadPicture } from './uploadPicture';
import { watchGallery } from './watchGallery';
import { publish, type Session } from './session';

/** What an example needs to run. */
export interface ExampleLab extends Session {
	readonly browser: Browser;
	/** Stops a resource when all examples have run. */
	readonly keep: Running['keep'];
}

const CHAT = '/v1/chat/completions';
const CREATE = '/v1/videos/generations';
const STATUS = '/v1/videos/tasks';
/** Timeout of an execution that is suspended between polls, in milliseconds. */
const SLOW_LIMIT_MS = 240_000;

/** For each workflow of examples/: executes it as described in its notes, and checks the described results. */
export const EXAMPLE_RUNS: Readonly<Record<string, (lab: ExampleLab) => Promise<void>>> = {
	'chat-answer.json': async (lab) => {
		const chat = await publishChat(lab, 'chat-answer.json', [
			['"rightValue":500', '"rightValue":4'],
			['"rightValue":20', '"rightValue":2'],
		]);
		const { text, pieces, execution } = await chat.ask('Give me one idea for a video.');
		expect(pieces).toBeGreaterThan(3);
		expect(outputItems(execution, 'Answer')[0]!.json['output']).toBe(text);
		expect(bodies(lab, CHAT)).toMatchObject([{ app_code: 'demo-app', stream: true }]);

		await chat.ask('And another one?');
		const refused = await chat.ask('One more?');
		expect(refused.text).toBe('You have asked enough for today. Please come back tomorrow.');
		expect(bodies(lab, CHAT)).toHaveLength(2);
		// Another visitor is answered.
		const other = chat.of(randomUUID());
		expect((await other.ask('Give me one idea for a video.')).pieces).toBeGreaterThan(3);
		// A stranger with many browsers: all visitors together have a limit.
		expect((await chat.of(randomUUID()).ask('Another idea?')).text).toBe(refused.text);
		expect(bodies(lab, CHAT)).toHaveLength(3);
		const rows = await lab.client.dataTableRows('chat_requests');
		expect(rows).toHaveLength(5);
		expect(new Set(rows!.map(({ visitor }) => visitor)).size).toBe(3);
	},

	'agent-with-tools.json': async (lab) => {
		const chat = await publishChat(lab, 'agent-with-tools.json');
		const { execution, text } = await chat.ask(
			'Find the product called Kite, then tell the shipping cost to Italy, then make a clip of a kite at the sea.',
		);
		const [answer] = outputItems(execution, 'Shop Agent');
		const [task] = lab.emulator.tasks.all.slice(-1);
		expect(answer!.json['rounds']).toBe(4);
		expect(toolResults(lab)).toMatchObject([
			[
				{ name: 'Kite Aurora', price: 39, stock: 12 },
				{ name: 'Kite Falcon', price: 59, stock: 0 },
			],
			{ country: 'Italy', price: '6 EUR' },
			{ video_url: expect.stringContaining(task!.id) as string },
		]);
		expect(text).toContain(String(answer!.json['output']));
		expect(bodies(lab, CHAT)).toHaveLength(4);
		expect(bodies(lab, CREATE)).toMatchObject([{ model: 'video-m1', duration: 5 }]);

		// A clip that fails does not end the chat: the model reads why.
		const failed = await chat.ask('Make a clip with the scene "a fail-task".');
		expect(toolResults(lab)).toMatchObject([
			{
				error: 'The video failed',
				details: {
					service_message: expect.stringContaining('could not be generated') as string,
				},
			},
		]);
		expect(failed.text).toContain('The video failed');

		await chat.refuseStranger();
		// A user who asks for twenty: an execution calls six tools, and a day has five videos.
		const scenes = Array.from({ length: 20 }, (_, index) => `make a clip of kite ${index}`);
		await chat.ask(scenes.join(', then '));
		expect(bodies(lab, CREATE)).toHaveLength(5);
		expect(toolResults(lab).at(-1)).toMatchObject({
			error: expect.stringContaining('Maximum Videos is 5') as string,
		});
	},

	'agent-with-approval.json': async (lab) => {
		const mailbox = lab.keep(await startMailbox(lab.client));
		const example = await readExampleFile('agent-with-approval.json');
		const ref = await lab.client.importWorkflow(example);
		for (const [button, result, created] of [
			['Decline', { error: expect.stringContaining('declined') as string }, []],
			[
				'Approve',
				{ video_url: expect.stringContaining('.mp4') as string },
				[{ prompt: 'a kite at the sea', duration: 10 }],
			],
		] as const) {
			const { execution, mails } = await mailbox.run(ref, 'Run Now', () => button);
			expect(failureOf(execution)).toBe('');
			expect(mails.map(({ subject }) => subject)).toStrictEqual([
				'Pay 1.00 EUR for a video of 10 s?',
			]);
			expect(bodies(lab, CREATE)).toMatchObject(created);
			expect(toolResults(lab)).toMatchObject([{ clip_id: 'clip-1' }, result]);
			expect(outputItems(execution, 'Answer')[0]!.json['answer']).toContain(
				button === 'Approve' ? '.mp4' : 'declined',
			);
		}
		// Nobody answers.
		const impatient = JSON.stringify(example).replace('"days"', '"seconds"');
		const { execution, mails } = await mailbox.run(
			await lab.client.importWorkflow(JSON.parse(impatient) as typeof example),
			'Run Now',
			() => undefined,
		);
		expect(failureOf(execution)).toBe('');
		expect(mails).toHaveLength(1);
		expect(bodies(lab, CREATE)).toHaveLength(1);
		expect(outputItems(execution, 'Answer')[0]!.json['answer']).toContain('Nobody answered');
	},

	'deliver-later.json': async (lab) => {
		const mailbox = lab.keep(await startMailbox(lab.client));
		const chat = await publishChat(lab, 'deliver-later.json');
		const order = async (scene: string) => {
			const { text, execution } = await chat.ask(
				`Order a video with the scene "${scene}" for the email "stranger@example.com".`,
			);
			// Nobody has waited for the video.
			expect(text).toContain(scene);
			expect(execution.status).toBe('success');
			const [start] = execution.data.resultData.runData['Start Delivery']!;
			return start!.metadata!.subExecution!.executionId;
		};
		await chat.refuseStranger();
		const ordered = [await order('a kite at the sea'), await order('a fail-task')];
		// A user who asks for twenty, with a thousand addresses, gets three.
		const addresses = Array.from({ length: 1_000 }, (_, index) => `a${index}@example.com`);
		const scenes = Array.from({ length: 20 }, (_, index) => `order a video of kite ${index}`);
		const { execution } = await chat.ask(
			`${scenes.join(', then ')}, and send them to ${addresses.join(', ')}`,
		);
		const calls = execution.data.resultData.runData['Start Delivery']!;
		const started = calls.map(({ metadata }) => metadata!.subExecution!.executionId);
		expect(started).toHaveLength(3);
		const endOf = async (id: string, orWaiting = false) =>
			await lab.client.waitForExecution(id, { limitMs: SLOW_LIMIT_MS, orWaiting });
		const deliveries = [...ordered, ...started];
		// No video is finished before the clock of the emulator moves.
		for (const id of deliveries) expect((await endOf(id, true)).status).toBe('waiting');
		await lab.emulator.clock.advance(60_000);
		for (const id of deliveries) expect(failureOf(await endOf(id))).toBe('');
		expect(bodies(lab, CREATE)).toHaveLength(5);
		expect(mailbox.letters).toHaveLength(5);
		expect(new Set(mailbox.letters.map(({ to }) => to))).toStrictEqual(new Set([OWNER.email]));
		const [task] = lab.emulator.tasks.all;
		// Whatever address a message names, the mail goes to the user of the login.
		const textOf = (words: string) =>
			mailbox.letters.find(({ text }) => text.includes(words))?.subject;
		expect(textOf('could not be generated')).toBe('Your video could not be made');
		expect(textOf(task!.id)).toBe('Your video is ready');
	},

	// That the gallery plays such videos is tested in watchGallery.ts.
	'storyboard-to-film.json': async (lab) => {
		const file = 'storyboard-to-film.json';
		const closed = await publishExample(lab, file);
		const form = `${lab.n8n.url}/form/${webhookIdOf(await readExampleFile(file))}`;
		await axios.post(form, answersTo('A kite'), { proxy: false, validateStatus: () => true });
		expect(await lab.client.executions(closed)).toStrictEqual([]);
		await lab.client.archive(closed.id);
		// Opened to everybody, with a day of four videos.
		const ref = await publishExample(lab, file, [
			['"n8nUserAuth"', '"none"'],
			['"maximumVideos":9', '"maximumVideos":4'],
		]);
		const make = async (topic: string) => {
			await postWebhook(form, answersTo(topic));
			return await lab.client.lastExecution(ref);
		};

		// The second clip is rejected: the Retry makes it and the third, and the film has all three.
		lab.emulator.faults.add({ kind: 'status', status: 406, path: CREATE, skip: 1 });
		const first = await make('A kite');
		expect(failureOf(first)).toContain('credit');
		const execution = await lab.client.readExecution(await lab.client.retry(first.id));
		expect(failureOf(execution)).toBe('');
		const clips = outputItems(execution, 'Create Video');
		const prompts = outputItems(execution, 'Scenes').map(({ json }) => json['prompt']);
		expect(new Set(prompts).size).toBe(3);
		const created = lab.emulator.journal.of(CREATE).filter(({ status }) => status === 200);
		expect(created.map(({ body }) => body)).toStrictEqual(
			prompts.map((prompt, index) => ({
				...(created[index]!.body as object),
				prompt,
				...(index > 0 && { videos: [clips[index - 1]!.json['video_url']] }),
			})),
		);
		expect(created[0]!.body).not.toHaveProperty('videos');
		for (const clip of clips) await expectFile(lab.client, clip);
		expect(outputItems(execution, 'Film').map(({ json }) => json)).toStrictEqual([
			{ watch: `&tasks=${clips.map(({ json }) => json['task_id']).join()}` },
		]);

		lab.emulator.journal.clear();
		const failed = await make('A fail-task');
		expect(failureOf(failed)).toMatch(
			/^Create Video: The video failed.*The video could not be generated/,
		);
		expect(bodies(lab, CREATE)).toHaveLength(1);
		expect(failureOf(await make('A kite'))).toContain('Maximum Videos is 4');
		expect(bodies(lab, CREATE)).toHaveLength(1);
	},

	'mcp-server.json': async (lab) => {
		const token = randomUUID();
		await lab.client.createCredential({
			name: BEARER_CREDENTIAL,
			type: 'httpBearerAuth',
			data: { token },
		});
		await publishExample(lab, 'mcp-server.json');
		const url = `${lab.n8n.url}/mcp/agent-video-mcp`;
		const client = await connectMcp(url, token);
		expect(await mcpStatus(url, 'wrong')).toBe(403);
		expect(client.instructions).toContain('Video_Status');
		const tools = await client.tools();
		expect(
			Object.fromEntries(
				tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties)]),
			),
		).toStrictEqual({
			Ask_a_Model: ['prompt'],
			Create_Video: ['prompt', 'aspect_ratio', 'duration'],
			Video_Status: ['task_id'],
		});

		const reply = await client.call('Ask_a_Model', { prompt: 'What is 6 times 7?' });
		expect(reply).toMatchObject({
			isError: false,
			value: [{ output: expect.stringContaining('42') as string }],
		});
		const created = await client.call('Create_Video', {
			prompt: 'A lighthouse at dawn',
			aspect_ratio: '9:16',
			duration: 4,
		});
		expect(bodies(lab, CREATE)).toMatchObject([
			{ prompt: 'A lighthouse at dawn', aspect_ratio: '9:16', duration: 4 },
		]);
		const [{ task_id }] = created.value as [{ task_id: string }];
		const statuses = [];
		while (statuses.at(-1) !== 'completed' && statuses.length < 100) {
			const { value } = await client.call('Video_Status', { task_id });
			statuses.push((value as [{ status: string }])[0].status);
		}
		expect(statuses.at(-1)).toBe('completed');
	},

	// What the user sees in the chat page is tested in aiAgentVideo.test.ts.
	'ai-agent-video.json': async (lab) => {
		const chat = await publishChat(lab, 'ai-agent-video.json', [
			['"maximumVideos":10', '"maximumVideos":2'],
			['"rightValue":100', '"rightValue":2'],
		]);
		const { text } = await chat.ask('Make a video of a lighthouse at dawn');
		const [task] = lab.emulator.tasks.all.slice(-1);
		expect(text).toContain(task!.id);
		expect(bodies(lab, CREATE)).toMatchObject([{ prompt: 'a lighthouse at dawn' }]);

		// Strangers, each in a new browser.
		const ask = async () => (await chat.of(randomUUID()).ask('Make twenty videos')).text;
		expect(await ask()).toBe('Done.');
		expect(bodies(lab, CREATE)).toHaveLength(2);
		const replies = bodies(lab, CHAT).length;
		expect(await ask()).toContain('asked enough');
		expect(bodies(lab, CHAT)).toHaveLength(replies);
	},

	'nightly-video-batch.json': async (lab) => {
		const ref = await lab.client.importWorkflow(
			await readExampleFile('nightly-video-batch.json'),
		);
		const execution = await run(lab, ref);
		const finished = outputItems(execution, 'Finished Videos');
		expect(finished).toHaveLength(3);
		expect(outputItems(execution, 'Failed Videos')).toHaveLength(0);
		for (const item of finished) await expectFile(lab.client, item);
		// They are sent concurrently, in any order.
		const created = bodies(lab, CREATE) as { model: string }[];
		expect(created.sort((a, b) => (a.model < b.model ? -1 : 1))).toMatchObject([
			{ model: 'video-m1', duration: 5, size: '720P', aspect_ratio: '16:9' },
			{ model: 'video-m3', duration: 10, size: '1080P', aspect_ratio: '1:1' },
			{ model: 'video-m5', duration: 3, mode: 'std', aspect_ratio: '9:16' },
		]);

		const night = async () => {
			const id = await lab.client.run(ref, 'Every Night at 2');
			return await lab.client.waitForExecution(id, { limitMs: SLOW_LIMIT_MS });
		};
		// One creation fails: the others are delivered, and then the execution fails.
		lab.emulator.faults.add({ kind: 'status', status: 409, path: CREATE });
		const failed = await night();
		expect(outputItems(failed, 'Finished Videos')).toHaveLength(2);
		expect(failureOf(failed)).toMatch(/^Create Video: /);
		const good = await night();
		expect(failureOf(good)).toBe('');
		expect(outputItems(good, 'Finished Videos')).toHaveLength(3);
	},

	'nightly-table-batch.json': async (lab) => {
		const file = 'nightly-table-batch.json';
		const ref = await publishExample(lab, file);
		const form = `${lab.n8n.url}/form/${webhookIdOf(await readExampleFile(file))}`;
		const order = async (topic: string, format: string) => {
			await postWebhook(form, answersTo(topic, format));
			expect(failureOf(await lab.client.lastExecution(ref))).toBe('');
		};
		await order('A lighthouse at dawn', '16:9');
		await order('A fail-task in the rain', '9:16');
		await order('A forbidden-word', '1:1');
		await order('A kite', '1:1');
		lab.emulator.faults.add({ kind: 'status', status: 406, path: CREATE, contains: 'kite' });
		const execution = await run(lab, ref);
		const row = { task_id: expect.stringMatching(/^task-/) as string };
		expect(outputItems(execution, 'Save Address').map(({ json }) => json)).toMatchObject([
			{
				...row,
				topic: 'A lighthouse at dawn',
				status: 'done',
				video_url: expect.stringContaining('.mp4') as string,
				error: '',
			},
		]);
		const reasons = outputItems(execution, 'Save Reason').map(({ json }) => json);
		const byTopic = reasons.sort((a, b) => (String(a['topic']) < String(b['topic']) ? -1 : 1));
		expect(byTopic).toMatchObject([
			{
				...row,
				topic: 'A fail-task in the rain',
				video_url: null,
				error: expect.stringContaining('could not be generated') as string,
			},
			{ topic: 'A forbidden-word', error: expect.stringContaining('moderation') as string },
			{ topic: 'A kite', error: expect.stringContaining('credit') as string },
		]);
		expect(new Set(reasons.map(({ status }) => status))).toStrictEqual(new Set(['failed']));
		expect(bodies(lab, CREATE)).toHaveLength(3);

		const again = await run(lab, ref);
		expect(outputItems(again, 'New Orders')).toHaveLength(0);
		expect(bodies(lab, CREATE)).toHaveLength(3);

		// More orders than a night takes, and more of them than the limit of a day: what does not fit stays ordered.
		for (const topic of ['A tram', 'A boat', 'A train']) await order(topic, '1:1');
		const small = await changed(file, [
			['"limit":20', '"limit":2'],
			['"maximumVideos":20', '"maximumVideos":1'],
		]);
		const limited = await run(lab, await lab.client.importWorkflow(small));
		expect(outputItems(limited, 'New Orders')).toHaveLength(2);
		expect(outputItems(limited, 'Save Address')).toHaveLength(1);
		const left = outputItems(limited, 'Save Reason').map(({ json }) => json);
		expect(left).toMatchObject([{ status: 'ordered', error: '' }]);
		expect(bodies(lab, CREATE)).toHaveLength(4);

		// Three nights of one order. The first is stopped, in the second the service does not know the task.
		await order('A comet', '1:1');
		const comet = async () => {
			const rows = await lab.client.dataTableRows('video_orders');
			return rows!.find(({ topic }) => topic === 'A comet')!;
		};
		lab.emulator.faults.add({ kind: 'status', status: 400, path: STATUS, count: 1_000 });
		const stopped = await lab.client.run(ref, 'Run Now');
		await until(async () => (await comet())['status'] === 'started');
		await lab.client.stop(stopped);
		const { task_id } = await comet();
		const paid = bodies(lab, CREATE).length;
		await run(lab, ref);
		expect(await comet()).toMatchObject({
			status: 'started',
			error: expect.stringMatching(/./) as string,
		});
		lab.emulator.faults.clear();
		await run(lab, ref);
		expect(await comet()).toMatchObject({
			...{ status: 'done', task_id, error: '' },
			video_url: expect.stringContaining(String(task_id)) as string,
		});
		expect(bodies(lab, CREATE)).toHaveLength(paid);
		const prompts = bodies(lab, CHAT).map((body) => JSON.stringify(body));
		expect(prompts.filter((prompt) => prompt.includes('A comet')).length).toBeGreaterThan(2);
	},

	'image-to-video.json': async (lab) => {
		const ref = await publishExample(lab, 'image-to-video.json', [
			['"maximumVideos":10', '"maximumVideos":2'],
		]);
		const path = webhookIdOf(await readExampleFile('image-to-video.json'));
		const upload = async (prompt: string) =>
			await uploadPicture(lab.browser, { url: `${lab.n8n.url}/form/${path}`, prompt });
		const { file } = await upload('The waves come in');
		const execution = await lab.client.lastExecution(ref, { orWaiting: true });
		expect(failureOf(execution)).toBe('');
		const [item] = outputItems(execution, 'Create Video');
		const video = await lab.client.download(binaryOf(item!, 'data'));
		expect(file!.equals(video)).toBe(true);
		expect(bodies(lab, CREATE)).toMatchObject([
			{
				model: 'video-m3',
				prompt: 'The waves come in',
				images: [expect.stringContaining(lab.n8n.url) as string],
			},
		]);

		for (const [prompt, reason] of [
			['A fail-task', 'The video failed'],
			['A stranger', 'Maximum Videos is 2'],
		] as const) {
			const failed = await upload(prompt);
			expect(failed.text).toContain(reason);
			// The words of the service could be markup.
			expect(failed.text).not.toMatch(/could not be generated|The service said/);
			expect(failed).not.toHaveProperty('file');
		}
		expect(lab.emulator.journal.of(CREATE).map(({ status }) => status)).toStrictEqual([
			200, 200,
		]);
	},

	// That n8n is killed in between is tested in kills.test.ts.
	'collect-videos.json': async (lab) => {
		const created = await lab.client.importWorkflow(
			workflow('Videos Without Wait', [
				node('Run Now', 'n8n-nodes-base.manualTrigger', 1),
				node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
					parameters: { prompt: 'A kite' },
					credential: EXAMPLE_CREDENTIAL,
				}),
			]),
		);
		const [task] = outputItems(await run(lab, created), 'Create Video');
		const taskId = task!.json['task_id'] as string;
		await makeTasksOld(lab.client, [taskId]);
		const ref = await lab.client.importWorkflow(await readExampleFile('collect-videos.json'));
		// The ledger may hold tasks of other tests, too.
		const collect = async () =>
			outputItems(await run(lab, ref), 'Finished Videos').filter(
				({ json }) => json['task_id'] === taskId,
			);
		const [video] = await collect();
		expect(video!.json).toMatchObject({
			prompt: 'A kite',
			ledger: { workflow_id: created.id },
		});
		await expectFile(lab.client, video!);
		expect(await collect()).toHaveLength(0);
	},

	'when-the-night-fails.json': async (lab) => {
		const mailbox = lab.keep(await startMailbox(lab.client));
		const errors = await publishExample(lab, 'when-the-night-fails.json');
		// n8n calls no error workflow for a click.
		const night = await changed('nightly-video-batch.json', [
			['json.timestamp', 'json.body.timestamp'],
		]);
		const path = randomUUID();
		const batch = await publish(lab.client, {
			...night,
			name: 'Failing Night',
			settings: { ...night.settings, errorWorkflow: errors.id },
			nodes: night.nodes.map((each) =>
				each.name === 'Every Night at 2' ? webhook(path, 'onReceived', each.name) : each,
			),
		});
		lab.emulator.faults.add({ kind: 'status', status: 401, path: STATUS });
		await postWebhook(`${lab.n8n.url}/webhook/${path}`, { timestamp: '2026-01-02' });
		await until(() => mailbox.letters.length > 0);
		const failed = await lab.client.lastExecution(batch);
		expect(failureOf(failed)).toContain('rejected the API key');
		const tasks = lab.emulator.tasks.all.slice(-3);
		const [letter] = mailbox.letters;
		expect(letter).toMatchObject({
			to: 'operator@example.com',
			subject: 'Failing Night has failed',
		});
		expect(letter!.text).toContain('Wait for Video: The service rejected the API key');
		expect(letter!.text).toContain(`/executions/${failed.id}`);
		for (const { id, video } of tasks) {
			expect(letter!.text).toContain(`- ${video.prompt}\n  http`);
			expect(letter!.text).toContain(id);
		}
		expect(failureOf(await lab.client.lastExecution(errors))).toBe('');
		expect(mailbox.letters).toHaveLength(1);

		// Its Retry fails, too, and one video is late.
		const [late] = tasks;
		await lab.client.updateDataTableRows(LEDGER, ['task_id', late!.id], {
			...{ status: 'open', video_url: null, finished_at: null, error: LATE },
		});
		lab.emulator.faults.add({ kind: 'status', status: 401, path: STATUS, count: 1_000 });
		const retry = await lab.client.retry(failed.id);
		await until(() => mailbox.letters.length > 1);
		lab.emulator.faults.clear();
		const { text } = mailbox.letters[1]!;
		expect(text).toContain(`Videos of execution ${retry} and ${failed.id}:\n- `);
		for (const { id } of tasks) expect(text.split(id)).toHaveLength(2);
		expect(text).toContain(`  open, task ${late!.id}: ${LATE}`);

		// A night that fails before it has paid for anything, and collects that video.
		await makeTasksOld(lab.client, [late!.id]);
		lab.emulator.faults.add({ kind: 'status', status: 401, path: CHAT });
		await postWebhook(`${lab.n8n.url}/webhook/${path}`, {});
		await until(() => mailbox.letters.length > 2);
		const heads = 'Videos of execution \\d+:\nnone\n\nOther videos of this workflow:';
		expect(mailbox.letters[2]!.text).toMatch(
			new RegExp(`^Write Prompt: .*\n.*\n\n${heads}\n- .*\n  http\\S+${late!.id}\\S*$`),
		);

		// n8n tells of no execution where a trigger fails by itself, such as one that polls.
		const own = { trigger: { error: { message: 'No login' }, mode: 'trigger' }, workflow: {} };
		const drawn = await readExampleFile('when-the-night-fails.json');
		const pinned = { ...drawn, pinData: { 'When an Execution Fails': [{ json: own }] } };
		await lab.client.run(await lab.client.importWorkflow(pinned), 'When an Execution Fails');
		await until(() => mailbox.letters.length > 3);
		expect(mailbox.letters[3]!.text).toBe('The trigger: No login');
	},

	'video-gallery.json': watchGallery,

	'money-desk.json': orderAtDesk,
};

const bodies = ({ emulator }: ExampleLab, path: string) =>
	emulator.journal.of(path).map(({ body }) => body);

/** The tool results in the last chat request. */
const toolResults = (lab: ExampleLab): unknown[] => {
	const last = bodies(lab, CHAT).at(-1) as { messages: { role: string; content: string }[] };
	const results = last.messages.filter(({ role }) => role === 'tool');
	return results.map(({ content }) => JSON.parse(content) as unknown);
};

/** What the page of a form sends. */
function answersTo(...texts: readonly string[]): FormData {
	const answers = new FormData();
	for (const [index, text] of texts.entries()) answers.append(`field-${index}`, text);
	return answers;
}

/** What is changed in an example, so that a test does not wait for its limits. */
type Changes = readonly (readonly [from: string, to: string])[];

async function changed(file: string, changes: Changes): Promise<Workflow> {
	let text = JSON.stringify(await readExampleFile(file));
	for (const [from, to] of changes) {
		expect(text).toContain(from);
		text = text.replaceAll(from, to);
	}
	return JSON.parse(text) as Workflow;
}

async function publishExample(
	{ client }: ExampleLab,
	file: string,
	changes: Changes = [],
): Promise<WorkflowRef> {
	return await publish(client, await changed(file, changes));
}

/** Activates the chat of an example and returns one conversation; `of` begins that of another visitor. */
async function publishChat(lab: ExampleLab, file: string, changes?: Changes) {
	const ref = await publishExample(lab, file, changes);
	const url = chatUrl(lab.n8n.url, webhookIdOf(await readExampleFile(file)));
	const send = (chatInput: string, sessionId: string, login?: Readonly<Record<string, string>>) =>
		streamWebhook(url, chatMessage(chatInput, sessionId), undefined, login);
	const of = (sessionId: string) => ({
		ask: async (question: string) => {
			const lines = await send(question, sessionId, lab.client.login);
			const execution = await lab.client.lastExecution(ref);
			expect(failureOf(execution)).toBe('');
			const pieces = lines.filter(({ type }) => type === 'item').length;
			return { text: chatText(lines), pieces, execution };
		},
	});
	return {
		...of(randomUUID()),
		of,
		/** Sends a message without a login: nothing must be executed. */
		refuseStranger: async () => {
			const before = await lab.client.executions(ref);
			await expect(send('Make twenty videos', randomUUID())).rejects.toThrow('status 401');
			expect(await lab.client.executions(ref)).toStrictEqual(before);
		},
	};
}

/** Executes an example from its manual trigger. */
async function run({ client }: ExampleLab, ref: WorkflowRef): Promise<Execution> {
	const id = await client.run(ref, 'Run Now');
	const execution = await client.waitForExecution(id, { limitMs: SLOW_LIMIT_MS });
	expect(failureOf(execution)).toBe('');
	return execution;
}

import { randomUUID } from 'node:crypto';

import type { Browser } from 'playwright-core';

import { binaryOf, failureOf, outputItems, type Execution } from '../../../lab/n8n/execution';
import type { WorkflowRef } from '../../../lab/n8n/N8nClient';
import { postWebhook } from '../../../lab/n8n/postWebhook';
import { readExampleFile, webhookIdOf } from '../../../lab/n8n/readExample';
import { chatText, chatUrl, streamWebhook } from '../../../lab/n8n/streamChat';
import { startMailbox } from './mailbox';
import { uploadPicture } from './uploadPicture';
import type { Session } from './session';

/** What an example needs to run. */
export interface ExampleLab extends Session {
	readonly browser: Browser;
}

const CHAT = '/v1/chat/completions';
const CREATE = '/v1/videos/generations';

/** For each workflow of examples/: executes it as described in its notes, and checks the described results. */
export const EXAMPLE_RUNS: Readonly<Record<string, (lab: ExampleLab) => Promise<void>>> = {
	'first-chat.json': async (lab) => {
		const { execution } = await runNow(lab, 'first-chat.json');
		const [reply] = outputItems(execution, 'Reply');
		expect(reply!.json).toMatchObject({
			content: expect.stringContaining('sea') as string,
			finish_reason: 'stop',
			usage: { total_tokens: expect.any(Number) as number },
		});
		expect(bodies(lab, CHAT)).toMatchObject([
			{
				model: 'chat-m2',
				messages: [
					{ role: 'system', content: 'Answer in one sentence.' },
					{ role: 'user', content: 'Give me one idea for a short video about the sea.' },
				],
			},
		]);
	},

	'chat-answer.json': async (lab) => {
		const chat = await publishChat(lab, 'chat-answer.json');
		const { text, pieces, execution } = await chat.ask('Give me one idea for a video.');
		expect(pieces).toBeGreaterThan(3);
		expect(outputItems(execution, 'Answer')[0]!.json['content']).toBe(text);
		expect(bodies(lab, CHAT)).toMatchObject([{ app_code: 'demo-app', stream: true }]);
	},

	'knowledge-answer.json': async (lab) => {
		const ref = await publish(lab, 'knowledge-answer.json');
		const url = await chatUrlOf(lab, 'knowledge-answer.json');
		const ask = async (question: string) =>
			(await postWebhook<{ output: string }>(url, message(question, randomUUID()))).data
				.output;

		const known = await ask('Which aspect ratio do I need for phones?');
		const execution = await lab.client.lastExecution(ref);
		const [reply] = outputItems(execution, 'Ask the Application');
		const { content, suggested_questions: suggested } = reply!.json;
		expect(content).toContain('9:16');
		expect(suggested).toHaveLength(3);
		const questions = (suggested as string[]).map((question) => `- ${question}`);
		expect(known).toBe([content, '', 'You may ask next:', ...questions].join('\n'));
		expect(await ask('What is the capital of France?')).toBe(
			'I have found nothing about this. Please ask our team.',
		);
		expect(bodies(lab, CHAT)).toMatchObject(Array(2).fill({ app_code: 'demo-app' }));
	},

	'agent-with-tools.json': async (lab) => {
		const chat = await publishChat(lab, 'agent-with-tools.json');
		const { execution, text } = await chat.ask(
			'Find the product called Kite, then tell the shipping cost to Italy, then make a clip of a kite at the sea.',
		);
		const [answer] = outputItems(execution, 'Shop Agent');
		const [task] = lab.emulator.tasks.all.slice(-1);
		expect(answer!.json).toMatchObject({
			rounds: 4,
			tool_calls: [
				{
					name: 'find_product',
					failed: false,
					result: [
						{ name: 'Kite Aurora', price: 39, stock: 12 },
						{ name: 'Kite Falcon', price: 59, stock: 0 },
					],
				},
				{ name: 'shipping_cost', result: { country: 'Italy', price: '6 EUR' } },
				{
					name: 'make_clip',
					failed: false,
					result: { url: expect.stringContaining(task!.id) as string },
				},
			],
		});
		expect(text).toContain(String(answer!.json['content']));
		expect(bodies(lab, CHAT)).toHaveLength(4);
		expect(bodies(lab, CREATE)).toMatchObject([{ model: 'video-m1', duration: 5 }]);
	},

	'agent-with-approval.json': async (lab) => {
		const mailbox = await startMailbox(lab.client);
		try {
			const ref = await lab.client.importWorkflow(
				await readExampleFile('agent-with-approval.json'),
			);
			for (const [button, result] of [
				['Decline', { error: expect.stringContaining('declined') as string }],
				['Approve', { deleted: 'clip-2' }],
			] as const) {
				const { execution, mails } = await mailbox.run(ref, 'Run Now', () => button);
				expect(failureOf(execution)).toBe('');
				expect(mails.map(({ subject }) => subject)).toStrictEqual(['Delete clip-2?']);
				expect(outputItems(execution, 'Clip Agent')[0]!.json['tool_calls']).toMatchObject([
					{ name: 'find_clips', result: [{ clip_id: 'clip-1' }, { clip_id: 'clip-2' }] },
					{ name: 'delete_clip', arguments: { clip_id: 'clip-2' }, result },
				]);
				expect(outputItems(execution, 'Answer')[0]!.json['answer']).toContain(
					button === 'Approve' ? 'deleted' : 'declined',
				);
			}
		} finally {
			await mailbox.stop();
		}
	},

	// What the user sees in the chat page is tested in aiAgentVideo.test.ts.
	'ai-agent-video.json': async (lab) => {
		const chat = await publishChat(lab, 'ai-agent-video.json');
		const { text } = await chat.ask('Make a video of a lighthouse at dawn');
		const [task] = lab.emulator.tasks.all.slice(-1);
		expect(text).toContain(task!.id);
		expect(bodies(lab, CREATE)).toMatchObject([{ prompt: 'a lighthouse at dawn' }]);
	},

	'assistant-with-memory.json': async (lab) => {
		const chat = await publishChat(lab, 'assistant-with-memory.json');
		await chat.ask('My name is Ada.');
		expect((await chat.ask('What is my name?')).text).toBe('Your name is Ada.');
		const [first, second] = bodies(lab, CHAT);
		expect(first).not.toHaveProperty('session_id');
		expect(second).toMatchObject({
			app_code: 'demo-assistant',
			session_id: expect.any(String) as string,
		});
	},

	'nightly-video-batch.json': async (lab) => {
		const { execution } = await runNow(lab, 'nightly-video-batch.json');
		await expectVideos(lab, execution, 3);
		// They are sent concurrently, in any order.
		const created = bodies(lab, CREATE) as { model: string }[];
		expect(created.sort((a, b) => (a.model < b.model ? -1 : 1))).toMatchObject([
			{ model: 'video-m1', duration: 5, size: '720P', aspect_ratio: '16:9' },
			{ model: 'video-m3', duration: 10, size: '1080P', aspect_ratio: '1:1' },
			{ model: 'video-m5', duration: 3, mode: 'std', aspect_ratio: '9:16' },
		]);
	},

	'nightly-table-batch.json': async (lab) => {
		const file = 'nightly-table-batch.json';
		const ref = await publish(lab, file);
		const form = `${lab.n8n.url}/form/${webhookIdOf(await readExampleFile(file))}`;
		for (const [topic, format] of [
			['A lighthouse at dawn', '16:9'],
			['A fail-task in the rain', '9:16'],
			['A forbidden-word', '1:1'],
			['A kite', '1:1'],
		] as const) {
			const answers = new FormData();
			answers.append('field-0', topic);
			answers.append('field-1', format);
			await postWebhook(form, answers);
			expect(failureOf(await lab.client.lastExecution(ref))).toBe('');
		}
		lab.emulator.faults.add({ kind: 'status', status: 406, path: CREATE, contains: 'kite' });
		const execution = await run(lab, ref);
		const row = { task_id: expect.stringMatching(/^task-/) as string };
		expect(outputItems(execution, 'Save Address').map(({ json }) => json)).toMatchObject([
			{
				...row,
				topic: 'A lighthouse at dawn',
				status: 'done',
				video_url: expect.stringContaining('.mp4') as string,
				error: null,
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
	},

	'image-to-video.json': async (lab) => {
		const ref = await publish(lab, 'image-to-video.json');
		const path = webhookIdOf(await readExampleFile('image-to-video.json'));
		const saved = await uploadPicture(lab.browser, {
			url: `${lab.n8n.url}/form/${path}`,
			prompt: 'The waves come in',
		});
		const execution = await lab.client.lastExecution(ref);
		expect(failureOf(execution)).toBe('');
		const [item] = outputItems(execution, 'Wait for Video', 1);
		const video = await lab.client.download(binaryOf(item!, 'video'));
		expect(saved.equals(video)).toBe(true);
		expect(bodies(lab, CREATE)).toMatchObject([
			{
				model: 'video-m3',
				prompt: 'The waves come in',
				images: [expect.stringContaining(lab.n8n.url) as string],
			},
		]);
	},

	'durable-waiting.json': async (lab) => {
		const states = new Set<string>();
		const { execution } = await runNow(lab, 'durable-waiting.json', states);
		expect(states).toContain('waiting');
		await expectVideos(lab, execution, 20);
		expect(bodies(lab, CREATE)).toHaveLength(20);
	},
};

const bodies = ({ emulator }: ExampleLab, path: string) =>
	emulator.journal.of(path).map(({ body }) => body);

const message = (chatInput: string, sessionId: string) => ({
	action: 'sendMessage',
	sessionId,
	chatInput,
});

async function chatUrlOf({ n8n }: ExampleLab, file: string): Promise<string> {
	return chatUrl(n8n.url, webhookIdOf(await readExampleFile(file)));
}

async function publish({ client }: ExampleLab, file: string): Promise<WorkflowRef> {
	const ref = await client.importWorkflow(await readExampleFile(file));
	await client.activate(ref);
	return ref;
}

/** Activates the chat of an example and returns one conversation. */
async function publishChat(lab: ExampleLab, file: string) {
	const ref = await publish(lab, file);
	const url = await chatUrlOf(lab, file);
	const sessionId = randomUUID();
	return {
		ask: async (question: string) => {
			const lines = await streamWebhook(url, message(question, sessionId));
			const execution = await lab.client.lastExecution(ref);
			expect(failureOf(execution)).toBe('');
			const pieces = lines.filter(({ type }) => type === 'item').length;
			return { text: chatText(lines), pieces, execution };
		},
	};
}

/** Executes an example from its manual trigger. */
async function runNow(lab: ExampleLab, file: string, states = new Set<string>()) {
	const ref = await lab.client.importWorkflow(await readExampleFile(file));
	return { ref, execution: await run(lab, ref, states) };
}

async function run(
	{ client }: ExampleLab,
	ref: WorkflowRef,
	states = new Set<string>(),
): Promise<Execution> {
	const execution = await client.waitForExecution(await client.run(ref, 'Run Now'), {
		limitMs: 240_000,
		onProgress: ({ status }) => {
			states.add(status);
			return Promise.resolve();
		},
	});
	expect(failureOf(execution)).toBe('');
	return execution;
}

/** Expects this number of video files, and no failed videos. */
async function expectVideos({ client }: ExampleLab, execution: Execution, count: number) {
	const finished = outputItems(execution, 'Finished Videos');
	expect(finished).toHaveLength(count);
	expect(outputItems(execution, 'Failed Videos')).toHaveLength(0);
	for (const item of finished) {
		expect((await client.download(binaryOf(item, 'video'))).length).toBeGreaterThan(1_000);
	}
}

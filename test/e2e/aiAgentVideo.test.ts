// @seconds 20
import axios from 'axios';
import type { Browser } from 'playwright-core';

import { failureOf } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { EXAMPLE_CREDENTIAL, readExample, webhookIdOf } from '../../lab/n8n/readExample';
import { startBrowser } from '../../lab/browser/startBrowser';
import { chatUrl } from '../../lab/n8n/streamChat';
import { inChat } from './support/inChat';
import {
	RUN_LIMIT_MS,
	SET_UP_LIMIT_MS,
	showProgress,
	startSession,
	type Session,
} from './support/session';
import { FAILURE } from '../support/failureTexts';

/** Timeout for a video, in milliseconds, on a busy machine. */
const VIDEO_LIMIT_MS = 90_000;

const ERROR = `${FAILURE.unavailable}; the task may have been created. The service said: `;

interface ChatRequest {
	readonly stream: boolean;
	readonly messages: readonly { readonly role: string; readonly content: string | null }[];
	readonly tools: readonly { readonly function: object }[];
}

let session: Session;
let browser: Browser;
let example: WorkflowRef;
let url: string;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 8 });
	browser = await startBrowser(showProgress);
	await session.client.createCredential({
		name: EXAMPLE_CREDENTIAL,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
	const workflow = await readExample('agent');
	example = await session.client.importWorkflow(workflow);
	await session.client.activate(example);
	url = chatUrl(session.n8n.url, webhookIdOf(workflow));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await browser.close();
	await session.stop();
}, RUN_LIMIT_MS);

beforeEach(() => {
	session.emulator.journal.clear();
});

const chats = () =>
	session.emulator.journal.of('/v1/chat/completions').map(({ body }) => body as ChatRequest);

it(
	'a user asks for a video in the chat page and gets its link',
	async () => {
		await inChat(browser, { url, name: 'ai-agent-video' }, async (chat) => {
			await chat.ask('Make a video of a lighthouse at dawn');
			// While the tool waits, the user reads its progress.
			await chat.shows('0 finished');
			const link = chat.page.locator('.chat-message-from-bot a', { hasText: 'the video' });
			await link.waitFor({ timeout: VIDEO_LIMIT_MS });
			const address = await link.getAttribute('href');
			expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/cdn\/.*\.mp4$/);
			const { status, headers } = await axios.head(address!, { proxy: false });
			expect([status, headers['content-type']]).toStrictEqual([200, 'video/mp4']);
			expect(chat.blocked).toStrictEqual([]);
		});

		const { journal } = session.emulator;
		expect(journal.of('/v1/videos/generations')).toMatchObject([
			{
				status: 200,
				body: { model: 'video-m1', prompt: 'a lighthouse at dawn', aspect_ratio: '16:9' },
			},
		]);
		expect(journal.of('/v1/videos/tasks').length).toBeGreaterThan(1);
		expect(journal.of('/v1/videos/tasks').length).toBeLessThan(8);
		expect(chats().map(({ stream }) => stream)).toStrictEqual([true, true, true]);
		const results = chats()
			.at(-1)!
			.messages.filter(({ role }) => role === 'tool');
		expect(results.map(({ content }) => JSON.parse(content!) as unknown)).toMatchObject([
			[{ task_id: expect.any(String) as string, model: 'video-m1' }],
			[{ status: 'completed', video_url: expect.stringContaining('.mp4') as string }],
		]);
		expect(failureOf(await session.client.lastExecution(example))).toBe('');
		expect(chats()[0]!.tools.map(({ function: offered }) => offered)).toMatchObject([
			{
				name: 'Wait_for_Video',
				description:
					'Wait until a video is finished, or get its status now. Returns its URL, and in a workflow its file.',
				parameters: {
					properties: {
						task_id: { type: 'string' },
						wait: { type: 'boolean', default: true },
					},
					required: ['task_id'],
				},
			},
			{
				name: 'Create_Video',
				description:
					'Generate a video from text, images, videos or audio. Returns its task_id for Wait for Video, or the finished video.',
				parameters: {
					properties: {
						prompt: { type: 'string' },
						aspect_ratio: { type: 'string', default: '16:9' },
						duration: { type: 'number', default: 0 },
					},
					required: ['prompt'],
				},
			},
		]);
	},
	RUN_LIMIT_MS + VIDEO_LIMIT_MS,
);

it(
	'an error of a tool reaches the model and the user, with a hint',
	async () => {
		session.emulator.faults.add({
			kind: 'status',
			path: '/v1/videos/generations',
			status: 503,
		});
		await inChat(browser, { url, name: 'ai-agent-video-error' }, async (chat) => {
			await chat.ask('Make a video of a tram');
			// First n8n's line for the failed node, then the agent's answer.
			await chat.shows(`Error: ${ERROR}`);
			await chat.shows(`A tram: error: ${ERROR}`);
		});
		const [result] = chats()
			.at(-1)!
			.messages.filter(({ role }) => role === 'tool');
		expect(result!.content).toContain(ERROR);
		expect(session.emulator.journal.of('/v1/videos/generations')).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

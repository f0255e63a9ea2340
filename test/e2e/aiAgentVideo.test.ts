// @seconds 20
import axios from 'axios';
import type { Browser } from 'playwright-core';

import { failureOf } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { readExample, webhookIdOf } from '../../lab/n8n/readExample';
import { startBrowser } from '../../lab/browser/startBrowser';
import { chatUrl } from '../../lab/n8n/streamChat';
import { FAILURE } from '../support/failureTexts';
import { inChat } from './support/inChat';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, showProgress } from './support/session';
import { useSession } from './support/useSession';

/** Timeout for a video, in milliseconds, on a busy machine. */
const VIDEO_LIMIT_MS = 90_000;

const ERROR = `${FAILURE.unavailable}; the task may have been created. The service said: `;

interface ChatRequest {
	readonly stream: boolean;
	readonly messages: readonly { readonly role: string; readonly content: string | null }[];
}

const session = useSession({ videoSeconds: 8 });
let browser: Browser;
let example: WorkflowRef;
let url: string;

beforeAll(async () => {
	browser = await startBrowser(showProgress);
	session.keep({ stop: () => browser.close() });
	const workflow = await readExample('agent');
	example = await session.publish(workflow);
	url = chatUrl(session.n8n.url, webhookIdOf(workflow));
}, SET_UP_LIMIT_MS);

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

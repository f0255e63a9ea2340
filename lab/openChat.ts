import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser, Page, Route } from 'playwright-core';

import { PINNED_HOME } from './paths';

/** Where n8n's chat page has its program and styles from. */
const CDN = 'https://cdn.jsdelivr.net/npm/';
/** A just activated workflow is not at its address at once. */
const REGISTRATION_LIMIT_MS = 10_000;
/** Milliseconds for something to show up in the page. */
const SHOW_LIMIT_MS = 20_000;

/** A chat of n8n in a browser, as a person has it before them. */
export interface ChatPage {
	readonly page: Page;
	/** Addresses that the page asked for in vain: nothing but this machine is in reach. */
	readonly unanswered: readonly string[];
	/** Types a message and sends it. */
	ask(message: string): Promise<void>;
	/** Waits until an answer shows a text. */
	shows(text: string): Promise<void>;
	/** All answers as they can be read now. */
	text(): Promise<string>;
	close(): Promise<void>;
}

/**
 * Opens the hosted chat of an active workflow in a new session of the browser. What the page has from the internet is
 * served from the packages that the lab has installed.
 *
 * @param url Address of the chat (see chatUrl).
 * @throws Error when n8n has no chat there.
 */
export async function openChat(browser: Browser, url: string): Promise<ChatPage> {
	const context = await browser.newContext({ viewport: { width: 640, height: 720 } });
	const unanswered: string[] = [];
	await context.route(
		({ hostname }) => hostname !== '127.0.0.1',
		async (route) => {
			await serve(route, unanswered);
		},
	);
	const page = await context.newPage();
	page.setDefaultTimeout(SHOW_LIMIT_MS);
	const answers = page.locator('.chat-message-from-bot');
	try {
		await goTo(page, url);
	} catch (error) {
		await context.close();
		throw error;
	}
	return {
		page,
		unanswered,
		ask: async (message) => {
			const input = page.getByTestId('chat-input');
			await input.fill(message);
			await input.press('Enter');
		},
		shows: async (text) => {
			await answers.filter({ hasText: text }).last().waitFor();
		},
		text: async () => (await answers.allInnerTexts()).join('\n').trim(),
		close: async () => {
			await context.close();
		},
	};
}

/** Answers from an installed package: the path is its name, perhaps with a version, and a file in it. */
async function serve(route: Route, unanswered: string[]): Promise<void> {
	const url = route.request().url();
	const path = join(PINNED_HOME, 'node_modules', packagePath(url));
	if (url.startsWith(CDN) && existsSync(path)) {
		await route.fulfill({ path, headers: { 'access-control-allow-origin': '*' } });
		return;
	}
	unanswered.push(url);
	await route.abort();
}

function packagePath(url: string): string {
	// The network minifies where the package does not.
	return url
		.slice(CDN.length)
		.replace(/(?<=.)@[\d.]+/, '')
		.replace(/\.min(?=\.css$)/, '');
}

async function goTo(page: Page, url: string): Promise<void> {
	for (const deadline = Date.now() + REGISTRATION_LIMIT_MS; ;) {
		const answer = await page.goto(url);
		const status = answer?.status();
		if (status === 200) return;
		if (status !== 404 || Date.now() > deadline) {
			throw new Error(`There is no chat at ${url} (${status})`);
		}
		await sleep(100);
	}
}

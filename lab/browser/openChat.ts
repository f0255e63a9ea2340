import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser, Page, Route } from 'playwright-core';

import { openPage, type OpenPage } from './openPage';
import { PINNED_HOME } from '../paths';

/** Where n8n's chat page has its program and styles from. */
const CDN = 'https://cdn.jsdelivr.net/npm/';
/** A just activated workflow is not at its address at once. */
const REGISTRATION_LIMIT_MS = 10_000;
/** Milliseconds for something to show up in the page. */
const SHOW_LIMIT_MS = 20_000;

/** A chat of n8n in a browser, as a person has it before them. */
export interface ChatPage extends OpenPage {
	/** Types a message and sends it. */
	ask(message: string): Promise<void>;
	/** Waits until an answer shows a text. */
	shows(text: string): Promise<void>;
	/** All answers as they can be read now. */
	text(): Promise<string>;
}

/**
 * Opens the hosted chat of an active workflow in a new session of the browser. What the page has from the internet is
 * served from the packages that the lab has installed.
 *
 * @param url Address of the chat (see chatUrl).
 * @throws Error when n8n has no chat there.
 */
export async function openChat(browser: Browser, url: string): Promise<ChatPage> {
	const opened = await openPage(browser, {
		width: 640,
		height: 720,
		showLimitMs: SHOW_LIMIT_MS,
		serve: fromPackage,
	});
	const { page } = opened;
	const answers = page.locator('.chat-message-from-bot');
	try {
		await goTo(page, url);
	} catch (error) {
		await opened.close();
		throw error;
	}
	return {
		...opened,
		ask: async (message) => {
			await page.getByTestId('chat-input').fill(message);
			// It takes no message before the answer to the last one is complete; Enter would be lost.
			await page.locator('.chat-input-send-button').click();
		},
		shows: async (text) => {
			await answers.filter({ hasText: text }).last().waitFor();
		},
		text: async () => (await answers.allInnerTexts()).join('\n').trim(),
	};
}

/** Answers from an installed package: the path is its name, perhaps with a version, and a file in it. */
async function fromPackage(route: Route): Promise<boolean> {
	const url = route.request().url();
	const path = join(PINNED_HOME, 'node_modules', packagePath(url));
	if (!url.startsWith(CDN) || !existsSync(path)) return false;
	await route.fulfill({ path, headers: { 'access-control-allow-origin': '*' } });
	return true;
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

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser, Page, Route } from 'playwright-core';

import { openPage, type OpenPage } from './openPage';
import { PINNED_HOME } from '../paths';

/** The host from which n8n's chat page loads its scripts and styles. */
const CDN = 'https://cdn.jsdelivr.net/npm/';
/** The chat of a workflow answers 404 for a moment after activation. */
const REGISTRATION_LIMIT_MS = 10_000;
/** Timeout for an element to appear, in milliseconds. */
const SHOW_LIMIT_MS = 20_000;

/** n8n's hosted chat in a browser. */
export interface ChatPage extends OpenPage {
	/** Types a message and sends it. */
	ask(message: string): Promise<void>;
	/** Waits until an answer contains this text. */
	shows(text: string): Promise<void>;
	/** The visible text of all answers. */
	text(): Promise<string>;
}

/**
 * Opens the hosted chat of an active workflow in a new browser session. Files that the page loads from the internet are
 * served from the packages of the installed n8n.
 *
 * @param url URL of the chat, see chatUrl.
 * @throws Error if n8n has no chat at this URL.
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
			// The page accepts no message before the last answer is complete: it would ignore Enter, but the click waits.
			await page.locator('.chat-input-send-button').click();
		},
		shows: async (text) => {
			await answers.filter({ hasText: text }).last().waitFor();
		},
		text: async () => (await answers.allInnerTexts()).join('\n').trim(),
	};
}

/** Serves a file of an installed package. The path consists of package name, optional version, and file. */
async function fromPackage(route: Route): Promise<boolean> {
	const url = route.request().url();
	const path = join(PINNED_HOME, 'node_modules', packagePath(url));
	if (!url.startsWith(CDN) || !existsSync(path)) return false;
	await route.fulfill({ path, headers: { 'access-control-allow-origin': '*' } });
	return true;
}

function packagePath(url: string): string {
	// The CDN has minified files that the package does not contain.
	return url
		.slice(CDN.length)
		.replace(/(?<=.)@[\d.]+/, '')
		.replace(/\.min(?=\.css$)/, '');
}

/** Opens a page of an active workflow: a chat or a form. */
export async function goTo(page: Page, url: string): Promise<void> {
	for (const deadline = Date.now() + REGISTRATION_LIMIT_MS; ;) {
		const answer = await page.goto(url);
		const status = answer?.status();
		if (status === 200) return;
		if (status !== 404 || Date.now() > deadline) {
			throw new Error(`There is no page at ${url} (status ${status})`);
		}
		await sleep(100);
	}
}

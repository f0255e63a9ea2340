import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Browser, BrowserContext, Page, Route } from 'playwright-core';

export interface PageOptions {
	readonly width: number;
	readonly height: number;
	/** Milliseconds for something to show up in the page. */
	readonly showLimitMs: number;
	/** Answers what the page asks other machines for; false when it has nothing for it. */
	readonly serve?: (route: Route) => Promise<boolean>;
}

/** A page in a session of its own, which reaches this machine only. */
export interface OpenPage {
	readonly page: Page;
	readonly context: BrowserContext;
	/** Addresses that the page asked for in vain: nothing but this machine is in reach. */
	readonly unanswered: readonly string[];
	/** What the page has complained about in its console, without the answers that it did not get. */
	readonly errors: readonly string[];
	/** Keeps how the page looks, and beside it, as text, what it has complained about. */
	keepPicture(path: string): Promise<void>;
	close(): Promise<void>;
}

/** A complaint of the browser, not of the page's program. */
const NOT_LOADED = 'Failed to load resource';

/** Opens an empty page in a new session of the browser. */
export async function openPage(browser: Browser, options: PageOptions): Promise<OpenPage> {
	const { width, height, serve } = options;
	const context = await browser.newContext({ viewport: { width, height } });
	const unanswered: string[] = [];
	const errors: string[] = [];
	await context.route(
		({ hostname }) => hostname !== '127.0.0.1',
		async (route) => {
			if ((await serve?.(route)) === true) return;
			unanswered.push(route.request().url());
			await route.abort();
		},
	);
	const page = await context.newPage();
	page.setDefaultTimeout(options.showLimitMs);
	page.on('console', (message) => {
		if (message.type() === 'error' && !message.text().startsWith(NOT_LOADED)) {
			errors.push(message.text());
		}
	});
	page.on('pageerror', (error) => errors.push(String(error)));
	return {
		page,
		context,
		unanswered,
		errors,
		keepPicture: async (path) => {
			await mkdir(dirname(path), { recursive: true });
			const said = [page.url(), ...errors, ...unanswered.map((url) => `unanswered: ${url}`)];
			await writeFile(path.replace(/\.png$/, '.txt'), `${said.join('\n')}\n`);
			await page.screenshot({ path });
		},
		close: async () => {
			await context.close();
		},
	};
}

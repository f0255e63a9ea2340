import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Browser, BrowserContext, Page, Route } from 'playwright-core';

export interface PageOptions {
	readonly width: number;
	readonly height: number;
	/** Timeout for an element to appear, in milliseconds. */
	readonly showLimitMs: number;
	/** Serves a request to another host; returns false if it cannot. */
	readonly serve?: (route: Route) => Promise<boolean>;
}

/** A page in its own browser session, which can reach this machine only. */
export interface OpenPage {
	readonly page: Page;
	readonly context: BrowserContext;
	/** URLs of requests to other hosts, which were blocked. */
	readonly blocked: readonly string[];
	/** Errors in the page's console, except failed requests and what follows from them. */
	readonly errors: readonly string[];
	/** Saves a screenshot, and next to it a text file with the errors and blocked requests. */
	keepPicture(path: string): Promise<void>;
	close(): Promise<void>;
}

/** Prefix of the browser's own message about a failed request. */
const NOT_LOADED = 'Failed to load resource';
/** n8n's editor of a Code node loads the types of JavaScript from another host. */
const WITHOUT_TYPES = '/assets/typescript.worker-';

/** Milliseconds for a page to load: a busy machine compiles megabytes of scripts. */
const LOAD_LIMIT_MS = 120_000;

const isElsewhere = ({ protocol, hostname }: URL) =>
	protocol.startsWith('http') && hostname !== '127.0.0.1';

/** Opens an empty page in a new browser session. */
export async function openPage(browser: Browser, options: PageOptions): Promise<OpenPage> {
	const { width, height, serve } = options;
	const context = await browser.newContext({
		viewport: { width, height },
		// n8n compresses its editor for each request, and the browser unpacks it.
		extraHTTPHeaders: { 'accept-encoding': 'identity' },
	});
	const blocked: string[] = [];
	const errors: string[] = [];
	if (serve) {
		await context.route(isElsewhere, async (route) => {
			// The browser finds no other host.
			if (!(await serve(route))) await route.continue();
		});
	}
	context.on('requestfailed', (request) => {
		if (isElsewhere(new URL(request.url()))) blocked.push(request.url());
	});
	const page = await context.newPage();
	page.setDefaultTimeout(options.showLimitMs);
	page.setDefaultNavigationTimeout(LOAD_LIMIT_MS);
	const addError = (text: string) => {
		if (!text.startsWith(NOT_LOADED) && !text.includes(WITHOUT_TYPES)) errors.push(text);
	};
	page.on('console', (message) => {
		if (message.type() === 'error') addError(message.text());
	});
	page.on('pageerror', (error) => {
		addError(error.stack ?? String(error));
	});
	return {
		page,
		context,
		blocked,
		errors,
		keepPicture: async (path) => {
			await mkdir(dirname(path), { recursive: true });
			const lines = [page.url(), ...errors, ...blocked.map((url) => `blocked: ${url}`)];
			await writeFile(path.replace(/\.png$/, '.txt'), `${lines.join('\n')}\n`);
			await page.screenshot({ path });
		},
		close: async () => {
			await context.close();
		},
	};
}

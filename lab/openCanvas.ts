import type { Browser, Page } from 'playwright-core';

import { OWNER } from './owner';

/** How n8n's editor looks. */
export type Theme = 'light' | 'dark';

/** The canvas of one n8n's editor. */
export interface Canvas {
	readonly page: Page;
	/** Shows a workflow, and waits until all of its nodes are in view and stand still. */
	show(workflowId: string): Promise<void>;
	close(): Promise<void>;
}

/** Milliseconds for a part of the editor to show up. */
const SHOW_LIMIT_MS = 60_000;

/**
 * Signs in to n8n's editor in a new session of the browser. Nothing but this machine is in its reach.
 *
 * @param view.url Address of n8n without a trailing slash.
 * @param view.width Pixels, as is the height.
 */
export async function openCanvas(
	browser: Browser,
	view: {
		readonly url: string;
		readonly theme: Theme;
		readonly width: number;
		readonly height: number;
	},
): Promise<Canvas> {
	const { url, theme, width, height } = view;
	const context = await browser.newContext({ viewport: { width, height } });
	await context.route(
		({ hostname }) => hostname !== '127.0.0.1',
		async (route) => {
			await route.abort();
		},
	);
	await context.addInitScript(`localStorage.setItem('N8N_THEME', '${theme}')`);
	const page = await context.newPage();
	page.setDefaultTimeout(SHOW_LIMIT_MS);
	await signIn(page, url);
	return {
		page,
		show: async (workflowId) => {
			await page.goto(`${url}/workflow/${workflowId}`);
			await page.getByTestId('canvas-node').first().waitFor();
			await page.getByTestId('zoom-to-fit').click();
			await untilStill(page);
		},
		close: async () => {
			await context.close();
		},
	};
}

async function signIn(page: Page, url: string): Promise<void> {
	await page.goto(`${url}/signin`);
	await page.locator('input[type="email"]').fill(OWNER.email);
	await page.locator('input[type="password"]').fill(OWNER.password);
	await page.getByTestId('form-submit-button').click();
	await page.waitForURL(({ pathname }) => !pathname.startsWith('/signin'));
}

/** The canvas still moves for a moment after it was fitted into the window. */
async function untilStill(page: Page): Promise<void> {
	const pane = page.locator('.vue-flow__transformationpane').first();
	for (let last = ''; ;) {
		await page.waitForTimeout(500);
		const now = (await pane.getAttribute('style')) ?? '';
		if (now === last) return;
		last = now;
	}
}

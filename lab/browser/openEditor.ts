import type { Browser } from 'playwright-core';

import { openPage, type OpenPage, type PageOptions } from './openPage';
import { OWNER } from '../n8n/owner';

/** n8n binds a session to an ID that the browser generates. */
const BROWSER_ID = 'n8n-lab-browser';
const WINDOW = { width: 1400, height: 900, showLimitMs: 60_000 } as const;

/** n8n's editor in a browser, signed in as OWNER. */
export interface Editor extends OpenPage {
	/** Opens a page of the editor by its path. */
	readonly goTo: (path: string) => Promise<void>;
}

/**
 * Signs in to the editor in a new browser session. No page is opened yet.
 *
 * @param url Base URL of n8n. The owner's account must exist, see N8nClient.signIn.
 * @throws Error if n8n rejects the sign-in.
 */
export async function openEditor(
	browser: Browser,
	url: string,
	options: Partial<PageOptions> = {},
): Promise<Editor> {
	const opened = await openPage(browser, { ...WINDOW, ...options });
	const { context, page } = opened;
	await context.addInitScript((id) => {
		localStorage.setItem('n8n-browserId', id);
	}, BROWSER_ID);
	const answer = await context.request.post(`${url}/rest/login`, {
		headers: { 'browser-id': BROWSER_ID },
		data: { emailOrLdapLoginId: OWNER.email, password: OWNER.password },
		// The connection may be one of an earlier page, which n8n closes just now.
		maxRetries: 2,
	});
	if (!answer.ok()) {
		await opened.close();
		throw new Error(`Cannot sign in to n8n (status ${answer.status()})`);
	}
	return {
		...opened,
		goTo: async (path) => {
			await page.goto(`${url}${path}`);
		},
	};
}

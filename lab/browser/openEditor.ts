import type { Browser } from 'playwright-core';

import { openPage, type OpenPage, type PageOptions } from './openPage';
import { OWNER } from '../n8n/owner';

/** n8n ties the session to the browser that it was opened from, by an id that the browser makes up. */
const BROWSER_ID = 'n8n-lab-browser';
const WINDOW = { width: 1400, height: 900, showLimitMs: 60_000 } as const;

/** n8n's editor in a browser, signed in as OWNER. */
export interface Editor extends OpenPage {
	/** Goes to a page of the editor, by its path. */
	goTo: (path: string) => Promise<void>;
}

/**
 * Opens the editor in a new session of the browser, still without a page.
 *
 * @param url Address of n8n, which has its owner already (see N8nClient.signIn).
 * @throws Error when n8n does not let the owner in.
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
	});
	if (!answer.ok()) {
		await opened.close();
		throw new Error(`Cannot sign in to n8n (${answer.status()})`);
	}
	return {
		...opened,
		goTo: async (path) => {
			await page.goto(`${url}${path}`);
		},
	};
}

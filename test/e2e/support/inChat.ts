import type { Browser } from 'playwright-core';

import { openChat, type ChatPage } from '../../../lab/browser/openChat';
import { inPage } from './inPage';

/**
 * Opens a new chat page, works in it and closes it.
 *
 * @param name File name of the screenshot that is saved if it fails.
 */
export async function inChat(
	browser: Browser,
	{ url, name }: { readonly url: string; readonly name: string },
	work: (chat: ChatPage) => Promise<void>,
): Promise<void> {
	await inPage(await openChat(browser, url), `chat-${name}`, work);
}

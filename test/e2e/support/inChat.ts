import type { Browser } from 'playwright-core';

import { openChat, type ChatPage } from '../../../lab/browser/openChat';
import { inPage } from './inPage';

/**
 * Does something in a chat page of its own.
 *
 * @param name File name of the picture that is kept of the page when it fails.
 */
export async function inChat(
	browser: Browser,
	{ url, name }: { readonly url: string; readonly name: string },
	work: (chat: ChatPage) => Promise<void>,
): Promise<void> {
	await inPage(await openChat(browser, url), `chat-${name}`, work);
}

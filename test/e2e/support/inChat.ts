import { join } from 'node:path';

import type { Browser } from 'playwright-core';

import { openChat, type ChatPage } from '../../../lab/openChat';
import { ROOT } from '../../../lab/paths';
import { say } from './say';

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
	const chat = await openChat(browser, url);
	try {
		await work(chat);
	} catch (error) {
		const path = join(ROOT, '.cache', 'screenshots', `${name}.png`);
		await chat.page.screenshot({ path });
		say(`The page as it was: ${path}`);
		throw error;
	} finally {
		await chat.close();
	}
}

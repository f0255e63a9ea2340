import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, Download, Page } from 'playwright-core';

import { goTo } from '../../../lab/browser/openChat';
import { ROOT } from '../../../lab/paths';
import { showProgress } from './session';

/** An image of one pixel, in Base64. */
export const PICTURE =
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Timeout for the video, in milliseconds. */
const LIMIT_MS = 90_000;

/** The titles of the last page. */
const ENDINGS = { finished: 'Here is your video', failed: 'There is no video' } as const;

/** What the user of the form gets. */
interface Uploaded {
	readonly text: string;
	/** Missing if the video failed. */
	readonly file?: Buffer;
}

/**
 * Fills in the form of the image-to-video example in the browser and waits for the video.
 *
 * @returns The text of the last page, and the file that the browser downloaded.
 */
export async function uploadPicture(
	browser: Browser,
	{ url, prompt }: { readonly url: string; readonly prompt: string },
): Promise<Uploaded> {
	const context = await browser.newContext();
	await context.route(
		({ hostname, protocol }) => hostname !== '127.0.0.1' && protocol.startsWith('http'),
		async (route) => {
			await route.abort();
		},
	);
	const page = await context.newPage();
	page.setDefaultTimeout(LIMIT_MS);
	try {
		return await submit(page, url, prompt);
	} catch (error) {
		const path = join(ROOT, 'test-results', 'image-to-video.png');
		await page.screenshot({ path });
		showProgress(`Screenshot of the page: ${path}`);
		throw error;
	} finally {
		await context.close();
	}
}

async function submit(page: Page, url: string, prompt: string): Promise<Uploaded> {
	await goTo(page, url);
	await page.locator('input[type="file"]').setInputFiles({
		name: 'sea.png',
		mimeType: 'image/png',
		buffer: Buffer.from(PICTURE, 'base64'),
	});
	await page.locator('textarea').fill(prompt);
	const downloads: Download[] = [];
	page.on('download', (download) => downloads.push(download));
	await page.locator('button[type="submit"]').click();
	const [finished, failed] = [ENDINGS.finished, ENDINGS.failed].map((title) =>
		page.getByText(title),
	);
	await finished!.or(failed!).waitFor();
	const text = await page.locator('body').innerText();
	if (!text.includes(ENDINGS.finished)) return { text };
	const download = downloads[0] ?? (await page.waitForEvent('download'));
	return { text, file: await readFile(await download.path()) };
}

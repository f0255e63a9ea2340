import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';

import { ROOT } from '../../../lab/paths';
import { showProgress } from './session';

/** An image of one pixel. */
const PICTURE = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
	'base64',
);
/** Timeout for the video, in milliseconds. */
const LIMIT_MS = 90_000;

/**
 * Fills in the form of the image-to-video example in the browser and waits for the video.
 *
 * @returns The file that the browser downloaded.
 */
export async function uploadPicture(
	browser: Browser,
	{ url, prompt }: { readonly url: string; readonly prompt: string },
): Promise<Buffer> {
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

async function submit(page: Page, url: string, prompt: string): Promise<Buffer> {
	await page.goto(url);
	await page.locator('input[type="file"]').setInputFiles({
		name: 'sea.png',
		mimeType: 'image/png',
		buffer: PICTURE,
	});
	await page.locator('textarea').fill(prompt);
	const download = page.waitForEvent('download');
	await page.locator('button[type="submit"]').click();
	const saved = await (await download).path();
	await page.getByText('Here is your video').waitFor();
	return await readFile(saved);
}

import { chromium, selectors, type Browser } from 'playwright-core';

import { systemProgram } from '../services/systemProgram';

/**
 * Neither the browser itself nor a page sends requests to the internet. Without names there are no hosts; a route of
 * Playwright that blocks them would switch off the cache, without which each page compiles n8n's editor again.
 */
const QUIET = [
	'--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-gpu',
	'--disable-quic',
	'--disable-sync',
	'--no-first-run',
] as const;

/**
 * Starts the system's Chromium without a window. It stops when this process ends.
 *
 * @param onProgress Called with one line when Chromium is installed.
 */
export async function startBrowser(onProgress?: (text: string) => void): Promise<Browser> {
	const executablePath = await systemProgram('chromium', onProgress);
	// The attribute that n8n uses.
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({ executablePath, args: [...QUIET] });
}

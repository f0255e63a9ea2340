import { chromium, selectors, type Browser } from 'playwright-core';

import { systemProgram } from '../services/systemProgram';

/** The browser itself sends no requests to the internet. */
const QUIET = [
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

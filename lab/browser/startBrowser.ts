import { chromium, selectors, type Browser } from 'playwright-core';

import { systemProgram } from '../services/systemProgram';

/** So that nothing leaves this machine but what a page asks for. */
const QUIET = [
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-gpu',
	'--disable-quic',
	'--disable-sync',
	'--no-first-run',
] as const;

/**
 * Starts the system's Chromium without a window. It ends with this process at the latest.
 *
 * @param onProgress Told in a line when Chromium is installed.
 */
export async function startBrowser(onProgress?: (text: string) => void): Promise<Browser> {
	const executablePath = await systemProgram('chromium', onProgress);
	// As n8n writes it.
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({ executablePath, args: [...QUIET] });
}

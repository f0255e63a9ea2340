import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { OpenPage } from '../../../lab/browser/openPage';
import { ROOT } from '../../../lab/paths';
import { showProgress } from './session';

/** Timeout for a test's work in a page, in milliseconds. It is below the test's own timeout, after which no screenshot is possible. */
const PAGE_LIMIT_MS = 200_000;
/** Timeout of a browser test, in milliseconds. */
export const BROWSER_LIMIT_MS = 240_000;

/**
 * Works in a page and closes it. If that fails or times out, it saves a screenshot in test-results/.
 *
 * @param name File name of the screenshot, without extension.
 */
export async function inPage<T extends OpenPage>(
	opened: T,
	name: string,
	work: (opened: T) => Promise<void>,
): Promise<void> {
	const end = new AbortController();
	const limit = sleep(PAGE_LIMIT_MS, undefined, { signal: end.signal }).then(() => {
		throw new Error(`Timeout after ${PAGE_LIMIT_MS / 1000} s`);
	});
	try {
		await Promise.race([work(opened), limit]);
	} catch (error) {
		const path = join(ROOT, 'test-results', `${name}.png`);
		await opened.keepPicture(path).then(
			() => {
				showProgress(`Screenshot of the page: ${path}`);
			},
			// If the page has closed, report the original error.
			() => undefined,
		);
		throw error;
	} finally {
		end.abort();
		await limit.catch(() => undefined);
		await opened.close();
	}
}

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { OpenPage } from '../../../lab/browser/openPage';
import { ROOT } from '../../../lab/paths';
import { say } from './say';

/** Milliseconds for what a test does in a page; it must end before the test's own time does, or nothing is kept. */
const PAGE_LIMIT_MS = 200_000;
/** Milliseconds for a test in a browser. */
export const BROWSER_LIMIT_MS = 240_000;

/**
 * Does something in a page and closes it. Of a page where that fails, or takes too long, a picture is kept.
 *
 * @param name File name of the picture, without its ending.
 */
export async function inPage<T extends OpenPage>(
	opened: T,
	name: string,
	work: (opened: T) => Promise<void>,
): Promise<void> {
	const end = new AbortController();
	const limit = sleep(PAGE_LIMIT_MS, undefined, { signal: end.signal }).then(() => {
		throw new Error(`Not done after ${PAGE_LIMIT_MS / 1000} s`);
	});
	try {
		await Promise.race([work(opened), limit]);
	} catch (error) {
		const path = join(ROOT, 'test-results', `${name}.png`);
		await opened.keepPicture(path).then(
			() => {
				say(`The page as it was: ${path}`);
			},
			// A page that is gone must not hide why.
			() => undefined,
		);
		throw error;
	} finally {
		end.abort();
		await limit.catch(() => undefined);
		await opened.close();
	}
}

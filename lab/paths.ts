import { dirname, join } from 'node:path';

/** Folder of the project. */
export const ROOT = dirname(__dirname);

/**
 * Folder of the pinned n8n: below the driver, which would otherwise find n8n's dependencies before the project's.
 */
export const PINNED_HOME = join(__dirname, 'n8n', 'pinned');

/** The n8n to try instead of the pinned one, such as `1.123.81`. */
export const OTHER_N8N = process.env['LAB_N8N_VERSION'];

/** Folder of the n8n that the lab runs. */
export const N8N_HOME =
	OTHER_N8N === undefined ? PINNED_HOME : join(ROOT, '.cache', `n8n-${OTHER_N8N}`);

import { dirname, join } from 'node:path';

/** The project folder. */
export const ROOT = dirname(__dirname);

/**
 * Folder of the pinned n8n. It lies below the code that drives n8n, so that this code does not resolve n8n's dependencies
 * instead of the project's.
 */
export const PINNED_HOME = join(__dirname, 'n8n', 'pinned');

/** The n8n version to use instead of the pinned one, for example `2.20.12`. */
export const OTHER_N8N = process.env['LAB_N8N_VERSION'];

/** Folder of the n8n that the lab runs. */
export const N8N_HOME =
	OTHER_N8N === undefined ? PINNED_HOME : join(ROOT, '.cache', `n8n-${OTHER_N8N}`);

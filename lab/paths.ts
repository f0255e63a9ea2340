import { dirname, join } from 'node:path';

/** Folder of the project. */
export const ROOT = dirname(__dirname);

/**
 * Folder of the pinned n8n: below the driver, which would otherwise find n8n's dependencies before the project's.
 */
export const N8N_HOME = join(__dirname, 'n8n');

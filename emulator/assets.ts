import { join } from 'node:path';

/** Path of a file that comes with the emulator. The bundle lies where this file does: at the root of its package. */
export const assetPath = (...parts: readonly string[]): string => join(__dirname, ...parts);

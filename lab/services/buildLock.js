const { mkdir } = require('node:fs/promises');
const { join } = require('node:path');

const { lock } = require('proper-lockfile');

const ROOT = join(__dirname, '..', '..');
const FOLDER = join(ROOT, '.cache');

/**
 * Runs `work` while no other process of this checkout writes or copies `dist`. A lock whose process was killed expires
 * after ten seconds.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withBuildLock(work) {
	await mkdir(FOLDER, { recursive: true });
	const release = await lock(ROOT, {
		lockfilePath: join(FOLDER, 'build.lock'),
		retries: { forever: true, factor: 1, minTimeout: 100, maxTimeout: 100 },
	});
	try {
		return await work();
	} finally {
		await release();
	}
}

module.exports = { withBuildLock };

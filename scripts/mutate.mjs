/**
 * Changes the named files in many small ways, one at a time, and reports the changes that no test notices:
 * `npm run mutate -- nodes/client/http/failures.ts`, or `failures.ts:10-40` for some lines. It runs the tests that import
 * the file. n8n's engine loads nodes without an import: name the tests as well, such as `test/nodes/credential.test.ts`.
 */
import { existsSync, rmSync } from 'node:fs';

import { Stryker } from '@stryker-mutator/core';

import config from '../stryker.config.mjs';

const named = process.argv.slice(2);
const unknown = named.filter((path) => !existsSync(path.replace(/:\d.*$/, '')));
const tests = named.filter((path) => path.endsWith('.test.ts'));
const mutate = named.filter((path) => !tests.includes(path));

if (mutate.length === 0 || unknown.length > 0) {
	for (const path of unknown) console.error(`${path}: no such file`);
	console.error('npm run mutate -- FILE… [TEST…]');
	process.exit(2);
}

const { projects } = config.jest.config;
const jest = tests.length > 0 && {
	enableFindRelatedTests: false,
	config: {
		projects: projects.map((project) => ({
			...project,
			testPathIgnorePatterns: [`^(?!.*/(?:${tests.join('|')})$)`],
		})),
	},
};
// Stryker leaves its copy of the checkout behind when it is interrupted.
const tempDirName = `.cache/stryker-${process.pid}`;
process.once('exit', () => rmSync(tempDirName, { recursive: true, force: true }));

await new Stryker({ mutate, tempDirName, ...(jest && { jest }) }).runMutationTest().catch(() => {
	// It has said why.
	process.exitCode = 1;
});

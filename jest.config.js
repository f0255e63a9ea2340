const { availableParallelism, tmpdir } = require('node:os');
const { join } = require('node:path');

// The emulator keeps drawn videos there; tests write nothing into the home folder.
process.env.XDG_CACHE_HOME ??= join(tmpdir(), 'agent-video-tests');

const base = {
	transform: {
		'^.+\\.ts$': [
			'ts-jest',
			{ tsconfig: { module: 'commonjs', moduleResolution: 'node10', isolatedModules: true } },
		],
	},
	testEnvironment: '<rootDir>/test/support/oneRealm.js',
	modulePathIgnorePatterns: ['<rootDir>/lab/n8n/pinned', '<rootDir>/dist', '<rootDir>/.cache'],
	setupFiles: ['<rootDir>/test/support/quietEngine.js'],
	// Also after a test that failed.
	restoreMocks: true,
};

/** A stub of n8n's SDK for AI nodes, which only a complete n8n has. */
const aiNodeSdk = { '^@n8n/ai-node-sdk$': '<rootDir>/test/support/aiNodeSdk.ts' };

/** @type {import('jest').Config} */
module.exports = {
	// Timeout of a test without its own, in milliseconds. A shared machine may be four times slower.
	testTimeout: 30_000,
	// More than cores: tests wait for servers, and for retries.
	maxWorkers: Math.ceil(availableParallelism() * 1.5),
	// Tests of one file that run side by side: those of chats, which wait for n8n to poll.
	maxConcurrency: 3,
	projects: [
		{
			...base,
			displayName: 'unit',
			testMatch: [
				'<rootDir>/test/{bench,client,shared,nodes,emulator,package,scripts,spec}/**/*.test.ts',
			],
			moduleNameMapper: aiNodeSdk,
		},
		{
			...base,
			displayName: 'contract',
			testMatch: ['<rootDir>/test/engine/**/*.test.ts'],
			globalSetup: '<rootDir>/test/engine/globalSetup.ts',
		},
		{
			...base,
			displayName: 'e2e',
			testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
			globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
			globalTeardown: '<rootDir>/test/e2e/support/globalTeardown.ts',
		},
		// What takes long and changes seldom: before a release and weekly.
		{
			...base,
			displayName: 'release',
			testMatch: [
				'<rootDir>/test/release/**/*.test.ts',
				// With twenty kills, every answer, example and drawing.
				'<rootDir>/test/e2e/{kills,chatAnswers,examples,ledgerCalls,whatIsLeft}.test.ts',
			],
			globalSetup: '<rootDir>/test/e2e/support/globalSetup.ts',
			globalTeardown: '<rootDir>/test/e2e/support/globalTeardown.ts',
		},
		{
			...base,
			displayName: 'faults',
			testMatch: ['<rootDir>/test/faults/**/*.test.ts'],
			moduleNameMapper: aiNodeSdk,
		},
		{
			...base,
			displayName: 'hostile',
			testMatch: ['<rootDir>/test/hostile/**/*.test.ts'],
			moduleNameMapper: aiNodeSdk,
		},
	],
	testSequencer: '<rootDir>/test/support/longestFirst.js',
	reporters: ['default', '<rootDir>/test/support/totalsReporter.js'],
};

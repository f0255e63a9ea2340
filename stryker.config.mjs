import jest from './jest.config.js';

/**
 * How `npm run mutate` changes code and runs tests: see scripts/mutate.mjs.
 *
 * @type {import('@stryker-mutator/api/core').PartialStrykerOptions}
 */
export default {
	testRunner: 'jest',
	jest: {
		config: {
			projects: jest.projects
				.filter(({ displayName }) => ['unit', 'hostile'].includes(displayName))
				.map((project) => ({
					...project,
					// Notes which mutants a test reaches.
					testEnvironment: '@stryker-mutator/jest-runner/jest-env/node',
					// These start processes, or measure time and memory.
					testPathIgnorePatterns: [
						'/test/(?:bench|emulator|package|scripts)/',
						'/test/hostile/(?:fuzz|growth)\\.',
					],
				})),
		},
	},
	coverageAnalysis: 'perTest',
	concurrency: 2,
	ignorePatterns: ['.cache', 'dist', 'docs/pictures', 'test-results'],
	// ts-jest checks no types.
	disableTypeChecks: false,
	// Mutants wait for retries and servers, on a shared machine.
	timeoutMS: 20_000,
	dryRunTimeoutMinutes: 15,
	reporters: ['clear-text', 'progress-append-only'],
	clearTextReporter: {
		allowEmojis: false,
		logTests: false,
		reportTests: false,
	},
};

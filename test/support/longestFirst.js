const { readFileSync } = require('node:fs');

const { default: TestSequencer } = require('@jest/test-sequencer');

/**
 * Starts the longest test files first, so that no worker is left alone with one at the end. A file declares its duration
 * in a comment, `// @seconds 120`; CI has no cache of earlier runs. Files without it follow in jest's own order.
 */
module.exports = class LongestFirst extends TestSequencer {
	sort(tests) {
		const seconds = new Map(tests.map(({ path }) => [path, secondsOf(path)]));
		return super.sort(tests).sort((a, b) => seconds.get(b.path) - seconds.get(a.path));
	}
};

function secondsOf(path) {
	const [, seconds = '0'] = /^\/\/ @seconds (\d+)/m.exec(readFileSync(path, 'utf8')) ?? [];
	return Number(seconds);
}

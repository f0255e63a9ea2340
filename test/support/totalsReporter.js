const { writeSync } = require('node:fs');

/** Ends a run with the line that every test command of this project ends with. */
module.exports = class TotalsReporter {
	onRunComplete(_contexts, results) {
		const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		const skipped = results.numPendingTests + results.numTodoTests;
		const line = `${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
		// jest puts its own summary after all reporters; this line comes after that.
		process.once('exit', () => writeSync(1, `${line}\n`));
	}
};

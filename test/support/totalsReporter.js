const { writeSync } = require('node:fs');

/** A jest reporter that prints the totals as the last line, as every test command of this project does. */
module.exports = class TotalsReporter {
	onRunComplete(_contexts, results) {
		const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		const skipped = results.numPendingTests + results.numTodoTests;
		const line = `${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
		// jest prints its own summary after all reporters have run.
		process.once('exit', () => writeSync(1, `${line}\n`));
	}
};

const { writeSync } = require('node:fs');

/** Prints the totals as the last line, in the format that all test commands of this project share. */
module.exports = class TotalsReporter {
	repeated = [];

	onTestResult(_test, { testResults }) {
		const passed = testResults.filter(({ status }) => status === 'passed');
		this.repeated.push(...passed.filter(({ invocations }) => invocations > 1));
	}

	onRunComplete(_contexts, results) {
		const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = results;
		const failed = numFailedTests + numRuntimeErrorTestSuites;
		const skipped = results.numPendingTests + results.numTodoTests;
		const repeated = this.repeated.map(({ fullName }) => `Passed when repeated: ${fullName}\n`);
		const line = `${numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
		// jest prints its own summary after all reporters have finished.
		process.once('exit', () => writeSync(1, `${repeated.join('')}${line}\n`));
	}
};

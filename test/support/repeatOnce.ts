// For tests that measure CPU time, which includes garbage collections. In CI a failed one runs once more; totalsReporter.js
// lists the tests that passed only then.
if (process.env['CI']) jest.retryTimes(1, { logErrorsBeforeRetry: true });

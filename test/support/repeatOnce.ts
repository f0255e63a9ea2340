// In CI a failed test runs once more: two cores run n8n, a browser and the tests, and any of them can be held up; a
// measured CPU time includes garbage collections.
// totalsReporter.js lists the tests that passed only then.
if (process.env['CI']) jest.retryTimes(1, { logErrorsBeforeRetry: true });

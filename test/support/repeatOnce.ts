// For tests that depend on the time of a machine: two cores run n8n, a browser and the tests, and a measured CPU time
// includes garbage collections. In CI a failed one runs once more; totalsReporter.js lists the tests that passed only then.
if (process.env['CI']) jest.retryTimes(1, { logErrorsBeforeRetry: true });

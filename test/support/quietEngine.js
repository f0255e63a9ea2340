/* global jest */
// n8n's engine logs every failed node, and many tests make nodes fail.
process.env.N8N_LOG_LEVEL = 'silent';

// Environments other than oneRealm.js, such as that of mutation tests, load the engine for each file.
const { loadOnce } = globalThis;
if (loadOnce)
	// The last one warns in a realm where it is loaded again.
	for (const name of ['n8n-workflow', 'n8n-core', '@n8n/backend-common', '@n8n/di', 'mediabunny'])
		jest.mock(name, () => loadOnce(name));

import type { ICredentialTestFunctions } from 'n8n-workflow';

import { missing } from './internals';

/**
 * Sends a request of a credential test, by the only helper that n8n gives it. Every status resolves; redirects are not followed.
 *
 * n8n 2.41.1, n8n/dist/services/credentials-tester.service.js
 * Without it: the test fails with an error that says so.
 */
export async function testRequest({ helpers }: ICredentialTestFunctions, options: object) {
	const { request } = helpers as Partial<typeof helpers>;
	if (request === undefined) throw missing('how a credential is tested');
	const form = { followRedirect: false, simple: false, resolveWithFullResponse: true };
	return (await request({ ...options, ...form, useStream: true })) as {
		readonly statusCode: number;
		readonly headers: Readonly<Record<string, string | undefined>>;
		readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
	};
}

import type { ICredentialTestFunctions } from 'n8n-workflow';

/** The response to the request of a credential test, with its body as a stream. */
interface StreamedResponse {
	readonly statusCode: number;
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: AsyncIterable<Uint8Array> & { destroy(): void };
}

/** Sends a request of a credential test, by the only helper that n8n gives it. Every status resolves; redirects are not followed. */
export async function testRequest(
	{ helpers }: ICredentialTestFunctions,
	options: object,
): Promise<StreamedResponse> {
	return (await helpers.request({
		...options,
		followRedirect: false,
		simple: false,
		resolveWithFullResponse: true,
		useStream: true,
	})) as StreamedResponse;
}

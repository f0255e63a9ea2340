import axios from 'axios';
import type { IncomingMessage } from 'node:http';

import type { HttpPort } from '../../nodes/client/ports';

/** An `HttpPort` on axios, to test the client without n8n. */
export function axiosHttp(baseURL: string, apiKey: string): HttpPort {
	return async ({ method, path, body, idleTimeoutMs }) => {
		const response = await axios.request<IncomingMessage>({
			method,
			baseURL,
			url: path,
			data: body,
			headers: { Authorization: `Bearer ${apiKey}` },
			responseType: 'stream',
			timeout: idleTimeoutMs,
			validateStatus: () => true,
			proxy: false,
		});
		return {
			status: response.status,
			headers: response.headers as Record<string, string>,
			body: response.data,
		};
	};
}

import axios from 'axios';
import { setTimeout as sleep } from 'node:timers/promises';

/** A tool as the server offers it. */
export interface McpTool {
	readonly name: string;
	readonly description: string;
	readonly inputSchema: { readonly properties: Readonly<Record<string, unknown>> };
}

/** The result of a tool call: its structured content, or its text parsed as JSON; the text of an error. */
export interface McpResult {
	readonly isError: boolean;
	readonly value: unknown;
}

/** A client of a server of the Model Context Protocol, over Streamable HTTP. */
export interface McpClient {
	/** What the server says about the use of its tools. */
	readonly instructions: string;
	tools(): Promise<readonly McpTool[]>;
	call(name: string, args: Readonly<Record<string, unknown>>): Promise<McpResult>;
}

/** The webhook of a workflow answers 404 for a moment after activation. */
const REGISTRATION_LIMIT_MS = 60_000;
const CALL_LIMIT_MS = 60_000;
const PROTOCOL = '2025-06-18';

/** Status of the answer to a client that presents this token. */
export async function mcpStatus(url: string, token: string): Promise<number> {
	return (await post(url, token, initialize(0), '')).status;
}

/**
 * Connects to a server.
 *
 * @throws Error if the server rejects the token, or answers a request with an error of the protocol.
 */
export async function connectMcp(url: string, token: string): Promise<McpClient> {
	let id = 0;
	let session = '';
	const send = async <T>(message: object): Promise<T> => {
		for (const deadline = Date.now() + REGISTRATION_LIMIT_MS; ;) {
			const { status, headers, data } = await post(url, token, message, session);
			if (status === 404 && session === '' && Date.now() < deadline) {
				await sleep(100);
				continue;
			}
			if (status >= 300)
				throw new Error(`The server answered with status ${status}: ${data}`);
			session = String(headers['mcp-session-id'] ?? session);
			return readAnswer(data) as T;
		}
	};
	const request = <T>(method: string, params: object = {}) =>
		send<T>({ jsonrpc: '2.0', id: ++id, method, params });

	const { instructions = '' } = await send<{ instructions?: string }>(initialize(++id));
	await send({ jsonrpc: '2.0', method: 'notifications/initialized' });
	return {
		instructions,
		tools: async () => (await request<{ tools: readonly McpTool[] }>('tools/list')).tools,
		call: async (name, args) => {
			const {
				content,
				structuredContent,
				isError = false,
			} = await request<{
				content: readonly { text: string }[];
				structuredContent?: unknown;
				isError?: boolean;
			}>('tools/call', { name, arguments: args });
			const text = content.map((part) => part.text).join('');
			const value = isError ? text : (structuredContent ?? (JSON.parse(text) as unknown));
			return { isError, value };
		},
	};
}

const initialize = (id: number) => ({
	jsonrpc: '2.0',
	id,
	method: 'initialize',
	params: {
		protocolVersion: PROTOCOL,
		capabilities: {},
		clientInfo: { name: 'test', version: '1' },
	},
});

async function post(url: string, token: string, message: object, session: string) {
	return await axios.post<string>(url, message, {
		proxy: false,
		responseType: 'text',
		timeout: CALL_LIMIT_MS,
		validateStatus: () => true,
		headers: {
			accept: 'application/json, text/event-stream',
			authorization: `Bearer ${token}`,
			...(session !== '' && { 'mcp-session-id': session }),
		},
	});
}

/** The result in an event stream or a JSON body; undefined for a notification, which has none. */
function readAnswer(body: string): unknown {
	const json = /^data: (.*)$/m.exec(body)?.[1] ?? body;
	if (json === '') return {};
	const { result, error } = JSON.parse(json) as {
		result?: unknown;
		error?: { message: string };
	};
	if (error) throw new Error(`The server answered with an error: ${error.message}`);
	return result;
}

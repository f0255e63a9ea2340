import {
	createServer,
	type IncomingHttpHeaders,
	type Server,
	type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface SeenRequest {
	readonly method: string;
	readonly path: string;
	readonly headers: IncomingHttpHeaders;
	readonly body: unknown;
}

/** Responds to one request; `index` is the number of requests before it. */
export type Script = (response: ServerResponse, request: SeenRequest, index: number) => void;

export interface ScriptedServer {
	readonly url: string;
	readonly port: number;
	readonly requests: SeenRequest[];
	stop: () => Promise<void>;
}

/** Starts an HTTP server on loopback whose responses the test writes byte by byte. */
export async function startScriptedServer(script: Script): Promise<ScriptedServer> {
	const requests: SeenRequest[] = [];
	const server: Server = createServer((request, response) => {
		void text(request).then((raw) => {
			const seen: SeenRequest = {
				method: request.method ?? '',
				path: request.url ?? '',
				headers: request.headers,
				body: raw === '' ? undefined : JSON.parse(raw),
			};
			requests.push(seen);
			script(response, seen, requests.length - 1);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		port,
		requests,
		stop: async () => {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

/** A server for each test of the file, or block, that calls this: it starts before the hooks that are declared later. */
export function serverForEach(script: Script): ScriptedServer {
	let server: ScriptedServer;
	beforeEach(async () => {
		server = await startScriptedServer(script);
	});
	afterEach(async () => {
		await server.stop();
	});
	return {
		get url() {
			return server.url;
		},
		get port() {
			return server.port;
		},
		get requests() {
			return server.requests;
		},
		stop: async () => {
			await server.stop();
		},
	};
}

/** The same, whose script a test may replace; a request for which it has none is cut off. */
export function scripted(
	usual: Script = (response) => response.destroy(),
): ScriptedServer & { script: Script } {
	const scene: ScriptedServer & { script: Script } = Object.assign(
		serverForEach((...args) => {
			scene.script(...args);
		}),
		{ script: usual },
	);
	beforeEach(() => {
		scene.script = usual;
	});
	return scene;
}

/** Sends a JSON response. */
export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
	response.writeHead(status, { 'content-type': 'application/json', ...headers });
	response.end(JSON.stringify(body));
}

/** Sends one server-sent event per value; strings are sent unchanged. */
export function events(response: ServerResponse, values: readonly unknown[]): void {
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	response.end(eventsOf(values));
}

/** The text of server-sent events; strings are sent unchanged. */
export function eventsOf(values: readonly unknown[]): string {
	return values
		.map((value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)
		.join('');
}

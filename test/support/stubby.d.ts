/** The parts of stubby that the tests use; the package has no types. */
declare module 'stubby' {
	import type { Server } from 'node:http';

	/** A scripted response. */
	export interface StubbyResponse {
		readonly status?: number;
		readonly headers?: Readonly<Record<string, string>>;
		readonly body?: object | string;
		/** Path of a file that is sent as it is. */
		readonly file?: string;
	}

	export interface StubbyEndpoint {
		readonly request: {
			/** Regular expression. */
			readonly url: string;
			readonly method: string;
			/** Regular expression for the body. */
			readonly post?: string;
		};
		/** The responses take turns, beginning with the second one. */
		readonly response: readonly StubbyResponse[];
	}

	export class Stubby {
		readonly stubsPortal: Server;
		start(options: {
			readonly stubs: number;
			readonly admin: number;
			readonly tls: number;
			readonly location: string;
			readonly data: readonly StubbyEndpoint[];
		}): Promise<void>;
		/** Adds an endpoint. */
		post(endpoint: StubbyEndpoint): void;
		stop(): Promise<void>;
	}
}

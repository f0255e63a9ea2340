import { once } from 'node:events';
import { request, type IncomingMessage, type RequestOptions } from 'node:http';

import {
	startEmulator,
	type Emulator,
	type EmulatorOptions,
} from '../../../emulator/startEmulator';

export type Json = Record<string, unknown>;

/** Complete response of the service. */
export interface Answer<Body = Json> {
	readonly status: number;
	readonly headers: Headers;
	readonly body: Body;
}

/** Body of a chat response. */
export interface ChatAnswer {
	readonly model: string;
	readonly session_id?: string;
	readonly choices: readonly {
		readonly index: number;
		readonly finish_reason?: string;
		readonly message: {
			readonly role: string;
			readonly content: string | null;
			readonly reasoning_content?: string;
			readonly tool_calls?: readonly {
				readonly id: string;
				readonly type: string;
				readonly function: { readonly name: string; readonly arguments: string };
			}[];
			readonly tool_results?: readonly Json[];
		};
	}[];
	readonly usage: Record<'prompt_tokens' | 'completion_tokens' | 'total_tokens', number>;
	readonly knowledge_base?: { readonly search_hit: boolean; readonly first_similarity: number };
	readonly suggested_questions?: readonly string[];
	readonly agent?: Json;
	readonly trace_id?: string;
}

/** Emulator with shortcuts for requests. */
export interface TestService extends Emulator {
	/** Sends a body with the key of an account, and returns the response unread. */
	send(path: string, body: unknown, key?: string): Promise<Response>;
	post<Body = Json>(path: string, body: unknown, key?: string): Promise<Answer<Body>>;
	chat(body: Json, key?: string): Promise<Answer<ChatAnswer>>;
	/** Sends one user message and returns the message of the reply. */
	say(content: unknown, more?: Json): Promise<ChatAnswer['choices'][number]['message']>;
	/** Data of all events of a streamed response, including `[DONE]`. */
	stream(body: Json, key?: string): Promise<readonly string[]>;
	/** Chunks of a streamed response. */
	chunks<Chunk = Json>(body: Json, key?: string): Promise<readonly Chunk[]>;
	createVideo(body: Json, key?: string): Promise<Answer>;
	queryTask(taskId: unknown, key?: string): Promise<Answer>;
}

export const user = (content: unknown): Json => ({ role: 'user', content });

/** Starts an emulator with a virtual clock; the test must stop it. */
export async function startService(options: EmulatorOptions = {}): Promise<TestService> {
	const emulator = await startEmulator({ clock: 'virtual', ...options });
	const send = (path: string, body: unknown, key = 'demo-key') =>
		fetch(emulator.url + path, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
			body: JSON.stringify(body),
		});
	const post = async <Body>(path: string, body: unknown, key?: string) => {
		const response = await send(path, body, key);
		return {
			status: response.status,
			headers: response.headers,
			body: (await response.json()) as Body,
		};
	};
	const chat = (body: Json, key?: string) => post<ChatAnswer>('/v1/chat/completions', body, key);
	const stream = async (body: Json, key?: string) => {
		const response = await send('/v1/chat/completions', { stream: true, ...body }, key);
		const text = await response.text();
		return text
			.split('\n\n')
			.filter(Boolean)
			.map((event) => event.replace(/^data: /, ''));
	};
	return {
		...emulator,
		send,
		post,
		chat,
		stream,
		async say(content, more = {}) {
			const { body } = await chat({ messages: [user(content)], ...more });
			return body.choices[0]!.message;
		},
		async chunks<Chunk>(body: Json, key?: string) {
			const events = await stream(body, key);
			return events.slice(0, -1).map((event) => JSON.parse(event) as Chunk);
		},
		createVideo: (body, key) => post('/v1/videos/generations', body, key),
		queryTask: (taskId, key) => post('/v1/videos/tasks', { task_id: taskId }, key),
	};
}

/** An emulator for the tests of the file, or block, that calls this: one for all of them, or one for each. */
export function serviceFor(tests: 'all' | 'each', options?: EmulatorOptions): TestService {
	let service: TestService;
	const [before, after] = tests === 'all' ? [beforeAll, afterAll] : [beforeEach, afterEach];
	before(async () => {
		service = await startService(options);
	});
	after(async () => {
		await service.stop();
	});
	return new Proxy({} as TestService, {
		get: (_none, name) => Reflect.get(service, name) as unknown,
	});
}

/** Starts more emulators for the tests of the file that calls this: each is stopped after its test. */
export function othersForEach() {
	const others: TestService[] = [];
	afterEach(() => Promise.all(others.splice(0).map((other) => other.stop())));
	return async (options?: EmulatorOptions): Promise<TestService> => {
		const other = await startService(options);
		others.push(other);
		return other;
	};
}

/** Sends a request as `fetch` cannot, and reads the response to its end, or to the error code of its connection. */
export async function sendRaw(url: string, options: RequestOptions, body = '') {
	const [response] = (await once(request(url, options).end(body), 'response')) as [
		IncomingMessage,
	];
	let text = '';
	const error = await (async () => {
		for await (const piece of response) text += String(piece);
	})().catch((failure: unknown) => (failure as NodeJS.ErrnoException).code);
	return { status: response.statusCode!, headers: response.headers, text, error };
}

/** Error body of the service (spec 7). */
export const errorBody = (message: unknown, type = 'invalid_request_error') => ({
	error: { message, type },
});

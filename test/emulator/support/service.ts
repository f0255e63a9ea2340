import {
	startEmulator,
	type Emulator,
	type EmulatorOptions,
} from '../../../emulator/startEmulator';

export type Json = Record<string, unknown>;

/** An answer of the service, read to its end. */
export interface Answer<Body = Json> {
	readonly status: number;
	readonly headers: Headers;
	readonly body: Body;
}

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

/** An emulator with short ways to ask it things. */
export interface TestService extends Emulator {
	post<Body = Json>(path: string, body: unknown, key?: string): Promise<Answer<Body>>;
	chat(body: Json, key?: string): Promise<Answer<ChatAnswer>>;
	/** The reply of one user message. */
	say(content: unknown, more?: Json): Promise<ChatAnswer['choices'][number]['message']>;
	/** The data of every event of a streamed answer, `[DONE]` included. */
	stream(body: Json, key?: string): Promise<readonly string[]>;
	/** The chunks of a streamed answer. */
	chunks<Chunk = Json>(body: Json, key?: string): Promise<readonly Chunk[]>;
	createVideo(body: Json, key?: string): Promise<Answer>;
	queryTask(taskId: unknown, key?: string): Promise<Answer>;
}

export const user = (content: unknown): Json => ({ role: 'user', content });

/** Starts an emulator on a virtual clock; the test stops it. */
export async function startService(options: EmulatorOptions = {}): Promise<TestService> {
	const emulator = await startEmulator({ clock: 'virtual', ...options });
	const send = (path: string, body: unknown, key = 'demo-key') =>
		fetch(emulator.url + path, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
			body: JSON.stringify(body),
		});
	const post = async (path: string, body: unknown, key?: string) => {
		const response = await send(path, body, key);
		return {
			status: response.status,
			headers: response.headers,
			body: (await response.json()) as never,
		};
	};
	const chat: TestService['chat'] = (body, key) => post('/v1/chat/completions', body, key);
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

/** The body of a refusal. */
export const refusal = (message: unknown, type = 'invalid_request_error') => ({
	error: { message, type },
});

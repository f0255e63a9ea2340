import {
	startService,
	user,
	type ChatAnswer,
	type Json,
	type TestService,
} from '../emulator/support/service';
import { STATUSES, type Endpoint } from '../../nodes/client/http/failures';
import { anything, containing, matching } from './expected';
import {
	agent,
	assistant,
	chat,
	createVideo,
	TEXT,
	waitForVideo,
	type ChatForm,
	type Ran,
	type VideoForm,
} from './nodeRuns';

/** Checks statements of the specification with the nodes, at an emulator that is new for each check. */
export type WalkCheck = (service: TestService) => Promise<void>;

const WEATHER = {
	type: 'function',
	function: {
		name: 'get_weather',
		description: 'Tells the weather in a city',
		parameters: {
			type: 'object',
			properties: { city: { type: 'string' } },
			required: ['city'],
		},
	},
};
const WEATHER_QUESTION = 'What is the weather in Rome?';
const CALL = {
	id: anything(String),
	type: 'function',
	function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
};
const KNOWN = 'Which aspect ratio fits a phone?';
const CALCULATION = 'Calculate 17 * 4';
const RETRY_NEVER = { retries: 0 };

const LAKE = { model: 'video-m1', prompt: 'A lake' };
const IMAGE = ['image', 'https://example.com/a.png'] as const;
const AUDIO = ['audio', 'https://example.com/a.mp3'] as const;
const CLIP = ['video', 'https://example.com/a.mp4'] as const;

/** The JSON of the only output item. */
function jsonOf({ items, error }: Pick<Ran, 'items' | 'error'>): Json {
	expect(error?.message).toBeUndefined();
	expect(items).toHaveLength(1);
	return items[0]!.json;
}

/** The body of the service that a node gives without Simplify. */
const bodyOf = (ran: Ran) => jsonOf(ran) as unknown as ChatAnswer & Json;

/** The last request that a node has sent. */
const lastBody = ({ journal }: TestService) => journal.entries.at(-1)!.body as Json;

/** Expects that the node, or n8n for a required field, rejects the fields before anything is sent. */
async function expectRejected(
	{ journal }: TestService,
	run: () => Promise<Ran>,
	message = /./,
): Promise<void> {
	const before = journal.entries.length;
	const error = await run().then(
		(ran) => ran.error,
		(issue: unknown) => issue,
	);
	expect(error).toBeDefined();
	expect((error as Error).message).toMatch(message);
	expect(journal.entries).toHaveLength(before);
}

/** Expects that the service answers with this status, and that the node says what it means. */
async function expectStatus(
	status: number,
	run: Promise<Ran>,
	endpoint: Endpoint = 'chat',
): Promise<void> {
	const { error } = await run;
	expect(error?.httpCode).toBe(String(status));
	expect(error?.message).toContain(STATUSES[endpoint][status]!.message);
}

/** The calls of the three chat nodes that lead to one status. */
function chatStatus(status: number, how: ChatForm, apiKey = 'demo-key'): WalkCheck {
	return async (service) => {
		const target = { url: service.url, apiKey };
		const form = { prompt: 'Hi', ...how, options: RETRY_NEVER };
		for (const isStreamed of [false, true]) {
			await expectStatus(status, chat(target, { ...form, isStreamed }));
			await expectStatus(status, agent(target, { ...form, isStreamed }));
			const asked = { message: form.prompt, options: RETRY_NEVER, isStreamed };
			const { appCode = 'demo-assistant', imageUrls = [] } = how;
			await expectStatus(status, assistant(target, { ...asked, appCode, imageUrls }));
		}
	};
}

function videoStatus(status: number, how: Partial<VideoForm>, apiKey = 'demo-key'): WalkCheck {
	return async ({ url }) => {
		const form = { ...LAKE, ...how, fields: { options: RETRY_NEVER } };
		await expectStatus(status, createVideo({ url, apiKey }, form), 'video');
	};
}

/** Every check, by the name that the proofs of the statements use. */
export const WALK_CHECKS: Readonly<Record<string, WalkCheck>> = {
	'no messages': async (service) => {
		for (const run of [chat, agent])
			await expectRejected(service, async () => await run(service, { messages: [] }));
		expect(await service.chat({})).toMatchObject({ status: 400 });
	},
	'empty messages': async (service) => {
		for (const role of ['system', 'user', 'assistant']) {
			const messages = [{ role, content: '' }, user('Hi')];
			await expectRejected(service, async () => await chat(service, { messages }));
			expect(await service.chat({ messages })).toMatchObject({ status: 400 });
		}
		for (const run of [chat, agent])
			await expectRejected(service, async () => await run(service, { prompt: ' ' }));
		await expectRejected(service, async () => await assistant(service, { message: '' }));
	},
	'default model': async (service) => {
		const ran = await chat(service, { prompt: 'Hi', appCode: 'demo-app', isRaw: true });
		expect(bodyOf(ran).model).toBe('chat-m1');
		const other = { prompt: 'Hi', appCode: 'demo-app', model: 'chat-m2', isRaw: true };
		expect(bodyOf(await chat(service, other)).model).toBe('chat-m2');
	},
	'assistant ignores model': async (service) => {
		const messages = [user('Hi')];
		const { body } = await service.chat({
			app_code: 'demo-assistant',
			model: 'chat-m2',
			messages,
		});
		expect(body.model).toBe('chat-m1');
		await assistant(service, { message: 'Hi' });
		expect(lastBody(service)).not.toHaveProperty('model');
	},
	session: async (service) => {
		for (const isStreamed of [false, true]) {
			const isRaw = true;
			const ada = { message: 'My name is Ada', isStreamed, isRaw };
			const first = jsonOf(await assistant(service, ada));
			const sessionId = String(first['session_id']);
			expect(sessionId).toMatch(/^session-/);
			const ask = { message: 'What is my name?', isStreamed, isRaw };
			const again = jsonOf(await assistant(service, { ...ask, sessionId }));
			expect(again['session_id']).toBe(sessionId);
			expect(JSON.stringify(again['choices'])).toContain('Ada');
			const other = jsonOf(await assistant(service, ask));
			expect(other['session_id']).not.toBe(sessionId);
			expect(JSON.stringify(other['choices'])).not.toContain('Ada');
		}
	},
	ranges: async (service) => {
		const rejected = [
			{ temperature: -0.1 },
			{ temperature: 1.1 },
			{ frequencyPenalty: -2.1 },
			{ frequencyPenalty: 2.1 },
			{ presencePenalty: -2.1 },
			{ presencePenalty: 2.1 },
			{ stop: ['a', 'b', 'c', 'd', 'e'] },
		];
		for (const options of rejected) {
			for (const run of [chat, agent])
				await expectRejected(
					service,
					async () => await run(service, { prompt: 'Hi', options }),
				);
		}
		for (const limits of [0, 1]) {
			const penalty = limits === 0 ? -2 : 2;
			const fields = {
				temperature: limits,
				frequencyPenalty: penalty,
				presencePenalty: penalty,
				stop: ['1', '2', '3', '4'],
			};
			jsonOf(await chat(service, { prompt: 'Hi', options: fields }));
			expect(lastBody(service)).toMatchObject({
				temperature: limits,
				frequency_penalty: penalty,
				presence_penalty: penalty,
				stop: ['1', '2', '3', '4'],
			});
		}
	},
	'temperature of the application': async () => {
		const form = { prompt: 'Write a slogan for a lake', appCode: 'demo-app' };
		/** The first text of a service: above temperature 0 it varies when the question is asked again. */
		const textAt = async (options = {}) => {
			const fresh = await startService();
			try {
				const { [TEXT]: text } = jsonOf(await chat(fresh, { ...form, options }));
				return { text, body: lastBody(fresh) };
			} finally {
				await fresh.stop();
			}
		};
		const { text, body } = await textAt();
		expect(body).not.toHaveProperty('temperature');
		expect((await textAt({ temperature: 0.3 })).text).toBe(text);
		const others = [];
		for (const temperature of [0, 0.6, 1]) others.push((await textAt({ temperature })).text);
		expect(others.some((other) => other !== text)).toBe(true);
	},
	'JSON mode without the word': async (service) => {
		const request = { messages: [user('Hi')], response_format: { type: 'json_object' } };
		expect((await service.post('/v1/chat/completions', request)).status).toBe(400);
		// The nodes add the word.
		jsonOf(await chat(service, { prompt: 'Hi', isJson: true }));
	},
	reasoning: async (service) => {
		for (const isStreamed of [false, true]) {
			const thinks = async (form: ChatForm) => {
				const raw = { prompt: 'Hi', isRaw: true, isStreamed, ...form };
				const [{ message }] = bodyOf(await chat(service, raw)).choices as [
					ChatAnswer['choices'][number],
				];
				expect(message.content).toMatch(/\w/);
				return message.reasoning_content !== undefined;
			};
			const detailed = { prompt: 'Hi', model: 'chat-m1', isStreamed, isDetailed: true };
			const raw = bodyOf(
				await chat(service, { ...detailed, isStreamed: false, isRaw: true }),
			);
			// A stream brings the same thoughts in pieces.
			expect(raw.choices[0]!.message.reasoning_content).toMatch(/\w/);
			for (const run of [chat, agent])
				expect(jsonOf(await run(service, detailed))).toMatchObject({
					reasoning_content: raw.choices[0]!.message.reasoning_content,
				});
			const on = { options: { thinking: 'enabled' } };
			const off = { options: { thinking: 'disabled' } };
			expect(await thinks({ model: 'chat-m1' })).toBe(true);
			expect(await thinks({ model: 'chat-m1', ...off })).toBe(false);
			expect(await thinks({ model: 'chat-m2' })).toBe(false);
			expect(await thinks({ model: 'chat-m2', ...on })).toBe(true);
		}
	},
	'unsupported effort': async (service) => {
		const effort = { prompt: 'Hi', options: { reasoningEffort: 'none' } };
		await expectStatus(400, chat(service, { ...effort, model: 'chat-m1' }));
		jsonOf(await chat(service, { ...effort, model: 'chat-m2' }));
	},
	'fields of the wrong role': async (service) => {
		const calls = [{ ...CALL, id: 'call_1' }];
		const wrong = [
			{ ...user('Hi'), tool_calls: calls },
			{ ...user('Hi'), tool_call_id: 'call_1' },
		];
		for (const message of wrong) {
			expect(await service.chat({ messages: [message] })).toMatchObject({ status: 400 });
			for (const run of [chat, agent])
				await expectRejected(
					service,
					async () => await run(service, { messages: [message] }),
				);
		}
	},
	'image URLs': async (service) => {
		for (const url of ['data:image/png;base64,AAAA', 'file:///a.png', 'a.png']) {
			for (const run of [chat, agent])
				await expectRejected(
					service,
					async () => await run(service, { prompt: 'What is this?', imageUrls: [url] }),
				);
			await expectRejected(
				service,
				async () => await assistant(service, { message: 'See', imageUrls: [url] }),
			);
		}
	},
	'tool calls': async (service) => {
		for (const isStreamed of [false, true]) {
			const options = { tools: JSON.stringify([WEATHER]) };
			const form = { prompt: WEATHER_QUESTION, options, isStreamed };
			const { choices } = bodyOf(await chat(service, { ...form, isRaw: true }));
			expect(choices[0]).toMatchObject({
				finish_reason: 'tool_calls',
				message: { tool_calls: [CALL] },
			});
			// A stream may begin with an empty text.
			if (!isStreamed) expect(choices[0]!.message.content).toBeNull();
			expect(jsonOf(await chat(service, form))).toMatchObject({
				finish_reason: 'tool_calls',
				tool_calls: [CALL],
			});
		}
	},
	'agent loop': async (service) => {
		for (const isStreamed of [false, true]) {
			const form = { prompt: WEATHER_QUESTION, tools: [WEATHER], isStreamed };
			const json = jsonOf(await agent(service, form, () => ({ temperature: 21 })));
			expect(json).toMatchObject({ finish_reason: 'stop', rounds: 2 });
			expect(json[TEXT]).toContain('21');
		}
	},
	'a model without function calling': async (service) => {
		for (const isStreamed of [false, true]) {
			const form = {
				prompt: WEATHER_QUESTION,
				tools: [WEATHER],
				model: 'chat-m3',
				isStreamed,
			};
			const json = jsonOf(await agent(service, form, () => ({ temperature: 21 })));
			expect(json).toMatchObject({
				finish_reason: 'stop',
				rounds: 1,
				[TEXT]: matching(/\w/),
			});
		}
	},
	'images in a workflow': async (service) => {
		const imageUrls = ['https://example.com/red-fox.jpg'];
		const form = { prompt: 'A story', appCode: 'demo-workflow', imageUrls };
		expect(jsonOf(await chat(service, form))[TEXT]).toMatch(/^The image shows red fox/);
	},
	'an assistant in a workflow': async (service) => {
		const form = { prompt: 'What is 6 times 7?', appCode: 'assistant-workflow' };
		const body = bodyOf(await chat(service, { ...form, isRaw: true }));
		expect(body.choices[0]!.message.content).toContain('42');
		expect(body).not.toHaveProperty('session_id', matching(/\w/));
	},
	'chat body': async (service) => {
		const { choices, usage } = bodyOf(await chat(service, { prompt: 'Hi', isRaw: true }));
		expect(choices).toMatchObject([
			{
				index: 0,
				finish_reason: 'stop',
				message: { role: 'assistant', content: matching(/\w/) },
			},
		]);
		const { prompt_tokens, completion_tokens, total_tokens } = usage;
		expect([prompt_tokens, completion_tokens].every((count) => count > 0)).toBe(true);
		expect(total_tokens).toBe(prompt_tokens + completion_tokens);
		const json = jsonOf(await chat(service, { prompt: 'Hi' }));
		expect(json).toMatchObject({ finish_reason: 'stop', usage });
		expect(json[TEXT]).toBe(choices[0]!.message.content);
	},
	'assistant body': async (service) => {
		for (const isStreamed of [false, true]) {
			const raw = { message: CALCULATION, isRaw: true, isStreamed };
			const body = bodyOf(await assistant(service, raw));
			expect(body).toMatchObject({
				id: matching(/\w/),
				created: anything(Number),
				model: 'chat-m1',
				session_id: matching(/^session-/),
			});
			expect(body['object']).toMatch(/^chat\.completion/);
			expect(JSON.stringify(body)).toContain('calculator');
		}
		const detailed = { message: CALCULATION, isDetailed: true };
		for (const isStreamed of [false, true]) {
			const json = jsonOf(await assistant(service, { ...detailed, isStreamed }));
			const [{ id }] = json['tool_calls'] as [{ id: string }];
			expect(json['tool_results']).toStrictEqual([
				{ tool_call_id: id, content: anything(String) },
			]);
		}
		const messages = [user(CALCULATION)];
		const { body } = await service.chat({ app_code: 'demo-assistant', messages });
		const [{ message }] = body.choices as [ChatAnswer['choices'][number]];
		const id = message.tool_calls![0]!.id;
		expect(message.tool_results).toStrictEqual([
			{ tool_call_id: id, content: anything(String) },
		]);
	},
	'stream chunks': async (service) => {
		const more = { stream_options: { include_usage: true } };
		const chunks = await service.chunks({ messages: [user('Hi')], ...more });
		const choices = chunks.map(({ choices: [choice] = [] }: { choices?: Json[] }) => choice!);
		for (const choice of choices) expect(choice['index']).toBe(0);
		const reasons = choices.map((choice) => choice['finish_reason']);
		expect(new Set(reasons.slice(0, -1))).toStrictEqual(new Set([null]));
		expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop', delta: {} });
		expect(choices.at(-1)!['delta']).toStrictEqual({});
		expect(choices.findIndex((choice) => 'usage' in choice)).toBe(choices.length - 1);
		for (const chunk of chunks) {
			expect(chunk['session_id']).toBeNull();
			expect(chunk).not.toHaveProperty('extension');
		}
		const json = jsonOf(await chat(service, { prompt: 'Hi', isStreamed: true }));
		expect(json).toMatchObject({ finish_reason: 'stop', usage: choices.at(-1)!['usage'] });
	},
	'streamed and not': async (service) => {
		const texts = async (isStreamed: boolean) => [
			jsonOf(await chat(service, { prompt: KNOWN, appCode: 'demo-app', isStreamed }))[TEXT],
			jsonOf(await assistant(service, { message: CALCULATION, isStreamed }))[TEXT],
		];
		expect(await texts(true)).toStrictEqual(await texts(false));
	},
	knowledge: async (service) => {
		for (const isStreamed of [false, true]) {
			const form = { prompt: KNOWN, appCode: 'demo-app', isStreamed };
			const fields = {
				suggested_questions: [anything(String), anything(String), anything(String)],
				trace_id: matching(/^trace-/),
			};
			const body = bodyOf(await chat(service, { ...form, isRaw: true }));
			const knowledge_base = { search_hit: true, first_similarity: anything(Number) };
			expect(body).toMatchObject({ ...fields, knowledge_base });
			for (const run of [chat, agent]) {
				expect(jsonOf(await run(service, form))).toMatchObject(fields);
				const detailed = jsonOf(await run(service, { ...form, isDetailed: true }));
				expect(detailed['knowledge_base']).toStrictEqual(knowledge_base);
			}
		}
	},
	plugin: async (service) => {
		const form = { prompt: 'Generate an image of a lake', appCode: 'demo-app' };
		const plugin = {
			status: 'success',
			need_show_plugin: true,
			chain: [
				{
					plugin_name: 'image_generation',
					thought: anything(String),
					plugin_input: anything(Object),
				},
			],
		};
		for (const isStreamed of [false, true]) {
			for (const output of [{ isRaw: true }, { isDetailed: true }]) {
				const json = jsonOf(await chat(service, { ...form, ...output, isStreamed }));
				expect(json['agent']).toStrictEqual(plugin);
			}
			const detailed = { ...form, isDetailed: true, isStreamed };
			expect(jsonOf(await agent(service, detailed))['agent']).toStrictEqual(plugin);
		}
		const plain = { prompt: 'Hi', appCode: 'demo-app', isRaw: true };
		expect(bodyOf(await chat(service, plain))).not.toHaveProperty('agent');
	},
	'tool progress': async (service) => {
		const body = { app_code: 'demo-assistant', messages: [user(CALCULATION)] };
		const chunks = await service.chunks<{ extension?: Json }>(body);
		const seen = chunks.flatMap(({ extension }) => extension ?? []);
		const run = { arguments: anything(Object) };
		expect(seen).toStrictEqual([
			{ type: 'tool_start', data: { tool: 'calculator', ...run } },
			{
				type: 'tool_calls',
				data: {
					tool_calls: [
						{
							name: 'calculator',
							...run,
							result: containing('68'),
							status: 'success',
							elapsed: anything(String),
						},
					],
				},
			},
		]);
		const ran = await assistant(service, {
			message: CALCULATION,
			isStreamed: true,
			isRaw: true,
		});
		expect(jsonOf(ran)['events']).toMatchObject([
			{ type: 'tool_start', tool: 'calculator' },
			{ type: 'tool_calls', tool: 'calculator', status: 'success' },
		]);
	},
	'assistant streams by default': async (service) => {
		jsonOf(await assistant(service, { message: 'Hi' }));
		expect(lastBody(service)).toMatchObject({ stream: true });
	},
	'required video fields': async (service) => {
		await expectRejected(
			service,
			async () => await createVideo(service, { ...LAKE, prompt: '' }),
		);
		await expectRejected(
			service,
			async () => await createVideo(service, { ...LAKE, model: '' }),
		);
		await expectRejected(
			service,
			async () => await waitForVideo(service, [{ task_id: '' }]),
			/^Task ID is empty/,
		);
		expect(await service.createVideo({ prompt: '', model: 'video-m1' })).toMatchObject({
			status: 400,
		});
		expect(await service.createVideo({ prompt: 'A lake' })).toMatchObject({ status: 400 });
		expect(await service.queryTask(undefined)).toMatchObject({ status: 400 });
	},
	'ignored audio': async (service) => {
		const video = { ...LAKE, model: 'video-m5', files: [IMAGE, AUDIO] };
		await expectRejected(service, async () => await createVideo(service, video), /audio/);
	},
	durations: async (service) => {
		const rows = [
			['video-m3', 4, 5],
			['video-m3', 6, 10],
			['video-m4', 1, 5],
			['video-m4', 30, 10],
			['video-m7', 9, 8],
			['video-m7', 11, 12],
		] as const;
		const rejected = [
			['video-m8', 5],
			['video-m1', 14],
			['video-m2', 11],
			['video-m5', 2],
			['video-m6', 8],
		] as const;
		for (const [model, duration, made] of rows) {
			jsonOf(await createVideo(service, { ...LAKE, model, fields: { duration } }));
			const { video } = service.tasks.all.at(-1)!;
			expect([model, duration, video.duration]).toStrictEqual([model, duration, made]);
		}
		for (const [model, duration] of rejected) {
			const video = { ...LAKE, model, fields: { duration } };
			const run = async () => await createVideo(service, video);
			await expectRejected(service, run, /^Duration is /);
		}
	},
	'reference URLs': async (service) => {
		for (const url of ['data:image/png;base64,AAAA', 'ftp://example.com/a.png', 'a.png'])
			await expectRejected(
				service,
				async () => await createVideo(service, { ...LAKE, files: [['image', url]] }),
			);
	},
	'too many files': async (service) => {
		const many = <T extends 'image' | 'video' | 'audio'>(kind: T, count: number) =>
			Array.from(
				{ length: count },
				(_, index) => [kind, `https://example.com/${kind}${index}`] as const,
			);
		const [image] = many('image', 1);
		const excess = [
			many('image', 10),
			[image!, ...many('video', 4)],
			[image!, ...many('audio', 4)],
		];
		for (const files of excess) {
			const run = async () => await createVideo(service, { ...LAKE, files });
			await expectRejected(service, run, /supports at most/);
		}
		const files = [...many('image', 9), ...many('video', 3), ...many('audio', 3)];
		jsonOf(await createVideo(service, { ...LAKE, files }));
		const { images, videos, audios } = lastBody(service) as Record<string, string[]>;
		expect([images, videos, audios].map((urls) => urls!.length)).toStrictEqual([9, 3, 3]);
	},
	'audio alone': async (service) => {
		await expectRejected(
			service,
			async () => await createVideo(service, { ...LAKE, files: [AUDIO] }),
		);
		jsonOf(await createVideo(service, { ...LAKE, files: [CLIP, AUDIO] }));
	},
	'video task': async (service) => {
		const created = jsonOf(await createVideo(service, LAKE));
		expect(created).toMatchObject({
			task_id: anything(String),
			status: matching(/^(queued|processing)$/),
			model: 'video-m1',
		});
		expect(created).not.toHaveProperty('video_url');
		await service.clock.advance(60_000);
		const { task_id } = created;
		const done = jsonOf(await waitForVideo(service, [{ task_id: String(task_id) }]));
		expect(lastBody(service)).toStrictEqual({ task_id });
		expect(done).toMatchObject({
			task_id,
			status: 'completed',
			model: 'video-m1',
			video_url: matching(/^http.*\.mp4$/),
			thumbnail_url: matching(/^http/),
			enhanced_prompt: matching(/^A lake/),
		});
	},
	'failed task': async (service) => {
		for (const prompt of ['fail-task', 'moderated-task']) {
			const created = jsonOf(await createVideo(service, { ...LAKE, prompt }));
			await service.clock.advance(60_000);
			const task = { task_id: String(created['task_id']) };
			expect(jsonOf(await waitForVideo(service, [task]))).toMatchObject({
				status: 'failed',
				error_message: anything(String),
			});
		}
	},
	'base URL': async (service) => {
		jsonOf(await chat({ url: `${service.url}/v1` }, { prompt: 'Hi' }));
		jsonOf(await createVideo({ url: `${service.url}/v1/` }, LAKE));
		expect(service.journal.entries.map(({ path }) => path)).toStrictEqual([
			'/v1/chat/completions',
			'/v1/videos/generations',
		]);
	},
	'private application': async ({ url }) => {
		const form = { prompt: 'Hi', appCode: 'private-app' };
		jsonOf(await chat({ url, apiKey: 'creator-key' }, form));
		await expectStatus(403, chat({ url }, form));
		const ended = (apiKey: string) => ({
			url,
			apiKey: `${apiKey}-private-app`,
			keyIncludesApp: true,
		});
		jsonOf(await chat(ended('creator-key'), { prompt: 'Hi' }));
		// The request names no application: the key may as well have no access to the model.
		await expectStatus(403, chat(ended('demo-key'), { prompt: 'Hi' }), 'model');
	},
	'error body': async (service) => {
		const messages = [user('Hi')];
		const { body } = await service.post('/v1/chat/completions', { messages, temperature: 2 });
		const type = 'invalid_request_error';
		expect(body).toStrictEqual({ error: { message: anything(String), type } });
		const options = { extraBody: '{ "temperature": 2 }' };
		const { error } = await chat(service, { prompt: 'Hi', options });
		expect(error!.description).toMatch(
			/The service said: .*temperature.*Type: invalid_request_error/is,
		);
	},
	moderation: async (service) => {
		await expectStatus(409, chat(service, { prompt: 'forbidden-word' }));
		await expectStatus(409, chat(service, { prompt: 'forbidden-answer' }));
		const knowledge = { prompt: 'Tell me the forbidden-knowledge', appCode: 'demo-app' };
		await expectStatus(409, chat(service, knowledge));
		await expectStatus(
			409,
			createVideo(service, { ...LAKE, prompt: 'forbidden-word' }),
			'video',
		);
		const files = [['image', 'https://example.com/forbidden-word.png']] as const;
		await expectStatus(409, createVideo(service, { ...LAKE, files }), 'video');
	},
	'chat status 400': chatStatus(400, { imageUrls: ['https://host.invalid/a.png'] }),
	'chat status 401': chatStatus(401, {}, 'another-key'),
	'chat status 402': chatStatus(402, { appCode: 'no-such-app' }),
	'chat status 403': chatStatus(403, { appCode: 'private-app' }),
	'chat status 406': chatStatus(406, {}, 'demo-key-no-credit'),
	'chat status 409': chatStatus(409, { prompt: 'forbidden-word' }),
	'chat status 429': chatStatus(429, { appCode: 'busy-app' }),
	'chat status 503': chatStatus(503, { prompt: 'broken-service' }),
	'video status 400': videoStatus(400, { files: [['image', 'https://host.invalid/a.png']] }),
	'video status 401': async (service) => {
		await videoStatus(401, {}, 'another-key')(service);
		const target = { url: service.url, apiKey: 'another-key' };
		await expectStatus(401, waitForVideo(target, [{ task_id: 'task-1' }]), 'video');
	},
	'video status 402': videoStatus(402, { model: 'video-m99' }),
	'video status 406': videoStatus(406, {}, 'demo-key-no-credit'),
	'video status 409': videoStatus(409, { prompt: 'forbidden-word' }),
	'video status 503': videoStatus(503, { prompt: 'broken-service' }),
};

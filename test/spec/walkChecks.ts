import { STATUSES, type Endpoint } from '../../nodes/client/http/failures';
import {
	startService,
	user,
	type Answer,
	type ChatAnswer,
	type Json,
	type TestService,
} from '../emulator/support/service';
import {
	agent,
	anything,
	assistant,
	chat,
	createVideo,
	jsonOf,
	matching,
	waitForVideo,
	WEATHER,
	type AssistantForm,
	type ChatForm,
	type Ran,
	type Target,
	type VideoForm,
} from './nodeRuns';

/** Checks statements of the specification with the nodes, at an emulator that is new for each check. */
export type WalkCheck = (service: TestService) => Promise<void>;
type Run = (target: Target) => Promise<Ran>;

const LAKE = { model: 'video-m1', prompt: 'A lake' };
const WEATHER_QUESTION = 'What is the weather in Rome?';
const CALL = {
	id: anything(String),
	type: 'function',
	function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
};
const KNOWN = 'Which aspect ratio fits a phone?';
const CALCULATION = 'Calculate 17 * 4';
/** What is no public URL. */
const NO_URLS = ['data:image/png;base64,AAAA', 'file:///a.png', 'a.png'];

/** Runs of Chat Completion and of Agent with Tools. */
const bothChats = (form: ChatForm): readonly Run[] => [
	async (target) => await chat(target, { prompt: 'Hi', ...form }),
	async (target) => await agent(target, { prompt: 'Hi', ...form }),
];
const asks =
	(form: Partial<AssistantForm>): Run =>
	async (target) =>
		await assistant(target, { message: 'Hi', ...form });
const films =
	(form: Partial<VideoForm>): Run =>
	async (target) =>
		await createVideo(target, { ...LAKE, ...form });

/** The body of the service that a node gives without Simplify. */
const bodyOf = (ran: Ran) => jsonOf(ran) as unknown as ChatAnswer & Json;

/** The last request that a node has sent. */
const lastBody = ({ journal }: TestService) => journal.entries.at(-1)!.body as Json;

const steps =
	(...checks: readonly WalkCheck[]): WalkCheck =>
	async (service) => {
		for (const check of checks) await check(service);
	};

/** Runs a check without and with streaming. */
const eitherWay =
	(check: (service: TestService, isStreamed: boolean) => Promise<void>): WalkCheck =>
	async (service) => {
		for (const isStreamed of [false, true]) await check(service, isStreamed);
	};

/** The nodes, or n8n for a required field, reject the forms before anything is sent. */
const rejected =
	(message: RegExp, ...runs: readonly Run[]): WalkCheck =>
	async (service) => {
		for (const run of runs) {
			const before = service.journal.entries.length;
			const error = await run(service).then(
				(ran) => ran.error,
				(issue: unknown) => issue,
			);
			expect(error).toBeDefined();
			expect((error as Error).message).toMatch(message);
			expect(service.journal.entries).toHaveLength(before);
		}
	};

/** The service rejects a request. */
const answers400 =
	(send: (service: TestService) => Promise<Answer<unknown>>): WalkCheck =>
	async (service) => {
		expect(await send(service)).toMatchObject({ status: 400 });
	};

/** The service answers each run with this status, and the node says what it means. */
const status =
	(
		code: number,
		endpoint: Endpoint,
		runs: readonly Run[],
		target: Omit<Target, 'url'> = {},
	): WalkCheck =>
	async ({ url }) => {
		for (const run of runs) {
			const { error } = await run({ url, ...target });
			expect(error?.httpCode).toBe(String(code));
			expect(error?.message).toContain(STATUSES[endpoint][code]!.message);
		}
	};

const WRONG_ROLES = [
	{ ...user('Hi'), tool_calls: [{ ...CALL, id: 'call_1' }] },
	{ ...user('Hi'), tool_call_id: 'call_1' },
];

/** Every check, by the name that the proofs of the statements use. */
export const WALK_CHECKS: Readonly<Record<string, WalkCheck>> = {
	'no messages': steps(
		rejected(/^Messages \(JSON\) is empty/, ...bothChats({ messages: [] })),
		answers400(async (service) => await service.chat({})),
	),
	'empty messages': steps(
		rejected(/^Prompt is empty/, ...bothChats({ prompt: ' ' })),
		rejected(/^Message is empty/, asks({ message: '' })),
		...['system', 'user', 'assistant'].map((role) => {
			const messages = [{ role, content: '' }, user('Hi')];
			return steps(
				rejected(/^Messages \(JSON\): entry 1 has no/, bothChats({ messages })[0]!),
				answers400(async (service) => await service.chat({ messages })),
			);
		}),
	),
	'default model': async (service) => {
		const form = { prompt: 'Hi', appCode: 'demo-app', output: 'raw' } as const;
		expect(bodyOf(await chat(service, form)).model).toBe('chat-m1');
		expect(bodyOf(await chat(service, { ...form, model: 'chat-m2' })).model).toBe('chat-m2');
	},
	'assistant ignores model': async (service) => {
		const request = { app_code: 'demo-assistant', model: 'chat-m2', messages: [user('Hi')] };
		expect((await service.chat(request)).body.model).toBe('chat-m1');
		await assistant(service, { message: 'Hi' });
		expect(lastBody(service)).not.toHaveProperty('model');
	},
	session: eitherWay(async (service, isStreamed) => {
		const more = { isStreamed, output: 'raw' } as const;
		const first = jsonOf(await assistant(service, { message: 'My name is Ada', ...more }));
		const sessionId = String(first['session_id']);
		expect(sessionId).toMatch(/^session-/);
		const ask = { message: 'What is my name?', ...more };
		const again = jsonOf(await assistant(service, { ...ask, sessionId }));
		expect(again['session_id']).toBe(sessionId);
		expect(JSON.stringify(again['choices'])).toContain('Ada');
		const other = jsonOf(await assistant(service, ask));
		expect(other['session_id']).not.toBe(sessionId);
		expect(JSON.stringify(other['choices'])).not.toContain('Ada');
	}),
	'temperature of the application': async () => {
		const form = { prompt: 'Write a slogan for a lake', appCode: 'demo-app' };
		/** The first text of a service: above temperature 0 it varies when the question is asked again. */
		const textAt = async (entered = {}) => {
			const fresh = await startService();
			try {
				const { output } = jsonOf(await chat(fresh, { ...form, options: entered }));
				return { output, body: lastBody(fresh) };
			} finally {
				await fresh.stop();
			}
		};
		const { output, body } = await textAt();
		expect(body).not.toHaveProperty('temperature');
		expect((await textAt({ temperature: 0.3 })).output).toBe(output);
		const others = [];
		for (const temperature of [0, 0.6, 1]) others.push((await textAt({ temperature })).output);
		expect(others.some((other) => other !== output)).toBe(true);
	},
	'JSON mode without the word': steps(
		answers400(
			async (service) =>
				await service.chat({
					messages: [user('Hi')],
					response_format: { type: 'json_object' },
				}),
		),
		// The nodes add the word.
		async (service) => {
			jsonOf(await chat(service, { prompt: 'Hi', isJson: true }));
		},
	),
	reasoning: eitherWay(async (service, isStreamed) => {
		const thoughtOf = async (code: string, thinking = 'default') => {
			const form = { prompt: 'Hi', model: code, options: { thinking }, isStreamed };
			const [choice] = bodyOf(await chat(service, { ...form, output: 'raw' })).choices;
			expect(choice!.message.content).toMatch(/\w/);
			return choice!.message.reasoning_content;
		};
		const thought = await thoughtOf('chat-m1');
		expect(thought).toMatch(/\w/);
		const form = { prompt: 'Hi', model: 'chat-m1', output: 'detailed' } as const;
		// A stream brings the same thoughts in pieces.
		for (const run of [chat, agent])
			expect(jsonOf(await run(service, { ...form, isStreamed: !isStreamed }))).toMatchObject({
				reasoning_content: thought,
			});
		expect(await thoughtOf('chat-m1', 'disabled')).toBeUndefined();
		expect(await thoughtOf('chat-m2')).toBeUndefined();
		expect(await thoughtOf('chat-m2', 'enabled')).toBeDefined();
	}),
	'unsupported effort': async (service) => {
		const form = { options: { reasoningEffort: 'none' } };
		await status(400, 'chat', bothChats({ ...form, model: 'chat-m1' }))(service);
		jsonOf(await chat(service, { prompt: 'Hi', ...form, model: 'chat-m2' }));
	},
	'fields of the wrong role': steps(
		...WRONG_ROLES.flatMap((message) => [
			answers400(async (service) => await service.chat({ messages: [message] })),
			rejected(/^Messages .* has (a )?tool_call/, ...bothChats({ messages: [message] })),
		]),
	),
	'image URLs': rejected(
		/^Images: /,
		...NO_URLS.flatMap((url) => [
			...bothChats({ imageUrls: [url] }),
			asks({ imageUrls: [url] }),
		]),
	),
	'tool calls': eitherWay(async (service, isStreamed) => {
		const form = {
			prompt: WEATHER_QUESTION,
			options: { tools: JSON.stringify([WEATHER]) },
			isStreamed,
		};
		const { choices } = bodyOf(await chat(service, { ...form, output: 'raw' }));
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
	}),
	'agent loop': eitherWay(async (service, isStreamed) => {
		const form = { prompt: WEATHER_QUESTION, tools: [WEATHER], isStreamed };
		expect(jsonOf(await agent(service, form, () => ({ temperature: 21 })))).toMatchObject({
			...{ finish_reason: 'stop', rounds: 2 },
			output: matching(/21/),
		});
	}),
	'a model without function calling': async (service) => {
		const form = { prompt: WEATHER_QUESTION, tools: [WEATHER], model: 'chat-m3' };
		expect(jsonOf(await agent(service, form))).toMatchObject({
			...{ finish_reason: 'stop', rounds: 1 },
			output: matching(/\w/),
		});
	},
	'images in a workflow': async (service) => {
		const imageUrls = ['https://example.com/red-fox.jpg'];
		const form = { prompt: 'A story', appCode: 'demo-workflow', imageUrls };
		expect(jsonOf(await chat(service, form))['output']).toMatch(/^The image shows red fox/);
	},
	'an assistant in a workflow': async (service) => {
		const form = { prompt: 'What is 6 times 7?', appCode: 'assistant-workflow' };
		const body = bodyOf(await chat(service, { ...form, output: 'raw' }));
		expect(body.choices[0]!.message.content).toContain('42');
		expect(body).not.toHaveProperty('session_id', matching(/\w/));
	},
	'chat body': async (service) => {
		const { choices, usage } = bodyOf(await chat(service, { prompt: 'Hi', output: 'raw' }));
		const message = { role: 'assistant', content: matching(/\w/) };
		expect(choices).toMatchObject([{ index: 0, finish_reason: 'stop', message }]);
		const { prompt_tokens, completion_tokens, total_tokens } = usage;
		expect([prompt_tokens, completion_tokens].every((count) => count > 0)).toBe(true);
		expect(total_tokens).toBe(prompt_tokens + completion_tokens);
		expect(jsonOf(await chat(service, { prompt: 'Hi' }))).toMatchObject({
			...{ finish_reason: 'stop', usage },
			output: choices[0]!.message.content,
		});
	},
	'assistant body': eitherWay(async (service, isStreamed) => {
		const form = { message: CALCULATION, isStreamed };
		const body = bodyOf(await assistant(service, { ...form, output: 'raw' }));
		expect(body).toMatchObject({
			...{ id: matching(/\w/), object: matching(/^chat\.completion/) },
			...{ created: anything(Number), model: 'chat-m1', session_id: matching(/^session-/) },
		});
		expect(JSON.stringify(body)).toContain('calculator');
		const ran = ({ tool_calls: calls, tool_results: results }: Json) => {
			const [{ id }] = calls as [{ id: string }];
			expect(results).toStrictEqual([{ tool_call_id: id, content: anything(String) }]);
		};
		ran(jsonOf(await assistant(service, { ...form, output: 'detailed' })));
		if (!isStreamed) ran(body.choices[0]!.message);
	}),
	'stream chunks': async (service) => {
		const more = { stream_options: { include_usage: true } };
		const chunks = await service.chunks({ messages: [user('Hi')], ...more });
		const choices = chunks.map(({ choices: [choice] = [] }: { choices?: Json[] }) => choice!);
		for (const choice of choices) expect(choice['index']).toBe(0);
		const reasons = choices.map((choice) => choice['finish_reason']);
		expect(new Set(reasons.slice(0, -1))).toStrictEqual(new Set([null]));
		expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop' });
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
			jsonOf(await chat(service, { prompt: KNOWN, appCode: 'demo-app', isStreamed }))[
				'output'
			],
			jsonOf(await assistant(service, { message: CALCULATION, isStreamed }))['output'],
		];
		expect(await texts(true)).toStrictEqual(await texts(false));
	},
	knowledge: eitherWay(async (service, isStreamed) => {
		const form = { prompt: KNOWN, appCode: 'demo-app', isStreamed };
		const fields = {
			suggested_questions: Array<unknown>(3).fill(anything(String)),
			trace_id: matching(/^trace-/),
		};
		const knowledge_base = { search_hit: true, first_similarity: anything(Number) };
		const body = bodyOf(await chat(service, { ...form, output: 'raw' }));
		expect(body).toMatchObject({ ...fields, knowledge_base });
		for (const run of [chat, agent]) {
			expect(jsonOf(await run(service, form))).toMatchObject(fields);
			const detailed = jsonOf(await run(service, { ...form, output: 'detailed' }));
			expect(detailed['knowledge_base']).toStrictEqual(knowledge_base);
		}
	}),
	plugin: eitherWay(async (service, isStreamed) => {
		const form = { prompt: 'Generate an image of a lake', appCode: 'demo-app', isStreamed };
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
		for (const [run, output] of [
			[chat, 'raw'],
			[chat, 'detailed'],
			[agent, 'detailed'],
		] as const)
			expect(jsonOf(await run(service, { ...form, output }))['agent']).toStrictEqual(plugin);
		const plain = { prompt: 'Hi', appCode: 'demo-app', output: 'raw' } as const;
		expect(bodyOf(await chat(service, plain))).not.toHaveProperty('agent');
	}),
	'tool progress': async (service) => {
		const body = { app_code: 'demo-assistant', messages: [user(CALCULATION)] };
		const chunks = await service.chunks<{ extension?: Json }>(body);
		const tool = { arguments: anything(Object) };
		const done = {
			...{ name: 'calculator', ...tool, result: matching(/68/) },
			...{ status: 'success', elapsed: anything(String) },
		};
		expect(chunks.flatMap(({ extension }) => extension ?? [])).toStrictEqual([
			{ type: 'tool_start', data: { tool: 'calculator', ...tool } },
			{ type: 'tool_calls', data: { tool_calls: [done] } },
		]);
		const ran = await assistant(service, { message: CALCULATION, output: 'raw' });
		expect(jsonOf(ran)['events']).toMatchObject([
			{ type: 'tool_start', tool: 'calculator' },
			{ type: 'tool_calls', tool: 'calculator', status: 'success' },
		]);
	},
	'assistant streams by default': async (service) => {
		jsonOf(await assistant(service, { message: 'Hi' }));
		expect(lastBody(service)).toMatchObject({ stream: true });
	},
	'required video fields': steps(
		rejected(/^The .* node has issues:\n- Parameter "Prompt" is/, films({ prompt: '' })),
		rejected(/^The .* node has issues:\n- Parameter "Model" is/, films({ model: '' })),
		rejected(
			/^Task ID is empty/,
			async (target) => await waitForVideo(target, [{ task_id: '' }]),
		),
		answers400(async (service) => await service.createVideo({ ...LAKE, prompt: '' })),
		answers400(async (service) => await service.createVideo({ prompt: 'A lake' })),
		answers400(async (service) => await service.queryTask(undefined)),
	),
	'reference URLs': rejected(
		/^References: entry 1 /,
		...NO_URLS.map((url) => films({ files: [['image', url]] })),
	),
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
			...{ task_id, status: 'completed', model: 'video-m1' },
			video_url: matching(/^http.*\.mp4$/),
			thumbnail_url: matching(/^http/),
			enhanced_prompt: matching(/^A lake/),
		});
	},
	'failed task': async (service) => {
		for (const prompt of ['fail-task', 'moderated-task']) {
			const created = jsonOf(await films({ prompt })(service));
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
	'private application': async (service) => {
		const { url } = service;
		const form = { prompt: 'Hi', appCode: 'private-app' };
		jsonOf(await chat({ url, apiKey: 'creator-key' }, form));
		await status(403, 'chat', [bothChats(form)[0]!])(service);
		const ended = (key: string) => ({ apiKey: `${key}-private-app`, keyIncludesApp: true });
		jsonOf(await chat({ url, ...ended('creator-key') }, { prompt: 'Hi' }));
		// The request names no application: the key may as well have no access to the model.
		await status(403, 'model', [bothChats({})[0]!], ended('demo-key'))(service);
	},
	'error body': async (service) => {
		const { body } = await service.chat({ messages: [user('Hi')], temperature: 2 });
		const type = 'invalid_request_error';
		expect(body).toStrictEqual({ error: { message: anything(String), type } });
		const extra = { options: { extraBody: '{ "temperature": 2 }' } };
		const { error } = await chat(service, { prompt: 'Hi', ...extra });
		expect(error!.description).toMatch(
			/The service said: .*temperature.*Type: invalid_request_error/is,
		);
	},
	moderation: steps(
		status(409, 'chat', [
			...['forbidden-word', 'forbidden-answer'].map((prompt) => bothChats({ prompt })[0]!),
			bothChats({ prompt: 'Tell me the forbidden-knowledge', appCode: 'demo-app' })[0]!,
		]),
		status(409, 'video', [
			films({ prompt: 'forbidden-word' }),
			films({ files: [['image', 'https://example.com/forbidden-word.png']] }),
		]),
	),
};

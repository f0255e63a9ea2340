import {
	agent,
	assistant,
	chat,
	createVideo,
	suggested,
	waitForVideo,
	type ChatForm,
	type Target,
	type VideoForm,
} from './nodeRuns';

/** An example call of the specification, and the nodes that make it. */
export interface ExampleCall {
	readonly name: string;
	readonly path: string;
	/** The bodies of the requests, in their order. */
	readonly bodies: readonly object[];
	/** The message or the whole body of each response; a good reply without one. */
	readonly answers?: readonly object[];
	/** The nodes that make this call, by name. */
	readonly by: Readonly<Record<string, (target: Target) => Promise<unknown>>>;
}

const CHATS = '/v1/chat/completions';
const USER = { role: 'user', content: 'Hello' };
const QUESTION = { role: 'user', content: 'What is the weather in Rome?' };
const IN_JSON = `${QUESTION.content}\n\nAnswer with JSON only, without any text around it.`;
const IMAGE = 'https://example.com/photo.jpg';

/** A tool declaration (spec 2.3). */
const WEATHER = {
	type: 'function',
	function: {
		name: 'get_weather',
		description: 'Tells the weather in a city',
		parameters: {
			type: 'object',
			properties: { city: { type: 'string', description: 'Name of the city' } },
			required: ['city'],
		},
	},
};
/** The assistant message that requests the call (spec 2.3, 2.4). */
const CALLING = {
	role: 'assistant',
	content: null,
	tool_calls: [
		{
			id: 'call_1',
			type: 'function',
			function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
		},
	],
};
/** The result that the client sends back (spec 2.3). */
const RESULT = { role: 'tool', tool_call_id: 'call_1', content: '{"temperature":21}' };

/** What `stream: true` is sent with, so that the last chunk has the usage (spec 2.1). */
const STREAMED = { stream: true, stream_options: { include_usage: true } };
const NOT_STREAMED = { stream: false };

/** A call of a model or an application, made by Chat Completion and by Agent with Tools. */
function chatCall(name: string, form: ChatForm, body: object): ExampleCall {
	const mode = form.isStreamed === true ? STREAMED : NOT_STREAMED;
	return {
		name,
		path: CHATS,
		bodies: [{ ...body, ...mode }],
		by: {
			'Chat Completion': async (target) => await chat(target, form),
			'Agent with Tools': async (target) => await agent(target, form),
		},
	};
}

/** The same call without and with streaming. */
const both = (name: string, form: ChatForm, body: object) => [
	chatCall(name, form, body),
	chatCall(`${name}, streamed`, { ...form, isStreamed: true }, body),
];

/** A chat with one optional field. */
const withField = (name: string, form: ChatForm, fields: object) =>
	chatCall(name, { prompt: 'Hello', ...form }, { messages: [USER], ...fields });

const toolChoices = (['auto', 'none', 'required'] as const).map((choice): ExampleCall => ({
	name: `tool_choice ${choice}`,
	path: CHATS,
	bodies: [{ messages: [QUESTION], tools: [WEATHER], tool_choice: choice, ...NOT_STREAMED }],
	by: {
		'Chat Completion': async (target) =>
			await chat(target, {
				prompt: QUESTION.content,
				options: { tools: JSON.stringify([WEATHER]), toolChoice: choice },
			}),
		'Agent with Tools': async (target) =>
			await agent(target, {
				prompt: QUESTION.content,
				tools: [WEATHER],
				options: { toolChoice: choice },
			}),
	},
}));

const toolRounds: ExampleCall = {
	name: 'function calling, both rounds',
	path: CHATS,
	answers: [CALLING],
	bodies: [
		{ messages: [QUESTION], tools: [WEATHER], ...NOT_STREAMED },
		{ messages: [QUESTION, CALLING, RESULT], tools: [WEATHER], ...NOT_STREAMED },
	],
	by: {
		'Agent with Tools': async (target) =>
			await agent(target, { prompt: QUESTION.content, tools: [WEATHER] }, () => ({
				temperature: 21,
			})),
		'Chat Completion, twice': async (target) => {
			const options = { tools: JSON.stringify([WEATHER]) };
			await chat(target, { prompt: QUESTION.content, options });
			await chat(target, { messages: [QUESTION, CALLING, RESULT], options });
		},
	},
};

function assistantCall(
	name: string,
	form: Parameters<typeof assistant>[1],
	body: object,
): ExampleCall {
	const mode = form.isStreamed === true ? STREAMED : NOT_STREAMED;
	return {
		name: `super assistant: ${name}`,
		path: CHATS,
		bodies: [{ app_code: 'demo-assistant', ...body, ...mode }],
		by: {
			'Super Assistant': async (target) =>
				await assistant(target, { isStreamed: false, ...form }),
		},
	};
}

const TASK = { role: 'user', content: 'Make a video of the sea' };

/** All example calls of the chat interface (spec 2.1 to 2.3, 2.7, 4). */
export const CHAT_CALLS: readonly ExampleCall[] = [
	...both('a chat with the default model', { prompt: 'Hello' }, { messages: [USER] }),
	...both(
		'a chat with a model',
		{ prompt: 'Hello', model: 'chat-m1' },
		{ messages: [USER], model: 'chat-m1' },
	),
	...both(
		'an application',
		{ prompt: 'Hello', appCode: 'demo-app' },
		{ messages: [USER], app_code: 'demo-app' },
	),
	chatCall(
		'an application with another model',
		{ prompt: 'Hello', appCode: 'demo-app', model: 'chat-m2' },
		{ messages: [USER], app_code: 'demo-app', model: 'chat-m2' },
	),
	...both(
		'a workflow',
		{ prompt: 'Hello', appCode: 'demo-workflow' },
		{ messages: [USER], app_code: 'demo-workflow' },
	),
	chatCall(
		'system, user and assistant messages',
		{
			messages: [
				{ role: 'system', content: 'Be brief.' },
				USER,
				{ role: 'assistant', content: 'Hi' },
				USER,
			],
		},
		{
			messages: [
				{ role: 'system', content: 'Be brief.' },
				USER,
				{ role: 'assistant', content: 'Hi' },
				USER,
			],
		},
	),
	chatCall(
		'a system message',
		{ prompt: 'Hello', systemMessage: 'Be brief.' },
		{ messages: [{ role: 'system', content: 'Be brief.' }, USER] },
	),
	chatCall(
		'a text with an image',
		{ prompt: 'What is this?', imageUrls: [IMAGE], appCode: 'demo-app' },
		{
			app_code: 'demo-app',
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'text', text: 'What is this?' },
						{ type: 'image_url', image_url: { url: IMAGE } },
					],
				},
			],
		},
	),
	...both(
		'JSON mode',
		{ prompt: QUESTION.content, isJson: true },
		{ messages: [{ ...QUESTION, content: IN_JSON }], response_format: { type: 'json_object' } },
	),
	withField('temperature', { options: { temperature: 0.3 } }, { temperature: 0.3 }),
	withField('top_p', { options: { topP: 1 } }, { top_p: 1 }),
	withField(
		'penalties',
		{ options: { frequencyPenalty: -2, presencePenalty: 2 } },
		{ frequency_penalty: -2, presence_penalty: 2 },
	),
	withField(
		'four stop words',
		{ options: { stop: ['END', 'STOP', '###', 'User:'] } },
		{ stop: ['END', 'STOP', '###', 'User:'] },
	),
	withField(
		'thinking on',
		{ options: { thinking: 'enabled' } },
		{ thinking: { type: 'enabled' } },
	),
	withField(
		'thinking off',
		{ options: { thinking: 'disabled' } },
		{ thinking: { type: 'disabled' } },
	),
	...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort) =>
		withField(
			`reasoning_effort ${effort}`,
			{ options: { reasoningEffort: suggested(effort) } },
			{ reasoning_effort: effort },
		),
	),
	{
		...chatCall(
			'a stream without usage',
			{ prompt: 'Hello', isStreamed: true, options: { extraBody: { stream_options: null } } },
			{},
		),
		bodies: [{ messages: [USER], stream: true }],
	},
	chatCall(
		'an image without a text',
		{ prompt: '', imageUrls: [IMAGE], appCode: 'demo-app' },
		{
			app_code: 'demo-app',
			messages: [
				{ role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE } }] },
			],
		},
	),
	...toolChoices,
	toolRounds,
	assistantCall('a new session', { message: TASK.content }, { messages: [TASK] }),
	assistantCall(
		'a session that exists',
		{ message: TASK.content, sessionId: 'session-1' },
		{ messages: [TASK], session_id: 'session-1' },
	),
	assistantCall(
		'streamed, in a session',
		{ message: TASK.content, sessionId: 'session-1', isStreamed: true },
		{ messages: [TASK], session_id: 'session-1' },
	),
	assistantCall(
		'every optional field that it does not forbid',
		{
			message: TASK.content,
			options: {
				temperature: 0.3,
				topP: 1,
				frequencyPenalty: 1,
				presencePenalty: 1,
				stop: ['END'],
				thinking: 'enabled',
				reasoningEffort: suggested('low'),
			},
		},
		{
			messages: [TASK],
			temperature: 0.3,
			top_p: 1,
			frequency_penalty: 1,
			presence_penalty: 1,
			stop: ['END'],
			thinking: { type: 'enabled' },
			reasoning_effort: 'low',
		},
	),
	assistantCall(
		'with an image',
		{ message: TASK.content, imageUrls: [IMAGE] },
		{
			messages: [
				{
					role: 'user',
					content: [
						{ type: 'text', text: TASK.content },
						{ type: 'image_url', image_url: { url: IMAGE } },
					],
				},
			],
		},
	),
];

const PROMPT = 'A lighthouse at dawn';
const image = (index: number) => `https://example.com/${index}.png`;
const VIDEO = 'https://example.com/clip.mp4';
const AUDIO = 'https://example.com/voice.mp3';
const images = (count: number) => Array.from({ length: count }, (_, index) => image(index + 1));
const imageFiles = (count: number) => images(count).map((url) => ['image', url] as const);

function videoCall(
	name: string,
	model: string,
	form: Omit<VideoForm, 'model' | 'prompt'>,
	body: object,
): ExampleCall {
	return {
		name: `${model}: ${name}`,
		path: '/v1/videos/generations',
		bodies: [{ model, prompt: PROMPT, ...body }],
		answers: [{ task_id: 'task-1', status: 'queued', model, created_at: null }],
		by: {
			'Create Video': async (target) =>
				await createVideo(target, { model, prompt: PROMPT, ...form }),
		},
	};
}

interface ModelCalls {
	/** Fields of the request at the defaults of the model. */
	readonly defaults: object;
	/** Every other setting, with its field in the request. */
	readonly other: readonly (readonly [
		parameter: string,
		field: string,
		value: string | number | boolean,
	])[];
	/** Maximum number of images by image mode. */
	readonly imageModes: Readonly<Record<string, number>>;
}

const BASE = { aspect_ratio: '16:9', watermark: false };
const RATIOS = ['1:1', '9:16'].map((value) => ['aspectRatio', 'aspect_ratio', value] as const);
const seconds = (...values: readonly number[]) =>
	values.map((value) => ['duration', 'duration', value] as const);
const sizes = (...values: readonly string[]) =>
	values.map((value) => ['size', 'size', value] as const);
const WATERMARK = ['watermark', 'watermark', true] as const;
const SILENT = ['generateAudio', 'generate_audio', false] as const;

/** The settings of each model (spec 2.8, 2.11), written from the specification. */
const MODELS: Readonly<Record<string, ModelCalls>> = {
	'video-m1': {
		defaults: { ...BASE, duration: 5, size: '720P', generate_audio: true },
		other: [...RATIOS, ...seconds(4, 8, 10, 15), ...sizes('480P', '1080P'), SILENT, WATERMARK],
		imageModes: { reference: 9, first_last_frame: 2 },
	},
	'video-m2': {
		defaults: { ...BASE, duration: 5, size: '720P', generate_audio: true },
		other: [...RATIOS, ...seconds(4, 8, 10, 15), ...sizes('480P'), SILENT, WATERMARK],
		imageModes: { reference: 9, first_last_frame: 2 },
	},
	'video-m3': {
		defaults: { ...BASE, duration: 5, size: '720P' },
		other: [...RATIOS, ...seconds(10), ...sizes('1080P'), WATERMARK],
		imageModes: { first_last_frame: 2 },
	},
	'video-m4': {
		defaults: { ...BASE, duration: 5 },
		other: [...RATIOS, ...seconds(10), WATERMARK],
		imageModes: { first_last_frame: 1 },
	},
	'video-m5': {
		defaults: { ...BASE, duration: 5, mode: 'std', generate_audio: true },
		other: [
			...RATIOS,
			['aspectRatio', 'aspect_ratio', '4:3'],
			['aspectRatio', 'aspect_ratio', '3:4'],
			...seconds(3, 8, 10, 15),
			['qualityMode', 'mode', 'pro'],
			SILENT,
			WATERMARK,
		],
		imageModes: { reference: 7, first_last_frame: 2 },
	},
	'video-m6': {
		// The size says the quality; `mode` would say it again.
		defaults: { ...BASE, duration: 5, size: '720p' },
		other: [...RATIOS, ...seconds(10), WATERMARK],
		imageModes: { first_last_frame: 2 },
	},
	'video-m7': {
		defaults: { ...BASE, duration: 8 },
		other: [...RATIOS, ...seconds(4, 12), WATERMARK],
		imageModes: { reference: 5 },
	},
	'video-m8': {
		defaults: { ...BASE, duration: 8 },
		other: [...RATIOS, WATERMARK],
		imageModes: { reference: 3 },
	},
};

/** All example calls of the video interface (spec 2.8, 2.10, 2.11). */
export const VIDEO_CALLS: readonly ExampleCall[] = [
	...Object.entries(MODELS).flatMap(([code, { defaults, other, imageModes }]) => [
		videoCall('text to video', code, {}, defaults),
		...other.map(([parameter, field, value]) =>
			videoCall(
				`${field} ${String(value)}`,
				code,
				{ fields: { [parameter]: value } },
				{ ...defaults, [field]: value },
			),
		),
		...Object.entries(imageModes).flatMap(([mode, max]) =>
			[...new Set([1, max])].map((count) =>
				videoCall(
					`image to video, ${mode}, ${count} of ${max}`,
					code,
					{ files: imageFiles(count), fields: { imageMode: mode } },
					{ ...defaults, images: images(count), image_mode: mode },
				),
			),
		),
	]),
	...['video-m1', 'video-m2'].flatMap((code) => [
		videoCall(
			'image, video and audio',
			code,
			{
				files: [
					['image', image(1)],
					['video', VIDEO],
					['audio', AUDIO],
				],
				fields: { imageMode: 'reference' },
			},
			{
				...MODELS[code]!.defaults,
				images: images(1),
				videos: [VIDEO],
				audios: [AUDIO],
				image_mode: 'reference',
			},
		),
		videoCall(
			'video continuation',
			code,
			{ files: [['video', VIDEO]] },
			{ ...MODELS[code]!.defaults, videos: [VIDEO] },
		),
	]),
	videoCall(
		'video editing',
		'video-m5',
		{ files: [['video', VIDEO]] },
		{
			...BASE,
			mode: 'std',
			videos: [VIDEO],
		},
	),
	videoCall(
		'size and mode that mean the same',
		'video-m6',
		{ fields: { size: '1080p', qualityMode: 'pro' } },
		{ ...BASE, duration: 5, size: '1080p' },
	),
	{
		name: 'the status of a task',
		path: '/v1/videos/tasks',
		bodies: [{ task_id: 'task-1' }],
		answers: [{ task_id: 'task-1', status: 'completed', model: 'video-m1', video_url: VIDEO }],
		by: {
			'Wait for Video': async (target) => await waitForVideo(target, [{ task_id: 'task-1' }]),
		},
	},
];

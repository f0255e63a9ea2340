import type { IDataObject } from 'n8n-workflow';

import { SPEC_VIDEO_MODELS, type SpecVideoModel } from '../support/specVideoModels';
import {
	agent,
	assistant,
	byId,
	chat,
	createVideo,
	waitForVideo,
	WEATHER,
	type AssistantForm,
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
const say = (content: unknown, role = 'user') => ({ role, content });
const [HELLO, QUESTION] = [say('Hello'), say('What is the weather in Rome?')];
const IN_JSON = `${String(QUESTION.content)}\n\nAnswer with JSON only, without any text around it.`;
const IMAGE = 'https://example.com/photo.jpg';
const PICTURE = { type: 'image_url', image_url: { url: IMAGE } };
const TALK = [say('Be brief.', 'system'), HELLO, say('Hi', 'assistant'), HELLO];
const STOP = ['END', 'STOP', '###', 'User:'];

/** The assistant message that requests the call (spec 2.3, 2.4). */
const CALLING = {
	...say(null, 'assistant'),
	tool_calls: [
		{
			id: 'call_1',
			type: 'function',
			function: { name: 'get_weather', arguments: '{"city":"Rome"}' },
		},
	],
};
/** The result that the client sends back (spec 2.3). */
const RESULT = { ...say('{"temperature":21}', 'tool'), tool_call_id: 'call_1' };

/** With `stream: true` the usage is asked for, which the last chunk has then (spec 2.1). */
const modeOf = (isStreamed = false) =>
	isStreamed ? { stream: true, stream_options: { include_usage: true } } : { stream: false };

/** A call of a model or an application, made by Chat Completion and by Agent with Tools. */
const chatCall = (name: string, entered: ChatForm, fields: object): ExampleCall => {
	const form = { prompt: 'Hello', ...entered };
	return {
		name,
		path: CHATS,
		bodies: [{ messages: [HELLO], ...modeOf(form.isStreamed), ...fields }],
		by: {
			'Chat Completion': async (target) => await chat(target, form),
			'Agent with Tools': async (target) => await agent(target, form),
		},
	};
};

const assistantCall = (name: string, form: Partial<AssistantForm>, fields: object): ExampleCall => {
	const message = 'Make a video of the sea';
	const mode = modeOf(form.isStreamed);
	return {
		name: `super assistant: ${name}`,
		path: CHATS,
		bodies: [{ app_code: 'demo-assistant', messages: [say(message)], ...mode, ...fields }],
		by: {
			'Super Assistant': async (target) =>
				await assistant(target, { message, isStreamed: false, ...form }),
		},
	};
};

const DECLARED = { tools: JSON.stringify([WEATHER]) };
const withTools = { messages: [QUESTION], tools: [WEATHER], stream: false };
const asking = String(QUESTION.content);

/** All example calls of the chat interface (spec 2.1 to 2.3, 2.7, 4). */
export const CHAT_CALLS: readonly ExampleCall[] = [
	chatCall('a chat with the default model', {}, {}),
	chatCall('a chat with the default model, streamed', { isStreamed: true }, {}),
	chatCall('a chat with a model', { model: 'chat-m1' }, { model: 'chat-m1' }),
	chatCall('an application', { appCode: 'demo-app' }, { app_code: 'demo-app' }),
	chatCall(
		'an application with another model',
		{ appCode: 'demo-app', model: 'chat-m2' },
		{ app_code: 'demo-app', model: 'chat-m2' },
	),
	chatCall('a workflow', { appCode: 'demo-workflow' }, { app_code: 'demo-workflow' }),
	chatCall('system, user and assistant messages', { messages: TALK }, { messages: TALK }),
	chatCall('a system message', { systemMessage: 'Be brief.' }, { messages: TALK.slice(0, 2) }),
	chatCall(
		'a text with an image',
		{ prompt: 'What is this?', imageUrls: [IMAGE], appCode: 'demo-app' },
		{
			app_code: 'demo-app',
			messages: [say([{ type: 'text', text: 'What is this?' }, PICTURE])],
		},
	),
	chatCall(
		'an image without a text',
		{ prompt: '', imageUrls: [IMAGE], appCode: 'demo-app' },
		{ app_code: 'demo-app', messages: [say([PICTURE])] },
	),
	...[false, true].map((isStreamed) =>
		chatCall(
			`JSON mode${isStreamed ? ', streamed' : ''}`,
			{ prompt: asking, isJson: true, isStreamed },
			{ messages: [say(IN_JSON)], response_format: { type: 'json_object' } },
		),
	),
	chatCall('temperature', { options: { temperature: 0.3 } }, { temperature: 0.3 }),
	chatCall('top_p', { options: { topP: 1 } }, { top_p: 1 }),
	chatCall(
		'penalties',
		{ options: { frequencyPenalty: -2, presencePenalty: 2 } },
		{ frequency_penalty: -2, presence_penalty: 2 },
	),
	chatCall('four stop words', { options: { stop: STOP } }, { stop: STOP }),
	...['on', 'off'].map((state) => {
		const type = state === 'on' ? 'enabled' : 'disabled';
		return chatCall(
			`thinking ${state}`,
			{ options: { thinking: type } },
			{ thinking: { type } },
		);
	}),
	// One of the list, and one that is typed.
	...['none', 'max'].map((effort) =>
		chatCall(
			`reasoning_effort ${effort}`,
			{ options: { reasoningEffort: byId(effort) } },
			{ reasoning_effort: effort },
		),
	),
	{
		...chatCall(
			'a stream without usage',
			{ isStreamed: true, options: { extraBody: { stream_options: null } } },
			{},
		),
		bodies: [{ messages: [HELLO], stream: true }],
	},
	...['auto', 'none', 'required'].map((toolChoice): ExampleCall => ({
		name: `tool_choice ${toolChoice}`,
		path: CHATS,
		bodies: [{ ...withTools, tool_choice: toolChoice }],
		by: {
			'Chat Completion': async (target) =>
				await chat(target, { prompt: asking, options: { ...DECLARED, toolChoice } }),
			'Agent with Tools': async (target) =>
				await agent(target, { prompt: asking, tools: [WEATHER], options: { toolChoice } }),
		},
	})),
	{
		name: 'function calling, both rounds',
		path: CHATS,
		answers: [CALLING],
		bodies: [withTools, { ...withTools, messages: [QUESTION, CALLING, RESULT] }],
		by: {
			'Agent with Tools': async (target) =>
				await agent(target, { prompt: asking, tools: [WEATHER] }, () => ({
					temperature: 21,
				})),
			'Chat Completion, twice': async (target) => {
				await chat(target, { prompt: asking, options: DECLARED });
				const messages = [QUESTION, CALLING, RESULT];
				await chat(target, { messages, options: DECLARED });
			},
		},
	},
	assistantCall('a new session', {}, {}),
	assistantCall('a session that exists', { sessionId: 's-1' }, { session_id: 's-1' }),
	assistantCall(
		'streamed, in a session',
		{ sessionId: 's-1', isStreamed: true },
		{ session_id: 's-1' },
	),
	assistantCall(
		'every optional field that it does not forbid',
		{
			options: {
				temperature: 0.3,
				topP: 1,
				frequencyPenalty: 1,
				presencePenalty: 1,
				stop: ['END'],
				thinking: 'enabled',
				reasoningEffort: byId('low'),
			},
		},
		{
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
		{ imageUrls: [IMAGE] },
		{ messages: [say([{ type: 'text', text: 'Make a video of the sea' }, PICTURE])] },
	),
];

const PROMPT = 'A lighthouse at dawn';
const image = (index: number) => `https://example.com/${index}.png`;
const VIDEO = 'https://example.com/clip.mp4';
const AUDIO = 'https://example.com/voice.mp3';

const videoCall = (
	name: string,
	model: string,
	form: Omit<VideoForm, 'model' | 'prompt'>,
	body: object,
): ExampleCall => ({
	name: `${model}: ${name}`,
	path: '/v1/videos/generations',
	bodies: [{ model, prompt: PROMPT, ...body }],
	answers: [{ task_id: 'task-1', status: 'queued', model, created_at: null }],
	by: {
		'Create Video': async (target) =>
			await createVideo(target, { model, prompt: PROMPT, ...form }),
	},
});

/** The parameters of the form by their fields in the request. */
const PARAMETERS = {
	aspect_ratio: 'aspectRatio',
	duration: 'duration',
	size: 'size',
	mode: 'qualityMode',
	generate_audio: 'generateAudio',
	watermark: 'watermark',
} as const;

/** The fields of a request at the defaults of the model, and with another value in each (spec 2.8, 2.11). */
function fieldsOf({ modes, ...model }: SpecVideoModel, isDefault: boolean) {
	const other = (values: readonly unknown[], usual: unknown) =>
		isDefault ? usual : (values.findLast((value) => value !== usual) ?? usual);
	// The size says the quality; a mode would say it again.
	const [hasSize, names] = [model.sizes.length > 0, Object.keys(modes)];
	return {
		aspect_ratio: other(model.ratios, model.ratios[0]),
		duration: other(model.durations, model.defaultDuration),
		...(hasSize && { size: other(model.sizes, model.defaultSize) }),
		...(!hasSize && names.length > 0 && { mode: other(names, names[0]) }),
		...(model.generatesAudio && { generate_audio: isDefault }),
		watermark: !isDefault,
	};
}

function callsOf(model: SpecVideoModel): ExampleCall[] {
	const { code } = model;
	const [usual, others] = [fieldsOf(model, true), fieldsOf(model, false)];
	const entered = Object.entries(others).map(([field, value]) => [
		PARAMETERS[field as keyof typeof PARAMETERS],
		value,
	]);
	return [
		videoCall('text to video', code, {}, usual),
		videoCall(
			'other values',
			code,
			{ fields: Object.fromEntries(entered) as IDataObject },
			others,
		),
		...Object.entries(model.images).map(([mode, max]) => {
			const images = Array.from({ length: max }, (_, index) => image(index + 1));
			return videoCall(
				`image to video, ${mode}, ${max} of ${max}`,
				code,
				{ files: images.map((url) => ['image', url]), fields: { imageMode: mode } },
				{ ...usual, images, image_mode: mode },
			);
		}),
		...(model.audios > 0
			? [
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
							...usual,
							...{ images: [image(1)], videos: [VIDEO], audios: [AUDIO] },
							image_mode: 'reference',
						},
					),
				]
			: []),
	];
}

const ONE_VIDEO = { files: [['video', VIDEO]] } as const;

/** All example calls of the video interface (spec 2.8, 2.10, 2.11). */
export const VIDEO_CALLS: readonly ExampleCall[] = [
	...SPEC_VIDEO_MODELS.flatMap(callsOf),
	videoCall('video continuation', 'video-m1', ONE_VIDEO, {
		...fieldsOf(SPEC_VIDEO_MODELS[0]!, true),
		videos: [VIDEO],
	}),
	videoCall('video editing', 'video-m5', ONE_VIDEO, {
		...{ aspect_ratio: '16:9', watermark: false },
		mode: 'std',
		videos: [VIDEO],
	}),
	videoCall(
		'size and mode that mean the same',
		'video-m6',
		{ fields: { size: '1080p', qualityMode: 'pro' } },
		{ aspect_ratio: '16:9', watermark: false, duration: 5, size: '1080p' },
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

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunResult,
} from '../support/engine';

interface AnyChatForm {
	readonly imageUrls?: readonly string[];
	readonly isStreamed?: boolean;
	/** The body of the service, and what a visitor of a chat must not read: sessions, executed tools, retrieval. */
	readonly output?: 'raw' | 'detailed';
	/** Entries of the Options collection, by parameter name. */
	readonly options?: IDataObject;
}

/** A chat call in the words of the specification, as a person enters it into a form. */
export interface ChatForm extends AnyChatForm {
	readonly prompt?: string;
	readonly systemMessage?: string;
	/** In place of the prompt: messages in the format of the API. */
	readonly messages?: readonly object[];
	readonly appCode?: string;
	readonly model?: string;
	/** Whether the reply is JSON (`response_format`). */
	readonly isJson?: boolean;
	/** Declarations in the format of the API; for Agent with Tools. */
	readonly tools?: readonly object[];
}

/** A call of Super Assistant, which is streamed by default. */
export interface AssistantForm extends AnyChatForm {
	readonly message: string;
	readonly appCode?: string;
	readonly sessionId?: string;
}

/** A video, as a person enters it into the form. */
export interface VideoForm {
	readonly model: string;
	readonly prompt: string;
	/** References in their order. */
	readonly files?: readonly (readonly [kind: 'image' | 'video' | 'audio', url: string])[];
	/** Other fields, by parameter name. */
	readonly fields?: IDataObject;
}

/** The service that nodes call. */
export interface Target {
	readonly url: string;
	readonly apiKey?: string;
	readonly keyIncludesApp?: boolean;
}

/** The result of a node, with its own output items. */
export interface Ran extends RunResult {
	readonly items: readonly INodeExecutionData[];
}

/** The tool of the examples (spec 2.3). */
export const WEATHER = {
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

/** A value of a field with suggestions, such as Reasoning Effort. */
export const byId = (value: string) => ({ __rl: true, mode: 'id', value });

const imagesOf = ({ imageUrls = [] }: AnyChatForm) =>
	imageUrls.length > 0 && { images: { image: imageUrls.map((url) => ({ url })) } };

function chatParameters(form: ChatForm): IDataObject {
	const { prompt = '', systemMessage, messages, appCode, model, tools } = form;
	return {
		...(messages === undefined
			? { prompt }
			: { input: 'json', messagesJson: JSON.stringify(messages) }),
		...(systemMessage !== undefined && { systemMessage }),
		...imagesOf(form),
		...(appCode !== undefined && { answeredBy: 'app', appCode }),
		...(model !== undefined && { model: byId(model) }),
		...(tools !== undefined && {
			...{ toolSource: 'json', toolsJson: JSON.stringify(tools) },
			outputMode: 'single',
		}),
		streaming: form.isStreamed === true ? 'auto' : 'off',
		output: form.output ?? 'simple',
		...(form.isJson === true && { responseFormat: 'json' }),
		options: form.options ?? {},
	};
}

const environment = ({ url, apiKey = 'demo-key', keyIncludesApp = false }: Target) => ({
	credential: { baseUrl: url, apiKey, keyIncludesApp },
});

async function single(
	name: string,
	target: Target,
	parameters: IDataObject,
	more: { items?: readonly IDataObject[] } = {},
): Promise<Ran> {
	const result = await runNode(name, { ...environment(target), ...more, parameters });
	return { ...result, items: result.outputs.flat() };
}

/** Runs Chat Completion. */
export const chat = async (target: Target, form: ChatForm) =>
	await single('chatCompletion', target, chatParameters(form));

/**
 * Runs Agent with Tools, with one branch for all its tools.
 *
 * @param work The result of a tool for its arguments.
 */
export async function agent(
	target: Target,
	form: ChatForm,
	work: (input: INodeExecutionData) => IDataObject = () => ({}),
): Promise<Ran> {
	const nodes = [
		stubNode('Start', (items) => items),
		packageNode('Agent', 'functionCallingAgent', { parameters: chatParameters(form) }),
		stubNode('Tool', (items) => items.map((item) => ({ json: work(item), pairedItem: 0 }))),
	];
	const branch = { Agent: [[], [], ['Tool']], Tool: [['Agent']] };
	const wires = { Start: [['Agent']], ...(form.tools !== undefined && branch) };
	const result = await runWorkflow(nodes, wires, 'Start', environment(target));
	return { ...result, items: allItems(result, 'Agent').slice(0, 2).flat() };
}

/** Runs Super Assistant. */
export async function assistant(target: Target, form: AssistantForm): Promise<Ran> {
	const { message, appCode = 'demo-assistant', sessionId, isStreamed } = form;
	return await single('superAssistant', target, {
		message,
		appCode,
		...(sessionId === undefined ? { session: 'new' } : { session: 'id', sessionId }),
		...imagesOf(form),
		...(isStreamed !== undefined && { streaming: isStreamed ? 'auto' : 'off' }),
		output: form.output ?? 'simple',
		options: form.options ?? {},
	});
}

/** Runs Create Video. */
export async function createVideo(target: Target, form: VideoForm): Promise<Ran> {
	const { model: code, prompt, files = [], fields = {} } = form;
	const references = { file: files.map(([kind, url]) => ({ kind, url })) };
	return await single('createVideo', target, {
		model: byId(code),
		prompt,
		references,
		...fields,
	});
}

/** Runs Wait for Video for tasks. */
export const waitForVideo = async (target: Target, items: readonly IDataObject[]) =>
	await single('waitForVideo', target, { download: false }, { items });

/** The JSON of the only output item. */
export function jsonOf({ items, error }: Pick<Ran, 'items' | 'error'>): IDataObject {
	expect(error?.message).toBeUndefined();
	expect(items).toHaveLength(1);
	return items[0]!.json;
}

// Matchers of Jest without the type any.
export const anything = (type: unknown) => expect.any(type) as unknown;
export const matching = (pattern: RegExp) => expect.stringMatching(pattern) as unknown;

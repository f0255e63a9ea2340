import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunResult,
} from '../support/engine';

/** A chat call in the words of the specification, as a person enters it into a form. */
export interface ChatForm {
	readonly prompt?: string;
	readonly systemMessage?: string;
	/** In place of the prompt: messages in the format of the API. */
	readonly messages?: readonly object[];
	readonly imageUrls?: readonly string[];
	readonly appCode?: string;
	readonly model?: string;
	readonly isStreamed?: boolean;
	/** Whether the reply is JSON (`response_format`). */
	readonly isJson?: boolean;
	/** Entries of the Options collection, by parameter name. */
	readonly options?: IDataObject;
	/** Declarations in the format of the API; for Agent with Tools. */
	readonly tools?: readonly object[];
	/** Whether the output is the body of the service. */
	readonly isRaw?: boolean;
	readonly isDetailed?: boolean;
}

/** A call of Super Assistant. */
export interface AssistantForm {
	readonly message: string;
	readonly appCode?: string;
	readonly sessionId?: string;
	readonly imageUrls?: readonly string[];
	/** The default of the form if undefined. */
	readonly isStreamed?: boolean;
	readonly isRaw?: boolean;
	readonly isDetailed?: boolean;
	readonly options?: IDataObject;
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

const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const listOf = (urls: readonly string[]) => ({ image: urls.map((url) => ({ url })) });

interface OutputForm {
	readonly isRaw?: boolean;
	readonly isDetailed?: boolean;
}

const outputOf = ({ isRaw = false, isDetailed = false }: OutputForm) => {
	const shown = isDetailed ? 'detailed' : 'simple';
	return { output: isRaw ? 'raw' : shown };
};

function chatParameters(form: ChatForm): IDataObject {
	const { prompt, systemMessage, messages, imageUrls = [], appCode, model } = form;
	const { isStreamed = false, isJson = false, options = {}, tools } = form;
	return {
		...(messages === undefined
			? { prompt: prompt ?? '' }
			: { input: 'json', messagesJson: JSON.stringify(messages) }),
		...(systemMessage === undefined ? {} : { systemMessage }),
		...(imageUrls.length === 0 ? {} : { images: listOf(imageUrls) }),
		...(appCode === undefined ? {} : { answeredBy: 'app', appCode }),
		...(model === undefined ? {} : { model: byId(model) }),
		...(tools === undefined
			? {}
			: { toolSource: 'json', toolsJson: JSON.stringify(tools), outputMode: 'single' }),
		streaming: isStreamed ? 'auto' : 'off',
		...outputOf(form),
		...(isJson ? { responseFormat: 'json' } : {}),
		options,
	};
}

/** Values of a field with suggestions, such as Reasoning Effort. */
export const suggested = byId;

const environment = ({ url, apiKey = 'demo-key', keyIncludesApp = false }: Target) => ({
	credential: { baseUrl: url, apiKey, keyIncludesApp },
});

async function single(
	name: string,
	target: Target,
	parameters: IDataObject,
	items?: readonly IDataObject[],
): Promise<Ran> {
	const given = items === undefined ? {} : { items };
	const result = await runNode(name, { ...environment(target), ...given, parameters });
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
	const wires = { Start: [['Agent']], ...(form.tools === undefined ? {} : branch) };
	const result = await runWorkflow(nodes, wires, 'Start', environment(target));
	const [answered = [], stopped = []] = allItems(result, 'Agent');
	return { ...result, items: [...answered, ...stopped] };
}

/** Runs a chain with Agent Video Chat Model, which asks "Hi". */
export async function model(target: Target, { isStreamed = false, ...form }: ChatForm) {
	const { prompt: _prompt, streaming: _streaming, ...parameters } = chatParameters(form);
	const nodes = [
		packageNode('Model', 'agentVideoChatModel', { parameters }),
		modelCallerNode('Chain', { stream: isStreamed }),
	];
	const result = await runWorkflow(nodes, {}, 'Chain', {
		...environment(target),
		model: { name: 'Model', of: 'Chain' },
	});
	return { ...result, items: result.outputs.flat() };
}

/** Runs Super Assistant. */
export async function assistant(target: Target, form: AssistantForm): Promise<Ran> {
	const { message, appCode = 'demo-assistant', sessionId, imageUrls = [] } = form;
	return await single('superAssistant', target, {
		message,
		appCode,
		...(sessionId === undefined ? { session: 'new' } : { session: 'id', sessionId }),
		...(imageUrls.length === 0 ? {} : { images: listOf(imageUrls) }),
		...(form.isStreamed === undefined ? {} : { streaming: form.isStreamed ? 'auto' : 'off' }),
		...outputOf(form),
		options: form.options ?? {},
	});
}

/** Runs Create Video. */
export async function createVideo(target: Target, form: VideoForm): Promise<Ran> {
	const { model: code, prompt, files = [], fields = {} } = form;
	return await single('createVideo', target, {
		model: byId(code),
		prompt,
		references: { file: files.map(([kind, url]) => ({ kind, url })) },
		...fields,
	});
}

/** Runs Wait for Video for tasks. */
export const waitForVideo = async (target: Target, tasks: readonly IDataObject[]) =>
	await single('waitForVideo', target, { download: false }, tasks);

/** Name of the field with the text of a reply, in simplified output. */
export const TEXT = 'output';

/** The option that adds what a visitor of a chat must not read: sessions, executed tools, retrieval. */
export const DETAILS = { isDetailed: true };

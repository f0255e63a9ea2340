import type {
	EngineResponse,
	GenericValue,
	IBinaryData,
	IBinaryKeyData,
	IDataObject,
	INodeExecutionData,
} from 'n8n-workflow';

import { applyResult } from '../client/chat/conversation';
import { ENVELOPE, envelopeOf, type Envelope } from './matching';
import { slotOf, type AgentState, type OpenCall } from './state';

/** Fields of n8n's and other errors that are for developers. */
const DEBUG_FIELDS = ['stack', 'errorDetails', 'n8nDetails'];
/** Limits of an error text for the model. */
const MAX_SENTENCES = 2;
const MAX_ERROR_CHARACTERS = 400;
/** How much of an error text is read: a stack trace or a path in front of a sentence is far shorter. */
const MAX_READ_CHARACTERS = 4_000;
/** A stack trace at the end of an error text. */
const STACK = /\n[^\S\n]*at [^]*/;
/** A word that has a path on the server: in a folder that servers have, or of a package. Paths of a URL stay. */
const SERVER_PATH =
	/file:\/\/\S+|(?<![\w:/.])(?:[A-Za-z]:\\|\/(?:home|root|usr|var|tmp|opt|etc|mnt|srv|Users)\/|\/\S*\/(?:node_modules|\.n8n)\/)[^\s'"`),]*/g;

/** Applies the items that came back for a call as its result (spec 2.3): one item as an object, several as a list. */
export function applyItems(
	state: AgentState,
	{ envelope }: OpenCall,
	items: readonly INodeExecutionData[],
	nowMs: number,
): void {
	const slot = slotOf(state, envelope);
	const values = items.map((item) => toValue(item, slot.files));
	const outcome = {
		result: JSON.stringify(values.length === 1 ? values[0] : values),
		failed: values.some((value) => isError(value['error'])),
	};
	slot.conversation = applyResult(slot.conversation!, envelope.id, outcome, nowMs);
	state.open = state.open.filter((open) => open.envelope !== envelope);
}

/** Applies the results of connected tool nodes. When n8n retries the node it sends the same results again: no effect. */
export function applyToolResponses(
	state: AgentState,
	response: EngineResponse,
	nowMs: number,
): void {
	for (const { action, data } of response.actionResponses) {
		const call = state.open.find(({ envelope }) => action.id === actionId(envelope));
		if (call === undefined) continue;
		const items = data.data?.['ai_tool']?.[0] ?? [];
		const failure = data.error === undefined ? [] : [{ json: { error: data.error.message } }];
		applyItems(state, call, items.length > 0 ? items : failure, nowMs);
	}
}

/** ID of a call among the actions of an engine request. */
export function actionId({ conversation, id }: Envelope): string {
	return `${conversation}:${id}`;
}

/** The JSON of an item for the model, with a list of its files, which come out with the conversation's outcome. */
function toValue(item: INodeExecutionData, files: IBinaryKeyData): IDataObject {
	const { error, stack } = item.json;
	const isFailure = isError(error) || (typeof stack === 'string' && STACK.test(stack));
	const value = withoutKeys(item.json, [
		...(envelopeOf(item) === undefined ? [] : [ENVELOPE]),
		...(isFailure ? DEBUG_FIELDS : []),
	]);
	if (isError(error)) value['error'] = toErrorText(error);
	const kept = Object.entries(item.binary ?? {}).map(([field, file]) => keep(field, file, files));
	return kept.length === 0 ? value : { binary_data: kept, ...value };
}

/** Adds a file to those of the conversation, under its own field if that is free. */
function keep(field: string, file: IBinaryData, files: IBinaryKeyData): IDataObject {
	let free = field;
	for (let number = 2; Object.hasOwn(files, free); number += 1) free = `${field}_${number}`;
	files[free] = file;
	const { fileName, mimeType, fileSize } = file;
	return { field: free, name: fileName, type: mimeType, size: fileSize };
}

/** Whether the field `error` of an item tells of one: some APIs send an empty one, or 0, where there is none. */
function isError(value: unknown): boolean {
	return Boolean(value) && (typeof value !== 'object' || Object.keys(value!).length > 0);
}

/**
 * An error in one or two sentences, without its stack trace and the paths of the server. Of an error without a message,
 * such as a code of the tool, the simple fields are kept: others may have headers with keys.
 */
export function toErrorText(error: GenericValue): IDataObject[string] {
	if (typeof error === 'string') return inSentences(error);
	if (typeof error !== 'object' || error === null) return error;
	const { message, error: inner, description } = error as IDataObject;
	const cause = message ?? inner;
	if (typeof cause === 'object') return toErrorText(cause);
	if (typeof cause !== 'string') {
		const simple = Object.entries(error).filter(([, value]) => typeof value !== 'object');
		return withoutKeys(Object.fromEntries<IDataObject[string]>(simple), DEBUG_FIELDS);
	}
	return inSentences(typeof description === 'string' ? `${cause}\n${description}` : cause);
}

function inSentences(text: string): string {
	const sentences = text
		.slice(0, MAX_READ_CHARACTERS)
		.replace(STACK, '')
		.replace(SERVER_PATH, '(path)')
		.split(/\n|(?<=\w\w[.!?])\s/)
		.map((sentence) => sentence.trim())
		.filter((sentence) => sentence !== '');
	return [...new Set(sentences)].slice(0, MAX_SENTENCES).join(' ').slice(0, MAX_ERROR_CHARACTERS);
}

function withoutKeys(json: IDataObject, keys: readonly string[]): IDataObject {
	return Object.fromEntries(Object.entries(json).filter(([key]) => !keys.includes(key)));
}

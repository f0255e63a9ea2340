import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type INode,
	type JsonObject as N8nJson,
} from 'n8n-workflow';

import { fromSaved, InputError, ServiceError, toSaved, type AdviceCode } from '../../client/errors';
import { imagesAsLinksIn } from '../../client/imagesAsLinks';
import {
	asJson,
	objectOf,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../../client/json';
import { executionOf } from '../engine/context';
import type { Run } from './run';

/** An error as n8n shows it. */
type NodeError = NodeApiError | NodeOperationError;

const isNodeError = (error: unknown): error is NodeError =>
	error instanceof NodeApiError || error instanceof NodeOperationError;

/** Any error as the error that n8n shows: what happened (message), then what to do (description). */
export function toNodeError(run: Run, error: unknown, itemIndex: number | undefined): NodeError {
	if (isNodeError(error)) return error;
	const at = itemIndex === undefined ? {} : { itemIndex };
	const { node } = run;
	const masked = maskError(run, error);
	if (masked instanceof ServiceError) return serviceNodeError(node, masked, at);
	if (error instanceof InputError) {
		const [message, description] = run.withoutSecrets(
			imagesAsLinksIn([error.message, error.hint]),
		);
		const nodeError = new NodeOperationError(node, message, { ...at, description });
		visitorHints.set(nodeError, ASK_OWNER);
		return nodeError;
	}
	return new NodeOperationError(node, error as Error, at);
}

/** An error of the service without secrets, which it may quote; any other one as it is. */
export function maskError<E>({ withoutSecrets }: Run, error: E): E | ServiceError {
	if (!(error instanceof ServiceError)) return error;
	return fromSaved(withoutSecrets(toSaved(error)), { cause: error.cause });
}

const ASK_OWNER = 'Tell the person who set this up';
/** What a visitor can do about an error of a field or of the service: a visitor reads no other one. */
const visitorHints = new WeakMap<Error, string>();
/** What a visitor reads of the others, such as those of an expression or of a connected memory. */
const ANY_ERROR = 'Something went wrong';

/** What happened, for a visitor: without the words of a database, and of errors that are not ours. */
const visitorMessage = (error: NodeError) =>
	visitorHints.has(error) ? error.message.replace(/: The data table [^]*/, '') : ANY_ERROR;

/** The same, and what the visitor can do: the hint, and what the service said, are for the owner. */
export const visitorText = (error: NodeError) =>
	sentences([visitorMessage(error), visitorHints.get(error) ?? ASK_OWNER]);

/** What happened, and the remedy, for who reads the texts of this run. */
export const shownText = ({ reader }: Run, error: NodeError) =>
	reader === 'visitor' ? visitorText(error) : sentences([error.message, error.description]);

/** Makes an error fit for a streaming chat, to which n8n sends the description. The owner finds it among the messages. */
export function forVisitor<E extends NodeError>(error: E): E {
	if (error.description) error.messages.push(error.description);
	return Object.assign(error, { description: visitorText(error) });
}

/**
 * Puts message and description of the error into both: an agent's model is given only the message.
 */
export function inOneLine<E extends NodeError>(error: E): E {
	const line = sentences([error.message, error.description]);
	return Object.assign(error, { message: line, description: line });
}

/** Sentences as one text, in which each ends in one period. */
function sentences(parts: readonly (string | null | undefined)[]): string {
	const said = parts.map((part) => part?.trim() ?? '').filter((part) => part !== '');
	return said.map((part) => (/[.!?]"?$/.test(part) ? part : `${part}.`)).join(' ');
}

/**
 * The error in one line: message, HTTP status, the words of the service and the hint, and the details of an error of the
 * service if asked for. Without a period at its end, as it stands in other texts.
 */
export function errorLine(error: Error, withDetails = false): string {
	const { status } = error instanceof ServiceError ? error.details : {};
	const hint = error instanceof InputError ? error.hint : '';
	const said = isNodeError(error) ? error.description : hint;
	const advice = error instanceof ServiceError ? description(error, withDetails) : said;
	const message = status === undefined ? error.message : `${error.message} (status ${status})`;
	return sentences([message, advice]).replace(/\.$/, '');
}

/** Texts of an error's details: their names in the output, and in the description. */
const TEXTS = [
	['serviceMessage', 'service_message', ''],
	['serviceType', 'service_type', 'Type'],
	['serviceCode', 'service_code', 'Code'],
	['traceId', 'trace_id', 'Trace ID'],
	// Not named `code`: n8n would replace our message with a general one.
	['code', 'transport_code', 'Code'],
] as const;

/** The details of an error for the output: status, the service's own message, IDs, and the partial reply. */
export function errorFacts(error: unknown): IDataObject {
	if (!(error instanceof ServiceError)) return {};

	const { status, partial, outcomeUnknown, subject } = error.details;
	const texts = TEXTS.map(([name, fact]) => [fact, error.details[name]]);
	return withoutUndefined({
		kind: error.kind,
		status,
		...Object.fromEntries(texts.filter(([, text]) => text !== '')),
		partial,
		outcome_unknown: outcomeUnknown === true ? true : undefined,
		...subject,
	});
}

/** The details of an error without what the visitor of a chat must not read: of a partial reply they have the text. */
export function visitorFacts(error: unknown): IDataObject {
	const { partial, session_id, ...facts } = errorFacts(error);
	const { message } = objectOf([objectOf(partial)['choices']].flat()[0]);
	const { content } = objectOf(message);
	if (typeof content !== 'string') return facts;
	return { ...facts, partial: { choices: [{ message: { content } }] } };
}

/** What the service said, then what can be done about an error, and its details. */
function description(error: ServiceError, withDetails = true): string {
	const { serviceMessage = '' } = error.details;
	const { subject = {}, ...details } = withDetails ? error.details : {};
	const texts = TEXTS.map(([name, , label]) => [label, label && details[name]]);
	const labeled = [...Object.entries(subject), ...texts].filter(([, text]) => text);
	const said = serviceMessage && `The service said: "${serviceMessage.trim()}"`;
	const facts = labeled.map(([label, text]) => `${label}: ${text}`);
	const todo = sentencesOf(error);
	// Of failed videos it is a list, which may be long.
	const parts = error.kind === 'failed' ? [...todo, serviceMessage] : [said, ...todo];
	// n8n reads a description as HTML.
	return imagesAsLinksIn(sentences([...parts, ...facts]));
}

function serviceNodeError(
	node: INode,
	error: ServiceError,
	at: { readonly itemIndex?: number },
): NodeApiError {
	const { status } = error.details;
	const nodeError = new NodeApiError(node, errorFacts(error) as N8nJson, {
		...at,
		message: imagesAsLinksIn(error.message),
		description: description(error),
		...(status === undefined ? {} : { httpCode: String(status) }),
	});
	const toTry = error.details.retryable === true ? 'Try again in a minute' : ASK_OWNER;
	const isOfWords = error.advice.some((each) => each.startsWith('rephrase'));
	visitorHints.set(nodeError, isOfWords ? 'Rephrase your message' : toTry);
	nodeError.context['data'] = errorFacts(error);
	return nodeError;
}

/**
 * The JSON of a failed item, in the shape that survives n8n's error output. A visitor gets no details but the video that it is
 * about, as from an item that did not fail: the next node must not take an older one for it.
 */
export function failureJson(
	run: Run,
	error: NodeError,
	cause: unknown,
	hasDetails?: boolean,
): IDataObject {
	const isShown = run.reader === 'visitor';
	// n8n's chat shows the field `message`, or the whole item.
	const failure = isShown
		? { error: visitorMessage(error), message: visitorText(error) }
		: { error: error.message, message: error.description ?? error.message };
	const hasAll = hasDetails ?? !isShown;
	if (isShown && !hasAll) {
		// The execution keeps them.
		run.hint(errorLine(cause as Error, true));
		const { task_id, video_url } = errorFacts(maskError(run, cause));
		const about = withoutUndefined({ task_id, video_url });
		return task_id === undefined ? failure : { ...failure, details: about };
	}
	const details = (hasAll ? errorFacts : visitorFacts)(maskError(run, cause));
	return { ...failure, details: run.isAwaited ? imagesAsLinksIn(details) : details };
}

/**
 * The error that stops the node.
 *
 * @param note Appended to its description.
 * @param item Index of the item whose error it is, if it is that of one.
 */
export function stoppingError(run: Run, error: unknown, note = '', item?: number): NodeError {
	const failure = toNodeError(run, error, item);
	const text = visitorText(failure);
	if (note !== '') failure.description = imagesAsLinksIn(sentences([failure.description, note]));
	const isSent = run.isStreamed && run.context.getMode() !== 'manual';
	// n8n sends the description to a streaming chat, also that of a tool, and the message to the model of a tool, and to the owner.
	if (run.isTool || isSent) inOneLine(failure);
	return isSent ? Object.assign(failure, { description: text }) : failure;
}

/** What a Retry of this execution does; of a sub-workflow the caller shows it, whose own Retry begins another execution. */
export function ofRetry({ context }: Run, sentences: string): string {
	if (!executionOf(context).current.parent) return sentences;
	return `${sentences}. Retry this sub-execution: a Retry of the workflow that calls it pays for all again`;
}

const BASE_URL = 'the Base URL in the Agent Video API credential';
const AGAIN = 'Retry; if it happens again';

/** What a person in n8n can do about a failure of the service. */
const SENTENCES: Readonly<Record<AdviceCode, string>> = {
	checkAddress: `Check ${BASE_URL}`,
	askFirewall:
		'Ask its operator to let requests of n8n pass, or check whether the network of n8n needs a proxy',
	checkAddressOrCode: `Check ${BASE_URL}, and the code of the model or application`,
	checkHostAndPort: 'Check host and port of the Base URL, and that the service is running',
	checkDns: 'Check the Base URL, and that DNS works on the machine that runs n8n',
	checkCertificate:
		'Check the certificate of the host in the Base URL, and that https:// is right',
	checkConnection: `${AGAIN}, check scheme and port of the Base URL, and look for a proxy or firewall in between`,
	useFinalAddress: `Check ${BASE_URL}: enter the final address, often with https:// instead of http://`,
	checkKey:
		'Check the API Key in the Agent Video API credential, and that the Base URL is of the same service',
	useAnotherKey:
		'Use another API key, or ask the operator of the service, or of a firewall in between',
	topUp: 'Top up the account, then retry this execution',
	checkAppCode: 'Check App Code, or the end of the API key if the code is there',
	checkCreditAndModel:
		'Top up the account, or choose another model. If the API key ends with an app code, check that as well',
	checkAccess:
		'Choose another model, or use another API key. If the key ends with an app code, publish that application',
	publishApp: 'Publish the application, or use an API key of its creator',
	correctWhatIsNamed: 'Correct what the message of the service names',
	chooseModel: 'Choose another model',
	rephrasePrompt: 'Rephrase the prompt, or use other reference files',
	rephraseQuestion:
		'Rephrase the question. Words of the answer or of the knowledge base may be the cause as well',
	askForLess: 'Ask for less in one call, or raise Timeout under Options',
	continueSession: 'Request less in one call, or continue in the same session',
	shortenReply:
		'Ask for a shorter reply, or raise the limit: it is that of the service, or one in Extra Body Fields',
	shortenConversation: 'Shorten the conversation',
	askAgain: 'Ask again, or shorten the conversation',
	describeFields: 'Describe the fields more clearly, or set Repair Attempts',
	tryLater: 'Retry in a minute; if it happens again, contact the operator of the service',
	slowDown: 'Wait a minute, or send fewer requests at once',
	raiseTimeout:
		'Retry; if it happens again, check host and port of the Base URL, or raise Timeout under Options where the node has it',
	tasksContinue: 'Nothing more was sent. Tasks that were created continue',
	checkTask:
		'First check whether the service has the task. If it happens again, look for a proxy or firewall in between, or raise Timeout under Options',
	findProxy: `${AGAIN}, look for a proxy or a cache that changes responses, mixes them up or cuts them off`,
};

/** What a person in n8n can do, as a sentence without a period. */
export const adviceOf = (code: AdviceCode) => SENTENCES[code];

/** What can be done about an error, as sentences without periods: codes in words, and the words of the host's own errors. */
export function sentencesOf({ advice }: ServiceError): readonly string[] {
	const isCode = (each: string): each is AdviceCode => Object.hasOwn(SENTENCES, each);
	return advice.map((each) => (isCode(each) ? SENTENCES[each] : each));
}

/** Fields of n8n's and other errors that are for developers. */
export const DEBUG_FIELDS = ['stack', 'errorDetails', 'n8nDetails'];
/** Limits of an error text for the model. */
const MAX_SENTENCES = 2;
const MAX_ERROR_CHARACTERS = 400;
/** How much of an error text is read: a stack trace or a path in front of a sentence is far shorter. */
const MAX_READ_CHARACTERS = 4_000;
/** A stack trace at the end of an error text. */
export const STACK = /\n[^\S\n]*at [^]*/;
/** A word that has a path on the server: in a folder that servers have, or of a package. Paths of a URL stay. */
const SERVER_PATH =
	/file:\/\/\S+|(?<![\w:/.])(?:[A-Za-z]:\\|\/(?:home|root|usr|var|tmp|opt|etc|mnt|srv|Users)\/|\/\S*\/(?:node_modules|\.n8n)\/)[^\s'"`),]*/g;

/**
 * An error in one or two sentences, without its stack trace and the paths of the server. Of an error without a message,
 * such as a code of the tool, the simple fields are kept: others may have headers with keys.
 */
export function toErrorText(error: unknown): JsonValue | undefined {
	if (typeof error === 'string') return inSentences(error);
	if (typeof error !== 'object' || error === null) return error as JsonValue;
	const { message, error: inner, description } = asJson(error);
	const cause = message ?? inner;
	if (typeof cause === 'object') return toErrorText(cause);
	if (typeof cause === 'string')
		return inSentences(typeof description === 'string' ? `${cause}\n${description}` : cause);
	const simple = Object.entries(asJson(error)).filter(([, value]) => typeof value !== 'object');
	return withoutKeys(Object.fromEntries(simple), DEBUG_FIELDS);
}

function inSentences(text: string): string {
	const sentences = text
		.slice(0, MAX_READ_CHARACTERS)
		.replace(STACK, '')
		.replace(SERVER_PATH, '(path)')
		.split(/\n|(?<=\w\w[.!?])\s/)
		.flatMap((sentence) => sentence.trim() || []);
	return [...new Set(sentences)].slice(0, MAX_SENTENCES).join(' ').slice(0, MAX_ERROR_CHARACTERS);
}

/** The fields of an object without some of them. */
export function withoutKeys(json: object, keys: readonly string[]): JsonObject {
	return Object.fromEntries(Object.entries(asJson(json)).filter(([key]) => !keys.includes(key)));
}

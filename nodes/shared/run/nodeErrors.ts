import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type INode,
	type JsonObject,
} from 'n8n-workflow';

import { fromSaved, InputError, ServiceError, toSaved } from '../../client/errors';
import { imagesAsLinksIn } from '../../client/imagesAsLinks';
import { objectOf, withoutUndefined } from '../../client/json';
import { sentencesOf } from './advice';
import type { Run } from './run';

/** An error as n8n shows it. */
type NodeError = NodeApiError | NodeOperationError;

/** Any error as the error that n8n shows: what happened (message), then what to do (description). */
export function toNodeError(run: Run, error: unknown, itemIndex: number | undefined): NodeError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	const at = itemIndex === undefined ? {} : { itemIndex };
	const { node } = run;
	const masked = maskError(run, error);
	if (masked instanceof ServiceError) return serviceNodeError(node, masked, at);
	if (error instanceof InputError) {
		const [message, description] = run.withoutSecrets(
			imagesAsLinksIn([error.message, error.hint]),
		);
		return new NodeOperationError(node, message, { ...at, description });
	}
	return new NodeOperationError(node, error as Error, at);
}

/** An error of the service without secrets, which it may quote; any other one as it is. */
export function maskError<E>({ withoutSecrets }: Run, error: E): E | ServiceError {
	if (!(error instanceof ServiceError)) return error;
	return fromSaved(withoutSecrets(toSaved(error)), { cause: error.cause });
}

const ASK_OWNER = 'Tell the person who set this up';
/** What a visitor can do about an error of the service. */
const visitorHints = new WeakMap<Error, string>();

/** What happened, for a visitor: without the words of a database. */
export const visitorMessage = ({ message }: Error) => message.replace(/: The data table [^]*/, '');

/** The same, and what the visitor can do: the hint, and what the service said, are for the owner. */
export const visitorText = (error: NodeError) =>
	sentences([visitorMessage(error), visitorHints.get(error) ?? ASK_OWNER]);

/** What happened, and the remedy, for who reads the texts of this run. */
export const shownText = ({ reader }: Run, error: NodeError) =>
	reader === 'visitor' ? visitorText(error) : sentences([error.message, error.description]);

/** Makes an error fit for a streaming chat, to which n8n sends the description. The owner finds it among the messages. */
export function forVisitor<E extends NodeError>(error: E, description = visitorText(error)): E {
	if (error.description) error.messages.push(error.description);
	return Object.assign(error, { description });
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
	const advice = error instanceof ServiceError ? description(error, withDetails) : hint;
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
	const nodeError = new NodeApiError(node, errorFacts(error) as JsonObject, {
		...at,
		message: imagesAsLinksIn(error.message),
		description: description(error),
		...(status === undefined ? {} : { httpCode: String(status) }),
	});
	if (status === 409) visitorHints.set(nodeError, 'Rephrase your message');
	else if (error.details.retryable === true) visitorHints.set(nodeError, 'Try again in a minute');
	nodeError.context['data'] = errorFacts(error);
	return nodeError;
}

/** The JSON of a failed item, in the shape that survives n8n's error output. */
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
		return failure;
	}
	const details = (hasAll ? errorFacts : visitorFacts)(maskError(run, cause));
	return { ...failure, details: run.isDrawn ? imagesAsLinksIn(details) : details };
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
	const isSent = run.isStreamed && run.reader === 'visitor';
	// n8n sends the description to a streaming chat, and the message to nobody but the owner, whose panel shows both.
	if (run.isTool || isSent) inOneLine(failure);
	return isSent ? Object.assign(failure, { description: text }) : failure;
}

import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type INode,
	type JsonObject,
} from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';

/** Anything that went wrong, as the error that n8n shows a person: what happened, and what to do. */
export function toNodeError(
	node: INode,
	error: unknown,
	itemIndex: number,
): NodeApiError | NodeOperationError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) return error;
	if (error instanceof ServiceError) return serviceNodeError(node, error, itemIndex);
	if (error instanceof InputError) {
		return new NodeOperationError(node, error.message, {
			itemIndex,
			description: error.hint,
		});
	}
	return new NodeOperationError(node, error as Error, { itemIndex });
}

/**
 * The error with all it says in its message and in its description: an agent and its model are given only the one, a
 * person in a streaming chat only the other.
 */
export function inOneLine<E extends NodeApiError | NodeOperationError>(error: E): E {
	const line = [error.message, error.description].filter(Boolean).join('. ');
	return Object.assign(error, { message: line, description: line });
}

/** What went wrong in a line, with the status that a host answered and what to do. */
export function errorLine(error: Error): string {
	const { status } = error instanceof ServiceError ? error.details : {};
	const hint = error instanceof ServiceError || error instanceof InputError ? error.hint : '';
	const message = status === undefined ? error.message : `${error.message} (status ${status})`;
	return [message, hint].filter((part) => part !== '').join('. ');
}

/** What else is worth keeping of an error: status, the service's own words, ids and text that had arrived. */
export function errorFacts(error: unknown): IDataObject {
	if (!(error instanceof ServiceError)) return {};

	const { status, serviceMessage, serviceType, traceId, code, partial, outcomeUnknown, subject } =
		error.details;
	const facts = {
		kind: error.kind,
		status,
		service_message: serviceMessage,
		service_type: serviceType,
		trace_id: traceId,
		// Not `code`: n8n would put its own general words in place of ours.
		transport_code: code === '' ? undefined : code,
		partial,
		outcome_unknown: outcomeUnknown === true ? true : undefined,
		...subject,
	};
	return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

function serviceNodeError(node: INode, error: ServiceError, itemIndex: number): NodeApiError {
	const { status, serviceMessage, serviceType, traceId, code, subject = {} } = error.details;
	const description = [
		error.hint,
		...Object.entries(subject).map(([name, value]) => `${name}: ${value}`),
		serviceMessage && `The service said: ${serviceMessage}`,
		serviceType && `Type: ${serviceType}`,
		traceId && `Trace ID: ${traceId}`,
		code && `Code: ${code}`,
	];
	const nodeError = new NodeApiError(node, errorFacts(error) as JsonObject, {
		itemIndex,
		message: error.message,
		description: sentences(description),
		...(status === undefined ? {} : { httpCode: String(status) }),
	});
	nodeError.context['data'] = errorFacts(error);
	return nodeError;
}

function sentences(parts: readonly (string | undefined)[]): string {
	return parts
		.filter((part) => part !== undefined && part !== '')
		.map((part) => part!.replace(/\.$/, ''))
		.join('. ');
}

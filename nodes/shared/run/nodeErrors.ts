import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type INode,
	type JsonObject,
} from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';

/** Any error as the error that n8n shows: what happened (message), then what to do (description). */
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
 * Puts message and description of the error into both: an agent's model is given only the message, a user of a streaming
 * chat only the description.
 */
export function inOneLine<E extends NodeApiError | NodeOperationError>(error: E): E {
	const line = [error.message, error.description].filter(Boolean).join('. ');
	return Object.assign(error, { message: line, description: line });
}

/** The error in one line: message, HTTP status and hint. */
export function errorLine(error: Error): string {
	const { status } = error instanceof ServiceError ? error.details : {};
	const hint = error instanceof ServiceError || error instanceof InputError ? error.hint : '';
	const message = status === undefined ? error.message : `${error.message} (status ${status})`;
	return [message, hint].filter((part) => part !== '').join('. ');
}

/** The details of an error for the output: status, the service's own message, IDs, and the partial reply. */
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
		// Not named `code`: n8n would replace our message with a general one.
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

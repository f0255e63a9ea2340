import { InputError } from '../../client/errors';
import { isPrivateUrl } from '../../client/http/publicUrl';
import type { NodeContext } from '../run/nodeContext';

/** How long the service has to fetch a file. */
const EXPIRES_IN = '1h';

/** Names of binary fields as the editor hands them over: separated by commas, or by expression a list. */
export type FieldNames = string | readonly string[];

/** The names one by one. */
export function fieldNames(entered: FieldNames): string[] {
	if (typeof entered !== 'string') return [...entered];
	return entered.split(',').map((name) => name.trim());
}

export interface FileUrlOptions {
	/** Name of the field that asks for the file. */
	readonly field: string;
	/** Whether the service itself is on a private network, and so reaches this n8n there. */
	readonly allowPrivate: boolean;
}

/**
 * A signed address at which the service can fetch a binary file of the item, for one hour.
 *
 * @param property Name of the binary field.
 * @throws NodeOperationError when the item has no such file.
 * @throws InputError when this n8n cannot publish files, or has no address that the service can reach.
 */
export function fileUrl(
	context: NodeContext,
	itemIndex: number,
	property: string,
	{ field, allowPrivate }: FileUrlOptions,
): string {
	const url = signedUrl(context, itemIndex, property, field);
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			field,
			`would be published at ${new URL(url).origin}, which the service cannot reach`,
			'Set N8N_EDITOR_BASE_URL (or WEBHOOK_URL) of this n8n to its public address, or give the file by URL',
		);
	}
	return url;
}

function signedUrl(
	context: NodeContext,
	itemIndex: number,
	property: string,
	field: string,
): string {
	const file = context.helpers.assertBinaryData(itemIndex, property);
	if (file.id === undefined) throw notPublishable(field);
	return context.helpers.createBinarySignedUrl(file, EXPIRES_IN);
}

function notPublishable(field: string): InputError {
	return new InputError(
		field,
		'cannot be published: this n8n keeps binary data in memory',
		'Set N8N_DEFAULT_BINARY_DATA_MODE to filesystem, database or s3, or give the file by URL',
	);
}

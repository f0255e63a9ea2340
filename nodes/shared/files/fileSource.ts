import { createHash } from 'node:crypto';

import type { IBinaryData, IExecuteFunctions } from 'n8n-workflow';

import type { ChatMessage, ContentPart } from '../../client/chat/types';
import { InputError } from '../../client/errors';
import { isPrivateUrl, type PublicUrlOptions } from '../../client/http/publicUrl';
import { oneLine, shown } from '../../client/values';
import { choice, text } from '../form/form';
import type { Run } from '../run/run';

/** A file for the service as the form has it: a URL, or names of binary fields. */
export interface FileEntry {
	readonly kind?: string;
	readonly source?: 'url' | 'binary';
	/** One URL, or a list of URLs from an expression, which can return anything. */
	readonly url?: unknown;
	readonly binaryProperty?: unknown;
}

/** The fields that say where a file for the service comes from: a URL, or binary data of the item. */
export const fileSource = {
	source: choice('Source', {
		choices: [
			['URL', 'url'],
			['Binary Data', 'binary'],
		],
		default: 'url',
	}),
	url: text('URL', {
		placeholder: 'e.g. https://example.com/photo.jpg',
		help: 'Publicly reachable URL. An expression can return a list of URLs.',
		displayOptions: { show: { source: ['url'] } },
	}),
	binaryProperty: text('Input Data Field Name', {
		default: 'data',
		help: 'Name of the binary field, or several names separated by commas. An expression can return a list, for example Object.keys($binary). The service fetches the file through a signed URL of this n8n that expires after one hour.',
		displayOptions: { show: { source: ['binary'] } },
	}),
};

/** Lifetime of a signed URL, in n8n's notation. */
const EXPIRES_IN = '1h';

/**
 * Names of binary fields: comma-separated text, or a list from an expression.
 *
 * @throws InputError for anything else, such as the `null` of an empty cell.
 */
export function fieldNames(entered: unknown, field: string): string[] {
	const names = typeof entered === 'string' ? entered.split(',') : [entered].flat();
	return names.map((name) => {
		if (typeof name === 'string') return name.trim();
		const problem = `has no name of a binary field, but ${oneLine(shown(name))}`;
		const hint = 'Enter the name, or an expression that returns a name or a list of names';
		throw new InputError(field, problem, hint);
	});
}

/**
 * A binary file of the item. n8n's helper also takes a reference to a file from JSON, which somebody else may have sent: it
 * may name a file of another workflow.
 *
 * @param property Name of the binary field.
 * @throws InputError when the item has no such file.
 */
function binaryFile(
	{ mainItems }: Pick<Run, 'mainItems'>,
	itemIndex: number,
	property: string,
	field: string,
): IBinaryData {
	// What n8n calls as a tool in the run of another node has no main input.
	const { binary = {} } = mainItems()[itemIndex] ?? {};
	if (Object.hasOwn(binary, property)) return binary[property]!;
	const problem = `has the name ${oneLine(property)}, but the item has no such binary field`;
	const names = Object.keys(binary).map(oneLine).join(', ');
	throw new InputError(field, problem, `It has ${names === '' ? 'no binary data' : names}`);
}

/**
 * What an entry names: its URLs, or binary files of the item.
 *
 * @param field Name of the entry in errors.
 * @throws InputError as `fieldNames` and `binaryFile`.
 */
export function fileSources(
	run: Pick<Run, 'mainItems'>,
	itemIndex: number,
	{ source = 'url', url, binaryProperty = '' }: FileEntry,
	field: string,
) {
	if (source === 'url') return [url].flat().map((each) => ({ url: shown(each ?? '').trim() }));
	return fieldNames(binaryProperty, field).map((property) => {
		return { property, file: binaryFile(run, itemIndex, property, field) };
	});
}

/**
 * A signed URL from which the service can fetch a binary file of the item for one hour.
 *
 * @throws InputError when n8n has not stored the file, as in memory mode and from a Code node that returns base64, or has no
 *   address that the service can reach.
 */
export function signedFileUrl(
	run: Pick<Run, 'sign'>,
	file: IBinaryData,
	{ field, allowPrivate }: PublicUrlOptions,
): string {
	if (file.id === undefined) {
		throw new InputError(
			field,
			'cannot be published: the item contains the file itself, as n8n has not stored it',
			'Create it with this.helpers.prepareBinaryData if it comes from a Code node. If n8n stores no files at all, set N8N_DEFAULT_BINARY_DATA_MODE to filesystem, database or s3. Or use a URL for the file',
		);
	}
	const url = run.sign(file, EXPIRES_IN);
	if (!allowPrivate && isPrivateUrl(url)) {
		throw new InputError(
			field,
			`would be published at ${new URL(url).origin}, which the service cannot reach`,
			'Set WEBHOOK_URL of this n8n, and of its workers, to its public address, or use a URL for the file',
		);
	}
	return url;
}

/** A run that notes by its URL which file it has signed. */
export function notingSigned(run: Run) {
	const signed: Record<string, string> = {};
	const sign: Run['sign'] = (file, expiresIn) => {
		const url = run.sign(file, expiresIn);
		signed[url] = file.id!;
		return url;
	};
	return { ...run, sign, signed };
}

/**
 * Messages whose URLs of files are signed again: a conversation may be older than they last.
 *
 * @param signed What was noted as they were signed. The file of any other URL may be chosen by somebody else.
 */
export function signAgain(
	run: Run,
	messages: readonly ChatMessage[],
	signed: Readonly<Record<string, string>> = {},
): ChatMessage[] {
	const again = (part: ContentPart): ContentPart => {
		if (part.type !== 'image_url' || !Object.hasOwn(signed, part.image_url.url)) return part;
		const file = { id: signed[part.image_url.url]!, data: '', mimeType: '' };
		return { ...part, image_url: { ...part.image_url, url: run.sign(file, EXPIRES_IN) } };
	};
	return messages.map((message) => {
		const { content } = message;
		const hasParts = typeof content === 'object' && content !== null;
		return hasParts ? { ...message, content: content.map(again) } : message;
	});
}

/** A hash of the content of a file that n8n has stored, under another ID in every execution; its ID where it cannot be read. */
export async function hashOfFile({ helpers }: IExecuteFunctions, id: string): Promise<string> {
	const content = createHash('sha256');
	try {
		for await (const chunk of await helpers.getBinaryStream(id))
			content.update(chunk as Buffer);
		return content.digest('hex');
	} catch {
		return id;
	}
}

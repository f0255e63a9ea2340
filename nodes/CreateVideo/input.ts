import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { checkPublicUrl } from '../client/http/publicUrl';
import { VIDEO_FIELDS } from '../client/video/fields';
import { REFERENCES, type Reference, type ReferenceKind } from '../client/video/references';
import type { EnteredVideo } from '../client/video/videoRequest';
import { fieldNames, signedFileUrl, type FieldNames } from '../shared/files/signedFileUrl';
import type { Service } from '../shared/run/host';
import { readModel, readText } from '../shared/run/parameters';

/** Files as the editor hands them over: an address, or the names of binary fields. */
interface ReferenceEntry {
	readonly kind?: string;
	readonly source?: 'url' | 'binary';
	/** One address, or by expression a list of them. */
	readonly url?: unknown;
	readonly binaryProperty?: FieldNames;
}

type EnteredSource =
	| { readonly url: string }
	/** `id` tells the same file in another try, where its signed address is another one. */
	| { readonly property: string; readonly id: string };

interface EnteredReference {
	/** How an error names the entry. */
	readonly field: string;
	readonly kind: ReferenceKind;
	readonly source: EnteredSource;
}

/** What an item asks for, before its binary files have addresses. */
export interface VideoInput extends Omit<EnteredVideo, 'references'> {
	readonly references: readonly EnteredReference[];
}

/**
 * What the node's fields ask for in an item.
 *
 * @throws InputError when a reference is empty or of no known kind.
 * @throws NodeOperationError when the item has no such binary field.
 */
export function readVideoInput(context: IExecuteFunctions, itemIndex: number): VideoInput {
	const entries = context.getNodeParameter(
		'references.file',
		itemIndex,
		[],
	) as readonly ReferenceEntry[];
	return {
		model: readModel(context, itemIndex),
		prompt: readText(context, 'prompt', itemIndex),
		fields: Object.fromEntries(
			VIDEO_FIELDS.map(({ key }) => [key, readText(context, key, itemIndex)]),
		),
		references: entries.flatMap((entry, index) =>
			readEntry(context, itemIndex, entry, `References: entry ${index + 1}`),
		),
	};
}

/**
 * The input with an address for every file.
 *
 * @throws InputError when the service cannot fetch a file.
 */
export function withAddresses(
	context: IExecuteFunctions,
	itemIndex: number,
	input: VideoInput,
	{ isPrivate: allowPrivate }: Service,
): EnteredVideo {
	const references = input.references.map(({ field, kind, source }): Reference => {
		const options = { field, allowPrivate };
		const url =
			'url' in source
				? checkPublicUrl(source.url, options)
				: signedFileUrl(context, itemIndex, source.property, options);
		return { kind, url };
	});
	return { ...input, references };
}

function readEntry(
	context: IExecuteFunctions,
	itemIndex: number,
	{ kind: entered = 'image', source = 'url', url = '', binaryProperty = '' }: ReferenceEntry,
	field: string,
): EnteredReference[] {
	const kind = REFERENCES.find((row) => row.kind === entered)?.kind;
	if (kind === undefined) {
		const kinds = REFERENCES.map((row) => row.kind).join(', ');
		throw new InputError(field, `is of the kind ${entered}`, `Use one of ${kinds}`);
	}
	const sources =
		source === 'url'
			? [url].flat().map((each) => addressed(each, field))
			: fieldNames(binaryProperty).map((name) => filed(context, itemIndex, name));
	return sources.map((each) => ({ field, kind, source: each }));
}

function addressed(url: unknown, field: string): EnteredSource {
	if (typeof url === 'string' && url.trim() !== '') return { url: url.trim() };
	throw new InputError(
		field,
		'has no URL',
		'Enter an address, or an expression that gives one; an empty list stands for no file',
	);
}

function filed(context: IExecuteFunctions, itemIndex: number, property: string): EnteredSource {
	const { id = '' } = context.helpers.assertBinaryData(itemIndex, property);
	return { property, id };
}

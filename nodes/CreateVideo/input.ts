import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { checkPublicUrl } from '../client/http/publicUrl';
import { VIDEO_FIELDS } from '../client/video/fields';
import { REFERENCES, type Reference, type ReferenceKind } from '../client/video/references';
import type { EnteredVideo } from '../client/video/videoRequest';
import { fieldNames, signedFileUrl } from '../shared/files/signedFileUrl';
import type { Service } from '../shared/run/host';
import { readModel, readText } from '../shared/run/parameters';

/** An entry of the References field: a URL, or the names of binary fields. */
interface ReferenceEntry {
	readonly kind?: string;
	readonly source?: 'url' | 'binary';
	/** A URL, or from an expression a list of URLs. */
	readonly url?: unknown;
	readonly binaryProperty?: unknown;
}

type EnteredSource =
	| { readonly url: string }
	/** `id` identifies the file in a retry, which signs a new URL for it. */
	| { readonly property: string; readonly id: string };

interface EnteredReference {
	/** Name of the entry in errors. */
	readonly field: string;
	readonly kind: ReferenceKind;
	readonly source: EnteredSource;
}

/** The input of an item, before its binary files have URLs. */
export interface VideoInput extends Omit<EnteredVideo, 'references'> {
	readonly references: readonly EnteredReference[];
}

/**
 * Reads the input of an item.
 *
 * @throws InputError when a reference is empty or its kind is unknown.
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
 * The input with a URL for every file.
 *
 * @param isShown For the output: the name of the field takes the place of a signed URL, with which anybody can read the file.
 * @throws InputError when the service cannot fetch a file.
 */
export function withUrls(
	context: IExecuteFunctions,
	itemIndex: number,
	input: VideoInput,
	{ isPrivate: allowPrivate }: Service,
	isShown: boolean,
): EnteredVideo {
	const references = input.references.map(({ field, kind, source }): Reference => {
		const options = { field, allowPrivate };
		const url =
			'url' in source
				? checkPublicUrl(source.url, options)
				: isShown
					? `binary field ${source.property}`
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
		throw new InputError(field, `has the unknown kind ${entered}`, `Use one of ${kinds}`);
	}
	const sources =
		source === 'url'
			? [url].flat().map((each) => urlSource(each, field))
			: fieldNames(binaryProperty, field).map((property) => {
					const { id = '' } = context.helpers.assertBinaryData(itemIndex, property);
					return { property, id };
				});
	return sources.map((each) => ({ field, kind, source: each }));
}

function urlSource(url: unknown, field: string): EnteredSource {
	if (typeof url === 'string' && url.trim() !== '') return { url: url.trim() };
	throw new InputError(
		field,
		'has no URL',
		'Enter a URL, or an expression that returns one; an empty list means no file',
	);
}

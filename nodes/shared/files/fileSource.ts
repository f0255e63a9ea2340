import { choice, text } from '../form/form';

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

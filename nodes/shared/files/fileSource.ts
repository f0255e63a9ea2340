import type { INodeProperties } from 'n8n-workflow';

import { listField, textField } from '../form/fields';

/** The fields that say where a file for the service comes from: a URL, or binary data of the item. */
export const fileSource: INodeProperties[] = [
	listField('Source', 'source', {
		choices: [
			['URL', 'url'],
			['Binary Data', 'binary'],
		],
		default: 'url',
	}),
	textField('URL', 'url', {
		placeholder: 'e.g. https://example.com/photo.jpg',
		description: 'Publicly reachable URL. An expression can return a list of URLs.',
		displayOptions: { show: { source: ['url'] } },
	}),
	textField('Input Data Field Name', 'binaryProperty', {
		default: 'data',
		description:
			'Name of the binary field, or several names separated by commas. An expression can return a list, for example Object.keys($binary). The service fetches the file through a signed URL of this n8n that expires after one hour.',
		displayOptions: { show: { source: ['binary'] } },
	}),
];

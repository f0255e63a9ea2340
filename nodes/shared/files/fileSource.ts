import type { INodeProperties } from 'n8n-workflow';

/** Where a file for the service comes from: an address, or binary data of the item. */
export const fileSource: INodeProperties[] = [
	{
		displayName: 'Source',
		name: 'source',
		type: 'options',
		options: [
			{ name: 'URL', value: 'url' },
			{ name: 'Binary Data', value: 'binary' },
		],
		default: 'url',
	},
	{
		displayName: 'URL',
		name: 'url',
		type: 'string',
		default: '',
		placeholder: 'e.g. https://example.com/photo.jpg',
		description: 'Address that is open to the internet. An expression may give a list.',
		displayOptions: { show: { source: ['url'] } },
	},
	{
		displayName: 'Input Data Field Name',
		name: 'binaryProperty',
		type: 'string',
		default: 'data',
		description:
			'The field with the file, several separated by commas; an expression may give a list, as Object.keys($binary) does. The service gets a signed address of this n8n, good for one hour.',
		displayOptions: { show: { source: ['binary'] } },
	},
];

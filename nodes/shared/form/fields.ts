import type { INodeProperties } from 'n8n-workflow';

/** A value of a list: its label, the value, and its help text if it needs one. */
export type Choice<V extends string = string> = readonly [
	label: string,
	value: V,
	help?: string | undefined,
	...more: unknown[],
];

type More = Partial<Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'options'>>;

/** A text field, empty unless `more` has a default. */
export function textField(displayName: string, name: string, more: More = {}): INodeProperties {
	return { displayName, name, type: 'string', default: '', ...more };
}

/** A field for JSON, whose default is a text. */
export function jsonField(
	displayName: string,
	name: string,
	{ default: initial, ...more }: More & { readonly default: string },
): INodeProperties {
	return { displayName, name, type: 'json', default: initial, ...more };
}

interface List extends More {
	readonly default: string;
	readonly choices: readonly Choice[];
}

/** A field that is one of several fixed values. */
export function listField(
	displayName: string,
	name: string,
	{ default: initial, choices, ...more }: List,
): INodeProperties {
	const options = choices.map(([label, value, description]) => ({
		name: label,
		value,
		...(description === undefined ? {} : { description }),
	}));
	return { displayName, name, type: 'options', default: initial, options, ...more };
}

/** A switch, on by default. */
export function booleanField(
	displayName: string,
	name: string,
	description: string,
): INodeProperties {
	return { displayName, name, type: 'boolean', default: true, description };
}

interface Entries extends More {
	/** Label, name and fields of an entry. */
	readonly entry: readonly [label: string, name: string, values: INodeProperties[]];
}

/** A list of entries with several fields each; empty unless `more` has a default. */
export function entriesField(
	displayName: string,
	name: string,
	{ entry: [label, entryName, values], typeOptions, ...more }: Entries,
): INodeProperties {
	return {
		displayName,
		name,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, ...typeOptions },
		placeholder: `Add ${label}`,
		default: {},
		...more,
		options: [{ displayName: label, name: entryName, values }],
	};
}

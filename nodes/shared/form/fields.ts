import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

import { withoutUndefined } from '../../client/json';

/** A value of a list: its label, the value, and its help text if it needs one. */
export type Choice<V extends string = string> = readonly [
	label: string,
	value: V,
	help?: string | undefined,
	...more: unknown[],
];

interface Rest extends Partial<Omit<INodeProperties, 'displayName' | 'name' | 'description'>> {
	/** The description of the field. */
	readonly help?: string;
}

/** What a declaration adds to a property of n8n. */
export type More = Omit<Rest, 'type' | 'options'>;

/** A property of n8n, empty unless `more` has a default. */
export function property(
	type: INodeProperties['type'],
	displayName: string,
	name: string,
	{ help, ...more }: Rest,
): INodeProperties {
	const described = help === undefined ? more : { ...more, description: help };
	return { displayName, name, type, default: '', ...described };
}

/** A text field. */
export function textField(displayName: string, name: string, more: More = {}): INodeProperties {
	return property('string', displayName, name, more);
}

/** A field for JSON, whose default is a text. */
export function jsonField(
	displayName: string,
	name: string,
	more: More & { readonly default: string },
): INodeProperties {
	return property('json', displayName, name, more);
}

/** What the declaration of a list has. */
export interface List<V extends string = string> extends More {
	readonly default: V;
	readonly choices: readonly Choice<V>[];
}

/** A field that is one of several fixed values. */
export function listField(
	displayName: string,
	name: string,
	{ choices, ...more }: List,
): INodeProperties {
	const options = choices.map(([label, value, description]) =>
		withoutUndefined({ name: label, value, description }),
	);
	return property('options', displayName, name, { ...more, options });
}

/** A switch, on by default. */
export function booleanField(displayName: string, name: string, help: string): INodeProperties {
	return property('boolean', displayName, name, { help, default: true });
}

export interface Entries extends More {
	/** Label, name and fields of an entry. */
	readonly entry: readonly [label: string, name: string, values: INodeProperties[]];
}

/** A list of entries with several fields each; empty unless `more` has a default. */
export function entriesField(
	displayName: string,
	name: string,
	{ entry: [label, entryName, values], typeOptions, ...more }: Entries,
): INodeProperties {
	return property('fixedCollection', displayName, name, {
		typeOptions: { multipleValues: true, ...typeOptions },
		placeholder: `Add ${label}`,
		default: {},
		...more,
		options: [{ displayName: label, name: entryName, values }],
	});
}

/** An argument of n8n's $fromAI, by which the model of an agent fills a field. */
export interface FromAiArgument {
	/** Name of the argument in the tool's schema. */
	readonly key: string;
	/** Description for the model; must not contain quotes or backticks. */
	readonly help: string;
	readonly type?: 'string' | 'number' | 'boolean';
	/** Default value; without one the argument is required. */
	readonly fallback?: string;
}

/** The field twice: as it is in the node, and filled by the model where the node is a tool of an agent. */
export function filledByModel(field: INodeProperties, argument: FromAiArgument): INodeProperties[] {
	return [notInTools(field), inTools({ ...field, default: fromAi(argument) })];
}

type Conditions = Readonly<Record<string, string | boolean>>;

/** Hides the field where the node is a tool of an agent. */
export function notInTools(field: INodeProperties): INodeProperties {
	return displayed(field, 'hide', { '@tool': true });
}

/** Shows the field only where the node is a tool of an agent. */
export function inTools(field: INodeProperties): INodeProperties {
	return shownFor(field, { '@tool': true });
}

/** Shows the field only where other fields have these values. */
export function shownFor(field: INodeProperties, values: Conditions): INodeProperties {
	return displayed(field, 'show', values);
}

function displayed(field: INodeProperties, how: 'show' | 'hide', values: Conditions) {
	const more = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
	const conditions = { ...more, ...field.displayOptions?.[how] };
	return { ...field, displayOptions: { ...field.displayOptions, [how]: conditions } };
}

/** The $fromAI expression. Its comment makes the editor show the field as defined by the model. */
export function fromAi({ key, help, type = 'string', fallback }: FromAiArgument): string {
	const more = fallback === undefined ? '' : `, '${fallback}'`;
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`${help}\`, '${type}'${more}) }}`;
}

/**
 * A resource locator: choose from a list, or type a value that this package does not know.
 *
 * @param choice Name of the node's list search method, and the placeholder of the text. `empty` is that of the empty list
 *   where empty is a valid choice; n8n would show a prompt to choose.
 */
export function resourceLocator(
	displayName: string,
	more: More & Pick<INodeProperties, 'default'>,
	choice: { searchListMethod: string; placeholder: string; empty?: string },
): INodeProperties {
	const { searchListMethod, placeholder, empty } = choice;
	return property('resourceLocator', displayName, '', {
		...more,
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod, searchable: true },
				...(empty === undefined ? {} : { placeholder: empty }),
			},
			// The editor labels a mode of this name By ID, whatever its display name.
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder },
		],
	});
}

/** Case-insensitive search in names and values. */
export function searchItems(
	items: readonly INodeListSearchItems[],
	filter = '',
): Promise<INodeListSearchResult> {
	const wanted = filter.toLowerCase();
	const results = items.filter(({ name, value }) =>
		`${name} ${value}`.toLowerCase().includes(wanted),
	);
	return Promise.resolve({ results });
}

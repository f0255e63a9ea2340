import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

/** A value of a list: its label, the value, and its help text if it needs one. */
export type Choice<V extends string = string> = readonly [
	label: string,
	value: V,
	help?: string | undefined,
	...more: unknown[],
];

/** What a declaration adds to a property of n8n. */
export interface More extends Partial<
	Omit<INodeProperties, 'displayName' | 'name' | 'type' | 'options' | 'description'>
> {
	/** The description of the field. */
	readonly help?: string;
}

/** The property with its help text under the name that n8n has for it. */
export function described<P extends { readonly help?: string }>({ help, ...property }: P) {
	return help === undefined ? property : { ...property, description: help };
}

/** A text field, empty unless `more` has a default. */
export function textField(displayName: string, name: string, more: More = {}): INodeProperties {
	return { displayName, name, type: 'string', default: '', ...described(more) };
}

/** A field for JSON, whose default is a text. */
export function jsonField(
	displayName: string,
	name: string,
	{ default: initial, ...more }: More & { readonly default: string },
): INodeProperties {
	return { displayName, name, type: 'json', default: initial, ...described(more) };
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
	return { displayName, name, type: 'options', default: initial, options, ...described(more) };
}

/** A switch, on by default. */
export function booleanField(
	displayName: string,
	name: string,
	description: string,
): INodeProperties {
	return { displayName, name, type: 'boolean', default: true, description };
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
	return {
		displayName,
		name,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, ...typeOptions },
		placeholder: `Add ${label}`,
		default: {},
		...described(more),
		options: [{ displayName: label, name: entryName, values }],
	};
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

/** Hides the field where the node is a tool of an agent. */
export function notInTools(field: INodeProperties): INodeProperties {
	const { hide, ...others } = field.displayOptions ?? {};
	return { ...field, displayOptions: { ...others, hide: { ...hide, '@tool': [true] } } };
}

/** Shows the field only where the node is a tool of an agent. */
export function inTools(field: INodeProperties): INodeProperties {
	return shownFor(field, { '@tool': true });
}

/** Shows the field only where other fields have these values. */
export function shownFor(
	field: INodeProperties,
	values: Readonly<Record<string, string | boolean>>,
): INodeProperties {
	const { show, ...others } = field.displayOptions ?? {};
	const more = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, [value]]));
	return { ...field, displayOptions: { ...others, show: Object.assign(more, show) } };
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
	{ default: initial, ...more }: More & Pick<INodeProperties, 'default'>,
	choice: { searchListMethod: string; placeholder: string; empty?: string },
): INodeProperties {
	const { searchListMethod, placeholder, empty } = choice;
	return {
		displayName,
		name: '',
		type: 'resourceLocator',
		default: initial,
		...described(more),
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
	};
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

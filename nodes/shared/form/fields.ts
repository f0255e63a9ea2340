import type { INodeListSearchItems, INodeListSearchResult, INodeProperties } from 'n8n-workflow';

interface Rest extends Partial<Omit<INodeProperties, 'displayName' | 'name' | 'description'>> {
	/** The description of the field. */
	readonly help?: string;
}

/** What a declaration adds to a property of n8n. */
export type More = Omit<Rest, 'type' | 'options'>;

/** A property of n8n, empty unless `more` has a default. It gets its name from the form, see `field`. */
export function property(
	type: INodeProperties['type'],
	displayName: string,
	{ help, ...more }: Rest,
): INodeProperties {
	const described = help === undefined ? more : { ...more, description: help };
	return { displayName, name: '', type, default: '', ...described };
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
	return property('resourceLocator', displayName, {
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

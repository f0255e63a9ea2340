import {
	updateDisplayOptions,
	type IBuilderHint,
	type IDisplayOptions,
	type INodeListSearchItems,
	type INodeListSearchResult,
	type INodeProperties,
} from 'n8n-workflow';

import { DEFINED_BY_MODEL, IS_TOOL } from '../engine/workflow';

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

/** Hides the field where the node is a tool of an agent. */
export const notInTools = (field: INodeProperties) => displayed(field, { hide: IS_TOOL });

/** Shows the field only where the node is a tool of an agent. */
export const inTools = (field: INodeProperties) => displayed(field, { show: IS_TOOL });

/** The field with more conditions for its display. */
export function displayed(field: INodeProperties, when: IDisplayOptions): INodeProperties {
	return updateDisplayOptions(when, [field])[0]!;
}

/** The $fromAI expression. */
export function fromAi({ key, help, type = 'string', fallback }: FromAiArgument): string {
	const more = fallback === undefined ? '' : `, '${fallback}'`;
	return `={{ ${DEFINED_BY_MODEL} $fromAI('${key}', \`${help}\`, '${type}'${more}) }}`;
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

/** `builderHint` in the codex file of a node. */
interface HintFile extends Omit<IBuilderHint, 'extraTypeDefContent'> {
	/** The names in the schema of the output, of which n8n shows a builder nothing. */
	readonly outputFields?: string;
	/** A workflow by n8n's SDK, as lines. */
	readonly example: string[];
}

/** n8n checks the names of its own nodes only, see `withStrays`. */
const NAMES_NOTE =
	'n8n drops other names inside the entries of a list, unknown names at the top level, and fields whose @displayOptions are not met, without an error. An unknown option, and a name of an option or of the API of the service at a wrong level, fail when the node runs, before it sends anything. With onError: continueErrorOutput the last output has error (why, in words), message and details: name error in the sample output as well.';

/**
 * What n8n's AI builder and its MCP server read about a node: when to use it, what must follow, and in its type
 * definition the fields of its items, and a workflow to start from.
 */
export function builderHint(
	{ example, outputFields, ...hint }: HintFile,
	...notes: string[]
): IBuilderHint {
	const fields = outputFields ? [`Output fields, where they apply: ${outputFields}.`] : [];
	const lines = [NAMES_NOTE, ...fields, ...notes, '<patterns>', ...example, '</patterns>'];
	return { ...hint, extraTypeDefContent: [{ content: lines.join('\n') }] };
}

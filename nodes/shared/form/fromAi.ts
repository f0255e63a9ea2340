import type { INodeProperties } from 'n8n-workflow';

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

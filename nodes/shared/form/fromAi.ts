import type { INodeProperties } from 'n8n-workflow';

/** How the model of an agent fills a field. */
export interface ModelFill {
	/** Name of the argument. */
	readonly key: string;
	/** What the model is told to put there; without quotes and backticks. */
	readonly help: string;
	readonly type?: 'string' | 'number';
	/** What stands where the model gives nothing; without it the model must give something. */
	readonly otherwise?: string;
}

/** The field as it is, and as the tool of an agent, where its model fills it unless a person does. */
export function filledByModel(field: INodeProperties, fill: ModelFill): INodeProperties[] {
	return [notInTools(field), inTools({ ...field, default: fromModel(fill) })];
}

/** The field in the node only, not where it is the tool of an agent. */
export function notInTools(field: INodeProperties): INodeProperties {
	const { hide, ...others } = field.displayOptions ?? {};
	return { ...field, displayOptions: { ...others, hide: { ...hide, '@tool': [true] } } };
}

/** The field only where the node is the tool of an agent. */
export function inTools(field: INodeProperties): INodeProperties {
	const { show, ...others } = field.displayOptions ?? {};
	return { ...field, displayOptions: { ...others, show: { ...show, '@tool': [true] } } };
}

/** The expression by which n8n asks the model; the remark makes the editor show it as filled by the model. */
export function fromModel({ key, help, type = 'string', otherwise }: ModelFill): string {
	const more = otherwise === undefined ? '' : `, '${otherwise}'`;
	return `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`${help}\`, '${type}'${more}) }}`;
}

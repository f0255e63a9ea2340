import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

import { markdownTable } from './markdownTable';

const HEAD = ['field', 'type and default', 'description'];
const SEPARATOR = ' › ';

/** Display names of n8n's property types; a type that is missing here is shown by its own name. */
const TYPES: Readonly<Record<string, string>> = {
	collection: '',
	fixedCollection: 'list',
	json: 'JSON',
	options: 'options',
	resourceLocator: 'from list or by ID',
};

/**
 * The fields of a node as Markdown: a table of the form, a table for each collection of options, and the notices.
 * Fields that exist once per model share one row.
 */
export function fieldTables({ properties }: Pick<INodeTypeDescription, 'properties'>): string {
	const collections = properties.filter(({ type }) => type === 'collection');
	const form = properties.filter(({ type }) => type !== 'collection' && type !== 'notice');
	const notices = properties.filter(({ type }) => type === 'notice');
	return [
		...(form.length === 0 ? [] : [markdownTable(HEAD, rows(form, { prefix: '', form }))]),
		...collections.flatMap(({ displayName, options = [] }) => [
			`### ${displayName}`,
			ABOUT_COLLECTIONS,
			markdownTable(HEAD, rows(options as INodeProperties[], { prefix: '', form })),
		]),
		...notices.map(({ displayName }) => `> ${toMarkdown(displayName)}`),
	].join('\n\n');
}

const ABOUT_COLLECTIONS =
	'An option that sets a field of the service, such as _Temperature_, is sent only if you add it. ' +
	'All other options apply with their default even if you do not add them.';

/** The display names of all fields, including nested ones. */
export function fieldNames(properties: readonly INodeProperties[]): readonly string[] {
	return properties.flatMap((property) => [
		property.displayName,
		...fieldNames(nestedFields(property)),
	]);
}

function nestedFields({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type === 'collection') return options as INodeProperties[];
	if (type !== 'fixedCollection') return [];
	return (options as INodePropertyCollection[]).flatMap(({ values }) => values);
}

/** The key of a display condition that holds when the node is used as an agent's tool. */
const TOOL = '@tool';

/** Where a list of fields is nested. */
interface Location {
	/** Display names of the enclosing fields. */
	readonly prefix: string;
	/** All fields of the node's form. */
	readonly form: readonly INodeProperties[];
}

function rows(properties: readonly INodeProperties[], { prefix, form }: Location): string[][] {
	const names = new Set(properties.map(({ displayName }) => displayName));
	return [...names].flatMap((name) => {
		const all = properties.filter(({ displayName }) => displayName === name);
		const inForm = all.filter((property) => !isForTools(property));
		const variants = inForm.length === 0 ? all : inForm;
		// The last variant is for a model entered by ID: its description names no model's own values.
		const property = variants.at(-1)!;
		const label = `${prefix}${name}`;
		return [
			[
				label === name ? `**${name}**` : label,
				variants.length > 1 ? 'depends on the model' : typeAndDefault(property),
				describe(property, [...properties, ...form]),
			],
			...rows(nestedFields(property), { prefix: `${label}${SEPARATOR}`, form }),
		];
	});
}

function typeAndDefault({
	type,
	default: byDefault,
	typeOptions = {},
	options,
}: INodeProperties): string {
	const { minValue, maxValue, multipleValues } = typeOptions;
	if (multipleValues === false) return 'group';
	const shownType = `${TYPES[type] ?? type}${range(minValue, maxValue)}`;
	const shown = type === 'options' ? nameOf(byDefault, options) : literal(byDefault);
	return [shownType, shown && `default ${shown}`].filter(Boolean).join('; ');
}

function range(minimum: number | undefined, maximum: number | undefined): string {
	if (minimum === undefined) return maximum === undefined ? '' : `, at most ${maximum}`;
	return maximum === undefined ? `, at least ${minimum}` : `, ${minimum} to ${maximum}`;
}

function nameOf(value: unknown, options: INodeProperties['options']): string {
	const found = (options as INodePropertyOptions[]).find((option) => option.value === value);
	return found === undefined ? '' : `_${found.name}_`;
}

function literal(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	// The editor does not show the equals sign of an expression.
	if (typeof value === 'string') return code(value.replace(/^=/, ''));
	const { value: selected = '' } = (value ?? {}) as { readonly value?: string };
	return code(selected);
}

function code(text: string): string {
	const line = text.replace(/\s+/g, ' ');
	return line === '' || line === '{}' || line === '[]' ? '' : `\`${line}\``;
}

function describe(property: INodeProperties, others: readonly INodeProperties[]): string {
	const { description, hint, placeholder, type, options = [] } = property;
	const choices = type === 'options' ? (options as INodePropertyOptions[]) : [];
	const described = choices.filter((choice) => choice.description !== undefined);
	const plain = choices.filter((choice) => choice.description === undefined);
	return [
		conditionOf(property, others),
		[description, hint].filter(Boolean).map(sentence).join(' '),
		...(plain.length === 0 ? [] : [plain.map(({ name }) => `_${name}_`).join(', ')]),
		...described.map((choice) => `_${choice.name}_: ${choice.description}`),
		placeholder?.startsWith('e.g. ') === true ? `e.g. \`${placeholder.slice(5)}\`` : '',
	]
		.filter(Boolean)
		.map(toMarkdown)
		.join('<br>');
}

/** Whether a field is shown only when the node is used as an agent's tool. */
function isForTools({ displayOptions }: INodeProperties): boolean {
	return displayOptions?.show?.[TOOL] !== undefined;
}

/** The condition under which a field is shown. */
function conditionOf(
	{ displayOptions }: INodeProperties,
	others: readonly INodeProperties[],
): string {
	const conditions = Object.entries(displayOptions?.show ?? {}).map(([key, values = []]) => {
		if (key === TOOL) return 'the node is used as a tool';
		const other = others.find(({ name }) => name === key.replace('/', ''));
		const shown = values.map((value) => nameOf(value, other?.options ?? []) || literal(value));
		return `_${other?.displayName ?? key}_ is ${shown.join(' or ')}`;
	});
	return conditions.length === 0 ? '' : `Shown when ${conditions.join(' and ')}.`;
}

const sentence = (text: string | undefined) => (text ?? '').replace(/(?<![.!?])$/, '.');

const toMarkdown = (text: string) => text.replace(/<\/?b>/g, '**').replace(/\|/g, '\\|');

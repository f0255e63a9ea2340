import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

const HEAD = ['field', 'value', 'meaning'] as const;
const SEPARATOR = ' › ';

/** How a type of n8n is called to a person; others go by their own name. */
const TYPES: Readonly<Record<string, string>> = {
	boolean: 'yes or no',
	collection: '',
	fixedCollection: 'list',
	json: 'JSON',
	number: 'number',
	options: '',
	resourceLocator: 'from a list or typed',
	string: 'text',
};

/**
 * The fields of a node as Markdown: a table of the form, a table of each collection of options, and the notices.
 * Fields that are there once for each model are one row.
 */
export function fieldTables({ properties }: Pick<INodeTypeDescription, 'properties'>): string {
	const collections = properties.filter(({ type }) => type === 'collection');
	const form = properties.filter(({ type }) => type !== 'collection' && type !== 'notice');
	const notices = properties.filter(({ type }) => type === 'notice');
	return [
		...(form.length === 0 ? [] : [table(rows(form, { prefix: '', form }))]),
		...collections.flatMap(({ displayName, options = [] }) => [
			`### ${displayName}`,
			ABOUT_COLLECTIONS,
			table(rows(options as INodeProperties[], { prefix: '', form })),
		]),
		...notices.map(({ displayName }) => `> ${toMarkdown(displayName)}`),
	].join('\n\n');
}

const ABOUT_COLLECTIONS =
	'A default is what an option begins with when it is added; a field of the service that is not added is not sent. ' +
	'Retries, timeouts, limits and _Concurrency_ hold anyway.';

/** The displayed names of all fields, those inside of others too. */
export function fieldNames(properties: readonly INodeProperties[]): readonly string[] {
	return properties.flatMap((property) => [
		property.displayName,
		...fieldNames(insideOf(property)),
	]);
}

function insideOf({ type, options = [] }: INodeProperties): INodeProperties[] {
	if (type === 'collection') return options as INodeProperties[];
	if (type !== 'fixedCollection') return [];
	return (options as INodePropertyCollection[]).flatMap(({ values }) => values);
}

/** What n8n calls the form of a node that is an agent's tool. */
const TOOL = '@tool';

/** Where fields stand. */
interface Place {
	/** The fields that they are in. */
	readonly prefix: string;
	/** The fields of the node's form. */
	readonly form: readonly INodeProperties[];
}

function rows(properties: readonly INodeProperties[], { prefix, form }: Place): string[][] {
	const names = new Set(properties.map(({ displayName }) => displayName));
	return [...names].flatMap((name) => {
		const all = properties.filter(({ displayName }) => displayName === name);
		const inForm = all.filter((property) => !isForTools(property));
		const same = inForm.length === 0 ? all : inForm;
		// The last one is the one for a model that is typed: it says no model's own values.
		const property = same.at(-1)!;
		const label = `${prefix}${name}`;
		return [
			[
				label === name ? `**${name}**` : label,
				same.length > 1 ? 'depends on the model' : valueOf(property),
				meaningOf(property, [...properties, ...form]),
			],
			...rows(insideOf(property), { prefix: `${label}${SEPARATOR}`, form }),
		];
	});
}

function valueOf({ type, default: byDefault, typeOptions = {}, options }: INodeProperties): string {
	const { minValue, maxValue } = typeOptions;
	const limits =
		minValue === undefined && maxValue === undefined
			? ''
			: maxValue === undefined
				? `, at least ${minValue}`
				: `, ${minValue} to ${maxValue}`;
	const kind = `${TYPES[type] ?? type}${limits}`;
	const shown = type === 'options' ? nameOf(byDefault, options) : literal(byDefault);
	return [kind, shown && `default ${shown}`].filter(Boolean).join('; ');
}

function nameOf(value: unknown, options: INodeProperties['options']): string {
	const found = (options as INodePropertyOptions[]).find((option) => option.value === value);
	return found === undefined ? '' : `_${found.name}_`;
}

function literal(value: unknown): string {
	if (typeof value === 'boolean') return value ? 'yes' : 'no';
	if (typeof value === 'number') return String(value);
	// The editor does not show the sign of an expression.
	if (typeof value !== 'object') return code(String(value).replace(/^=/, ''));
	const { value: chosen = '' } = (value ?? {}) as { readonly value?: string };
	return code(chosen);
}

function code(text: string): string {
	const line = text.replace(/\s+/g, ' ');
	return line === '' || line === '{}' || line === '[]' ? '' : `\`${line}\``;
}

function meaningOf(property: INodeProperties, others: readonly INodeProperties[]): string {
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

/** Whether a field shows only where the node is an agent's tool. */
function isForTools({ displayOptions }: INodeProperties): boolean {
	return displayOptions?.show?.[TOOL] !== undefined;
}

/** With which value of which other field a field shows. */
function conditionOf(
	{ displayOptions }: INodeProperties,
	others: readonly INodeProperties[],
): string {
	const conditions = Object.entries(displayOptions?.show ?? {}).map(([key, values = []]) => {
		if (key === TOOL) return "the node is an agent's tool";
		const other = others.find(({ name }) => name === key.replace('/', ''));
		const shown = values.map((value) => nameOf(value, other?.options ?? []) || literal(value));
		return `_${other?.displayName ?? key}_ is ${shown.join(' or ')}`;
	});
	return conditions.length === 0 ? '' : `(where ${conditions.join(' and ')})`;
}

const sentence = (text: string | undefined) => (text ?? '').replace(/(?<![.!?])$/, '.');

const toMarkdown = (text: string) => text.replace(/<\/?b>/g, '**').replace(/\|/g, '\\|');

function table(cells: readonly (readonly string[])[]): string {
	return [HEAD, HEAD.map(() => '---'), ...cells]
		.map((row) => `| ${row.join(' | ')} |`)
		.join('\n');
}

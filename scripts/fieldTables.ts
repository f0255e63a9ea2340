import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

type Row = readonly [field: string, byDefault: string, description: string];

/** The tables of a node: its form, and its collection of options. */
type Tables = readonly (readonly [heading: string, rows: readonly Row[]])[];

/** What a table needs of a node. */
type Form = Pick<INodeTypeDescription, 'properties'>;

function tablesOf({ properties }: Form): Tables {
	const isForm = ({ type }: INodeProperties) => type !== 'collection' && type !== 'notice';
	const collections = properties.filter(({ type }) => type === 'collection');
	return [
		['', rows(properties.filter(isForm))],
		...collections.map(
			({ displayName, options = [] }) =>
				[displayName, rows(options as INodeProperties[])] as const,
		),
	];
}

/** Rows as a Markdown list. */
const list = (rows: readonly Row[]) =>
	rows
		.map(([field, byDefault, description]) =>
			[`- ${field}`, byDefault && `(${byDefault})`, description && `– ${description}`]
				.filter(Boolean)
				.join(' '),
		)
		.join('\n');

const keyOf = (row: Row) => row.join('|');

/** The rows that several nodes have in common, word for word, each once. */
function sharedRows(nodes: readonly Form[]): ReadonlyMap<string, Row> {
	const all = nodes.flatMap((node) => tablesOf(node).flatMap(([, table]) => table));
	const isShared = (row: Row) => all.filter((each) => keyOf(each) === keyOf(row)).length > 1;
	return new Map(all.filter(isShared).map((row) => [keyOf(row), row]));
}

/** The fields that several nodes have, as a Markdown list. */
export function sharedFieldTable(nodes: readonly Form[]): string {
	return list([...sharedRows(nodes).values()]);
}

/**
 * The fields of a node that no other node has, as Markdown: a list of the form, one of its options, and the notices. Fields that exist
 * once per model are listed once.
 *
 * @param nodes All nodes of the package.
 */
export function fieldTables(node: Form, nodes: readonly Form[]): string {
	const shared = sharedRows(nodes);
	const tables = tablesOf(node).map(([heading, all]) => {
		const own = all.filter((row) => !shared.has(keyOf(row)));
		const others = all.filter((row) => shared.has(keyOf(row)));
		const names = others.map(([field]) => field.replaceAll('**', '_')).join(', ');
		return [
			...(heading === '' ? [] : [`### ${heading}`]),
			...(own.length === 0 ? [] : [list(own)]),
			...(others.length === 0 ? [] : [`As in [other nodes](fields.md): ${names}.`]),
		];
	});
	const notices = node.properties
		.filter(({ type }) => type === 'notice')
		.map(({ displayName }) => `> ${toMarkdown(displayName)}`);
	return [...tables.flat(), ...notices].join('\n\n');
}

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

function rows(properties: readonly INodeProperties[]): Row[] {
	return variantsOf(properties).map(([property, isByModel]) => [
		`**${property.displayName}**`,
		isByModel ? 'by model' : defaultOf(property),
		[describe(property), nested(property)].filter(Boolean).join(' '),
	]);
}

/** Each field once, and whether it exists for each model. */
function variantsOf(properties: readonly INodeProperties[]) {
	const names = [...new Set(properties.map(({ displayName }) => displayName))];
	return names.map((name) => {
		const all = properties.filter(({ displayName }) => displayName === name);
		const inForm = all.filter((property) => !isForTools(property));
		const variants = inForm.length === 0 ? all : inForm;
		// The last variant is for a model entered by ID: its description names no model's own values.
		return [variants.at(-1)!, variants.length > 1] as const;
	});
}

/** The names of the fields inside a field. */
function nested(property: INodeProperties): string {
	const names = (inner: INodeProperties): string[] => [
		inner.displayName,
		...nestedFields(inner).flatMap(names),
	];
	const inside = [...new Set(nestedFields(property).flatMap(names))];
	return inside.length === 0 ? '' : `With ${inside.map((name) => `_${name}_`).join(', ')}.`;
}

function defaultOf({ type, default: byDefault, options }: INodeProperties): string {
	return type === 'options' ? nameOf(byDefault, options) : literal(byDefault);
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

/** The first sentence of a field's description, and the names of its choices: the form has the rest. */
function describe({ description = '', type, options = [] }: INodeProperties): string {
	const [first = ''] = description.split(/(?<=[.!?]) (?=[A-Z])/);
	const choices = type === 'options' ? (options as INodePropertyOptions[]) : [];
	const names = choices.map(({ name }) => `_${name}_`).join(', ');
	return [first && sentence(first), names && `${names}.`]
		.filter(Boolean)
		.map(toMarkdown)
		.join(' ');
}

/** Whether a field is shown only when the node is used as an agent's tool. */
function isForTools({ displayOptions }: INodeProperties): boolean {
	return displayOptions?.show?.[TOOL] !== undefined;
}

const sentence = (text: string | undefined) => (text ?? '').replace(/(?<![.!?])$/, '.');

const toMarkdown = (text: string) => text.replace(/<\/?b>/g, '**').replace(/\|/g, '\\|');

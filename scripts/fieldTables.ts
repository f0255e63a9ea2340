import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

import { markdownTable } from './markdownTable';

const HEAD = ['field', 'default', 'description'];

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

const keyOf = (row: Row) => row.join('|');

/** The rows that several nodes have in common, word for word, each once. */
function sharedRows(nodes: readonly Form[]): ReadonlyMap<string, Row> {
	const all = nodes.flatMap((node) => tablesOf(node).flatMap(([, table]) => table));
	const isShared = (row: Row) => all.filter((each) => keyOf(each) === keyOf(row)).length > 1;
	return new Map(all.filter(isShared).map((row) => [keyOf(row), row]));
}

/** The fields that several nodes have, as a Markdown table. */
export function sharedFieldTable(nodes: readonly Form[]): string {
	const shared = [...sharedRows(nodes).values()].map((row) => [...row]);
	return markdownTable(HEAD, shared);
}

/**
 * The fields of a node that no other node has, as Markdown: a table of the form, one of its options, and the notices. Fields that exist
 * once per model share one row.
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
			...(own.length === 0
				? []
				: [
						markdownTable(
							HEAD,
							own.map((row) => [...row]),
						),
					]),
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
		[describe(property), ...nested(property)].filter(Boolean).join('<br>'),
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

/** The fields inside a field, with their descriptions; of those inside them, and without a description, the names. */
function nested(property: INodeProperties): string[] {
	const fields = variantsOf(nestedFields(property)).map(([inner]) => inner);
	const names = (inner: INodeProperties): string[] => [
		inner.displayName,
		...nestedFields(inner).flatMap(names),
	];
	const isDescribed = ({ description }: INodeProperties) => (description ?? '') !== '';
	const others = [
		...new Set(fields.flatMap((field) => names(field).slice(isDescribed(field) ? 1 : 0))),
	];
	return [
		...fields.filter(isDescribed).map((field) => {
			const byDefault = defaultOf(field);
			const ending = byDefault === '' ? '' : ` (default ${byDefault})`;
			return `_${field.displayName}_: ${describe(field)}${ending}`;
		}),
		...(others.length === 0 ? [] : [`Also ${others.map((name) => `_${name}_`).join(', ')}.`]),
	];
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

function describe({ description, hint, type, options = [] }: INodeProperties): string {
	const choices = type === 'options' ? (options as INodePropertyOptions[]) : [];
	const described = choices.filter((choice) => choice.description !== undefined);
	const plain = choices.filter((choice) => choice.description === undefined);
	return [
		[description, hint].filter(Boolean).map(sentence).join(' '),
		...(plain.length === 0 ? [] : [plain.map(({ name }) => `_${name}_`).join(', ')]),
		...described.map((choice) => `_${choice.name}_: ${choice.description}`),
	]
		.filter(Boolean)
		.map(toMarkdown)
		.join('<br>');
}

/** Whether a field is shown only when the node is used as an agent's tool. */
function isForTools({ displayOptions }: INodeProperties): boolean {
	return displayOptions?.show?.[TOOL] !== undefined;
}

const sentence = (text: string | undefined) => (text ?? '').replace(/(?<![.!?])$/, '.');

const toMarkdown = (text: string) => text.replace(/<\/?b>/g, '**').replace(/\|/g, '\\|');

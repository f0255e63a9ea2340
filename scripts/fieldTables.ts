import type {
	INodeProperties,
	INodePropertyCollection,
	INodePropertyOptions,
	INodeTypeDescription,
} from 'n8n-workflow';

/** Whether a person can see it; what the form keeps of misplaced values is disabled as well. */
export const isSeen = ({ disabledOptions }: INodeProperties) => disabledOptions === undefined;

type Row = readonly [field: string, byDefault: string, description: string];

/** The tables of a node: its form, and its collection of options. */
type Tables = readonly (readonly [heading: string, rows: readonly Row[]])[];

/** What a table needs of a node. */
type Form = Pick<INodeTypeDescription, 'displayName' | 'properties'>;

function tablesOf({ properties }: Form): Tables {
	const isForm = (property: INodeProperties) =>
		!['collection', 'notice'].includes(property.type) && isSeen(property);
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
			[`- ${[field, byDefault && `(${byDefault})`].filter(Boolean).join(' ')}`, description]
				.filter(Boolean)
				.join(': '),
		)
		.join('\n');

const keyOf = (row: Row) => row.join('|');

/** The nodes of each row, by its words: rows that several nodes have are the same word for word. */
function nodesOfRows(nodes: readonly Form[]): ReadonlyMap<string, ReadonlySet<string>> {
	const found = new Map<string, Set<string>>();
	for (const node of nodes) {
		for (const row of tablesOf(node).flatMap(([, table]) => table)) {
			found.set(keyOf(row), (found.get(keyOf(row)) ?? new Set()).add(node.displayName));
		}
	}
	return found;
}

/** The fields that several nodes have, as Markdown: a heading for each set of nodes, and the list of their fields. */
export function sharedFieldTable(nodes: readonly Form[]): string {
	const nodesOf = nodesOfRows(nodes);
	const all = nodes.flatMap((node) => tablesOf(node).flatMap(([, table]) => table));
	const groups = new Map<string, Row[]>();
	for (const [key, row] of new Map(all.map((each) => [keyOf(each), each]))) {
		const names = [...nodesOf.get(key)!];
		if (names.length > 1)
			groups.set(names.join(', '), [...(groups.get(names.join(', ')) ?? []), row]);
	}
	return [...groups].map(([names, group]) => `### ${names}\n\n${list(group)}`).join('\n\n');
}

/**
 * The fields that one node alone has, as Markdown: a heading for each node, a list of its form, one of its options, and the
 * notices. Fields that exist once per model are listed once.
 */
export function ownFieldTables(nodes: readonly Form[]): string {
	const nodesOf = nodesOfRows(nodes);
	return nodes.map((node) => ownFields(node, nodesOf)).join('\n\n');
}

function ownFields(node: Form, nodesOf: ReturnType<typeof nodesOfRows>): string {
	const own = tablesOf(node)
		.map(
			([heading, all]) =>
				[heading, all.filter((row) => nodesOf.get(keyOf(row))!.size === 1)] as const,
		)
		.filter(([, all]) => all.length > 0)
		.flatMap(([heading, all]) => [...(heading === '' ? [] : [`**${heading}**`]), list(all)]);
	const notices = node.properties
		.filter(({ type }) => type === 'notice')
		.map(({ displayName }) => `> ${toMarkdown(displayName)}`);
	return [`### ${node.displayName}`, ...own, ...notices].join('\n\n');
}

/** The display names of all fields, including nested ones. */
export function fieldNames(properties: readonly INodeProperties[]): readonly string[] {
	return properties
		.filter(isSeen)
		.flatMap((property) => [property.displayName, ...fieldNames(nestedFields(property))]);
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
		return [variants.at(-1)!, variants.some(isOfModel)] as const;
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
	// JSON to start from says nothing about a field that is left alone.
	if (type === 'json') return '';
	return type === 'options' ? nameOf(byDefault, options) : literal(byDefault);
}

function nameOf(value: unknown, options: INodeProperties['options']): string {
	const found = (options as INodePropertyOptions[]).find((option) => option.value === value);
	return found === undefined ? '' : `_${found.name}_`;
}

function literal(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'boolean') return String(value);
	if (typeof value === 'string') {
		// The editor shows such a field as one that the model fills in.
		if (value.includes('$fromAI')) return 'as a tool: the model decides';
		// The editor does not show the equals sign of an expression.
		return code(value.replace(/^=/, ''));
	}
	const { value: selected = '' } = (value ?? {}) as { readonly value?: string };
	return code(selected);
}

function code(text: string): string {
	const line = text.replace(/\s+/g, ' ');
	return line === '' || line === '{}' || line === '[]' ? '' : `\`${line}\``;
}

/** The first sentence of a field's description without its examples: the form has the rest, and the choices. */
function describe({ description = '' }: INodeProperties): string {
	const [first = ''] = description.split(/(?<=[.!?]) (?=[A-Z])|, e\.g\. /);
	return first && toMarkdown(sentence(first));
}

/** Whether a field is shown only when the node is used as an agent's tool. */
function isForTools({ displayOptions }: INodeProperties): boolean {
	return displayOptions?.show?.[TOOL] !== undefined;
}

/** Whether a field is shown for one model, or for those that are in no list. */
const isOfModel = ({ displayOptions }: INodeProperties) =>
	['model', '/model'].some((name) => displayOptions?.hide?.[name] !== undefined);

const sentence = (text: string | undefined) => (text ?? '').replace(/(?<![.!?])$/, '.');

const toMarkdown = (text: string) => text.replace(/<\/?b>/g, '**').replace(/\|/g, '\\|');

import type { INodeProperties } from 'n8n-workflow';

import { isJsonObject, mapValues, objectOf, withoutUndefined } from '../../client/json';
import {
	isBlank,
	readChoice,
	readNumber,
	readSwitch,
	shown,
	type NumberRange,
} from '../../client/values';
import { checkPrompt, oneName } from '../run/parameters';
import { fromAi, inTools, notInTools, property, type FromAiArgument, type More } from './fields';

/** A field, declared once; its name and path come from the form that has it. */
export interface Declared<T> {
	/** Its properties in the editor: usually one; two where the field of a tool differs. */
	readonly properties: readonly INodeProperties[];
	/**
	 * Makes the value from what was entered. An empty value (undefined, null, blank text) means the default, as an expression
	 * gives for an empty cell.
	 *
	 * @throws InputError that names the field and the values it takes.
	 */
	readonly parse: (entered: unknown) => T;
}

/** Where the values of a form come from: a run of a node, whose expressions n8n evaluates for an item. */
export interface Entered {
	getNodeParameter(name: string, itemIndex: number, fallback: unknown): unknown;
}

/** A field of a form. */
export interface Field<T> extends Declared<T> {
	/** Reads the value of an item; otherwise as `parse`. */
	readonly read: (entered: Entered, itemIndex: number) => T;
}

export type Fields = Readonly<Record<string, Declared<unknown>>>;

/** The values of fields, by name. */
export type ValuesOf<F> = { readonly [K in keyof F]: F[K] extends Declared<infer T> ? T : never };

/**
 * Declares a form: each key is the parameter name of its field.
 *
 * @param start What the paths of the fields begin with, such as `options.`.
 * @returns The fields by name, and all of them as one: their properties in this order, and the reader of all values.
 */
export function form<F extends Fields>(declared: F, start = '') {
	const fields = mapValues(declared, ({ properties, parse }, name): Field<unknown> => ({
		properties: properties.map((property) => ({ ...property, name })),
		parse,
		read: (entered, itemIndex) =>
			parse(entered.getNodeParameter(`${start}${name}`, itemIndex, '')),
	})) as { readonly [K in keyof F]: Field<ValuesOf<F>[K]> };
	const all = Object.entries<Field<unknown>>(fields);
	const readAll = (read: (field: Field<unknown>, name: string) => unknown) =>
		Object.fromEntries(all.map(([name, field]) => [name, read(field, name)])) as ValuesOf<F>;
	return {
		fields,
		properties: all.flatMap(([, { properties }]) => properties),
		parse: (entered: unknown) => readAll(({ parse }, name) => parse(objectOf(entered)[name])),
		read: (entered: Entered, itemIndex: number) =>
			readAll(({ read }) => read(entered, itemIndex)),
	};
}

/** A field of any kind; `properties` get their name from the form. */
export function field<T>(
	properties: INodeProperties | readonly INodeProperties[],
	parse: (entered: unknown) => T,
): Declared<T> {
	return {
		properties: [properties].flat(),
		parse: (entered) => parse(isBlank(entered) ? undefined : entered),
	};
}

/** The field with other properties, or with what these have instead. */
export function changed<T>(
	declared: Declared<T>,
	change: Partial<INodeProperties> | ((property: INodeProperties) => Changed),
): Declared<T> {
	const toChanged = (made: INodeProperties): Changed =>
		typeof change === 'function' ? change(made) : { ...made, ...change };
	return { ...declared, properties: declared.properties.flatMap(toChanged) };
}

type Changed = INodeProperties | readonly INodeProperties[];

/** The fields with other properties. */
export function changedAll<F extends Fields>(
	change: (property: INodeProperties) => Changed,
	declared: F,
): F {
	return mapValues(declared, (each) => changed(each, change)) as F;
}

/** The field twice: as it is in the node, and filled by the model where the node is a tool of an agent. */
export function filledByModel<T>(declared: Declared<T>, argument: FromAiArgument): Declared<T> {
	const ofTool = { default: fromAi(argument) };
	return changed(declared, (made) => [notInTools(made), inTools({ ...made, ...ofTool })]);
}

/** The fields without a value where nothing was entered: then their defaults do not apply. */
export function optional<F extends Fields>(declared: F) {
	return mapValues(declared, ({ properties, parse }) =>
		field(properties, (entered) => (entered === undefined ? entered : parse(entered))),
	) as { readonly [K in keyof F]: Declared<ValuesOf<F>[K] | undefined> };
}

/** A notice, which has no value. */
export function notice(text: string, more: More = {}): Declared<undefined> {
	return field(property('notice', text, more), () => undefined);
}

/** Properties by their labels, as n8n's forms have them. The order of a language would have to be loaded first: 5 ms. */
const sorted = (properties: readonly INodeProperties[]) =>
	properties.toSorted((a, b) => (a.displayName < b.displayName ? -1 : 1));

/** The Options collection of a node. */
export function options<F extends Fields>(declared: F): Declared<ValuesOf<F>> {
	const { properties, parse } = form(declared);
	const more = { placeholder: 'Add option', default: {}, options: sorted(properties) };
	return field(property('collection', 'Options', more), parse);
}

interface Entries extends More {
	/** Label, name and fields of an entry. */
	readonly entry: readonly [label: string, name: string, fields: Fields];
}

/** The fields of an entry as they were entered: an expression may return anything. */
export type Entry<F extends string> = Readonly<Partial<Record<F, unknown>>>;

/** A list of entries with several fields each, as they were entered; empty unless it has a default. */
export function entries<T>(
	label: string,
	{ entry, typeOptions, ...more }: Entries,
): Declared<readonly T[]> {
	const [displayName, name, fields] = entry;
	return field(
		property('fixedCollection', label, {
			typeOptions: { multipleValues: true, ...typeOptions },
			placeholder: `Add ${displayName}`,
			default: {},
			...more,
			options: [{ displayName, name, values: form(fields).properties }],
		}),
		(entered) => (entered as Readonly<Record<string, readonly T[]>> | undefined)?.[name] ?? [],
	);
}

interface NumberDeclaration extends More, Partial<NumberRange> {
	readonly default: number;
	/** Appended to the label in parentheses. */
	readonly unit?: string;
}

/** A number with its bounds, which hold for typed values and for expressions; at least 0 unless `min` says otherwise. */
export function number(
	label: string,
	{ unit, min = 0, max, integer, default: initial, ...more }: NumberDeclaration,
): Declared<number> {
	const range: NumberRange = withoutUndefined({ min, max, integer });
	const numberPrecision = integer === true ? 0 : undefined;
	const typeOptions = withoutUndefined({ minValue: min, maxValue: max, numberPrecision });
	const displayName = unit === undefined ? label : `${label} (${unit})`;
	return field(
		property('number', displayName, { typeOptions, default: initial, ...more }),
		(entered = initial) => readNumber(entered, label, range, initial),
	);
}

/** A whole number of at least 1. */
export function count(label: string, declared: NumberDeclaration): Declared<number> {
	return number(label, { min: 1, integer: true, ...declared });
}

interface SwitchDeclaration extends More {
	/** Starts with "Whether", as n8n's forms do. */
	readonly help: string;
	readonly default?: boolean;
}

/** A switch, off by default. */
export function toggle(
	label: string,
	{ help, default: initial = false, ...more }: SwitchDeclaration,
): Declared<boolean> {
	const made = property('boolean', label, { help, default: initial, ...more });
	return field(made, (entered = initial) => readSwitch(entered, label));
}

/** A value of a list: its label, the value, and its help text if it needs one. */
type ListValue<V extends string> = readonly [
	label: string,
	value: V,
	help?: string | undefined,
	...more: unknown[],
];

interface List<V extends string> extends More {
	readonly default: V;
	readonly choices: readonly ListValue<V>[];
}

/** One of several fixed values. */
export function choice<const V extends string>(
	label: string,
	{ choices, ...more }: List<V>,
): Declared<V> {
	const values = choices.map(([, value]) => value);
	const options = choices.map(([name, value, description]) =>
		withoutUndefined({ name, value, description }),
	);
	return field(property('options', label, { ...more, options }), (entered = more.default) =>
		readChoice(entered, label, values),
	);
}

/**
 * A resource locator: choose from a list, or type a value that this package does not know.
 *
 * @param choice Name of the node's list search method, and the placeholder of the text. `empty` is that of the empty list
 *   where empty is a valid choice; n8n would show a prompt to choose.
 * @param parse Gets the trimmed value: a plain text comes from an expression for the whole field.
 */
export function locator<T>(
	label: string,
	more: More & Pick<INodeProperties, 'default'>,
	choice: { searchListMethod: string; placeholder: string; empty?: string },
	parse: (value: string) => T,
): Declared<T> {
	const { searchListMethod, placeholder, empty } = choice;
	const made = property('resourceLocator', label, {
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
	return field(made, (entered) =>
		parse(
			oneName(
				isJsonObject(entered) && 'mode' in entered ? entered['value'] : entered,
				label,
			).trim(),
		),
	);
}

/** JSON as it was entered; where nothing was, an empty list or object, as the default is one. */
export function json<T = unknown>(
	label: string,
	declared: More & { readonly default: string },
	parse = (entered: unknown) => entered as T,
): Declared<T> {
	const empty = declared.default.startsWith('[') ? '[]' : '{}';
	return field(property('json', label, declared), (entered = empty) => parse(entered));
}

/** A text for a model, see `checkPrompt`. */
export function prompt(label: string, declared: More): Declared<string> {
	return field(property('string', label, declared), (entered) => checkPrompt(entered, label));
}

/** A text that names one thing, as it was entered; empty where nothing was. */
export function text(label: string, declared: More): Declared<string> {
	return field(property('string', label, declared), (entered) => oneName(entered, label));
}

/** A short text without white space around it; where it is empty the default, but not that of an expression. */
export function trimmed(label: string, declared: More): Declared<string> {
	const initial = shown(declared.default ?? '');
	const fallback = initial.startsWith('=') ? '' : initial;
	const made = property('string', label, declared);
	return field(made, (entered) => oneName(entered, label).trim() || fallback);
}

/** Texts with commas between them, or a list from an expression. */
export function texts(label: string, declared: More): Declared<string[]> {
	return field(property('string', label, declared), (entered = []) =>
		[entered]
			.flat()
			.flatMap((each) => shown(each ?? '').split(','))
			.map((each) => each.trim())
			.filter((each) => each !== ''),
	);
}

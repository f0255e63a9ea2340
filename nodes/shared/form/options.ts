import type { INodeProperties } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { withoutUndefined } from '../../client/json';
import { isBlank, readChoice, readNumber, shown, type NumberRange } from '../../client/values';
import type { NodeContext } from '../run/nodeContext';
import { booleanField, entriesField, listField, textField, type Choice } from './fields';

/**
 * An entry of a node's Options collection, declared once: the property that the editor shows, and the typed reader of its
 * value. An empty value (undefined, null, blank text) means the default, as an expression gives for an empty cell.
 */
export interface FormOption<T> {
	readonly property: INodeProperties;
	/** @throws InputError that names the option and the values it takes. */
	readonly read: (context: NodeContext, itemIndex: number) => T;
}

/** Options by their parameter names below `options`. */
export type OptionTable<T> = { readonly [K in keyof T]: FormOption<T[K]> };

/** An option that gets its name from its key in the table, and its path below `options` from its group. */
type Unnamed<T> = (name: string, path?: string) => FormOption<T>;

type Declared<T> = { readonly [K in keyof T]: Unnamed<T[K]> };

/** Declares options; each key is the parameter name of its option. Their path below `options` begins with `start`. */
export function optionTable<T extends object>(declared: Declared<T>, start = ''): OptionTable<T> {
	const named = (option: Unnamed<unknown>, name: string) => option(name, `${start}${name}`);
	return mapTable(declared, named) as OptionTable<T>;
}

/** Declares options that the form shows together, as one entry of the Options collection. */
export function optionGroup<T extends object>(label: string, group: string, declared: Declared<T>) {
	const options = optionTable(declared, `${group}.values.`);
	const property = entriesField(label, group, {
		typeOptions: { multipleValues: false },
		default: { values: {} },
		entry: [label, 'values', propertiesOf(options)],
	});
	return { property, options };
}

/** The properties of the options, for `optionsProperty`. */
export function propertiesOf(
	options: Readonly<Record<string, FormOption<unknown>>>,
): INodeProperties[] {
	return Object.values(options).map(({ property }) => property);
}

/**
 * The values of all options of a table, by name.
 *
 * @throws InputError for the first one that is invalid.
 */
export function readOptions<T extends object>(
	options: OptionTable<T>,
	context: NodeContext,
	itemIndex: number,
): T {
	return mapTable(options, ({ read }: FormOption<unknown>) => read(context, itemIndex)) as T;
}

function mapTable<V>(table: object, map: (value: V, name: string) => unknown): object {
	const entries = Object.entries<V>(table as Record<string, V>);
	return Object.fromEntries(entries.map(([name, value]) => [name, map(value, name)]));
}

/**
 * An option of any kind.
 *
 * @param property Gets the name of the option.
 * @param parse Makes the value of the option from what was entered; undefined if that is empty.
 */
export function option<T>(property: INodeProperties, parse: (entered: unknown) => T): Unnamed<T> {
	return (name, path = name) => ({
		property: { ...property, name },
		read(context, itemIndex) {
			const entered: unknown = context.getNodeParameter(`options.${path}`, itemIndex, '');
			return parse(isBlank(entered) ? undefined : entered);
		},
	});
}

interface Declaration<T> {
	readonly help: string;
	readonly default: T;
}

interface NumberDeclaration extends Declaration<number>, Partial<NumberRange> {
	/** Appended to the label in parentheses. */
	readonly unit?: string;
}

/** A number with its bounds, which hold for typed values and for expressions; at least 0 unless `min` says otherwise. */
export function numberOption(label: string, declared: NumberDeclaration): Unnamed<number> {
	const { unit, help, default: initial } = declared;
	const range: NumberRange = { min: 0, ...declared };
	const typeOptions = withoutUndefined({
		minValue: range.min,
		maxValue: range.max,
		numberPrecision: range.integer === true ? 0 : undefined,
	});
	return option(
		{
			displayName: unit === undefined ? label : `${label} (${unit})`,
			name: '',
			type: 'number',
			typeOptions,
			default: initial,
			description: help,
		},
		(entered = initial) => readNumber(entered, label, range, initial),
	);
}

/** A whole number of at least 1. */
export function countOption(label: string, declared: NumberDeclaration): Unnamed<number> {
	return numberOption(label, { min: 1, integer: true, ...declared });
}

interface SwitchDeclaration {
	/** Starts with "Whether", as n8n's forms do. */
	readonly help: string;
	readonly default?: boolean;
	/** Whether a value that is neither on nor off is an error. Otherwise it is off. */
	readonly isStrict?: boolean;
}

/** A switch, off by default. */
export function booleanOption(
	label: string,
	{ help, default: initial = false, isStrict = false }: SwitchDeclaration,
): Unnamed<boolean> {
	return option({ ...booleanField(label, '', help), default: initial }, (entered = initial) =>
		readSwitch(entered, label, isStrict),
	);
}

/**
 * Reads a switch. An expression may return it as text, such as the TRUE of a spreadsheet, or as 1 from a database.
 *
 * @throws InputError for a value that is neither on nor off; if `isStrict` is false, that is off.
 */
export function readSwitch(value: unknown, label: string, isStrict = true): boolean {
	const text = shown(value).trim().toLowerCase();
	if (!isStrict || ['true', 'false', '1', '0'].includes(text))
		return text === 'true' || text === '1';
	throw new InputError(label, `is ${shown(value)}`, 'Enter true or false');
}

/** One of several fixed values. */
export function choiceOption<V extends string>(
	label: string,
	{ choices, help, ...more }: Declaration<V> & { readonly choices: readonly Choice<V>[] },
): Unnamed<V> {
	const values = choices.map(([, value]) => value);
	return option(
		listField(label, '', { choices, description: help, ...more }),
		(entered = more.default) => readChoice(entered, label, values),
	);
}

interface TextDeclaration extends Declaration<string> {
	/** What an empty text means; the default, unless that is an expression. */
	readonly fallback?: string;
	readonly placeholder?: string;
}

/** A short text. Leading and trailing white space is removed. */
export function textOption(
	label: string,
	{ help, fallback, ...more }: TextDeclaration,
): Unnamed<string> {
	return option(
		textField(label, '', { description: help, ...more }),
		(entered = '') => shown(entered).trim() || (fallback ?? more.default),
	);
}

/** Texts with commas between them, or a list from an expression. */
export function textsOption(label: string, { help, ...more }: TextDeclaration): Unnamed<string[]> {
	return option(textField(label, '', { description: help, ...more }), (entered = []) =>
		[entered]
			.flat()
			.flatMap((each) => shown(each).split(','))
			.map((text) => text.trim())
			.filter((text) => text !== ''),
	);
}

/** The Options collection of a node: the most used option comes first. */
export function optionsProperty(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options,
	};
}

import type { INodeProperties } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import type { NodeContext } from '../run/nodeContext';

/**
 * An entry of a node's Options collection, declared once: the property that the editor shows, and the typed reader of its
 * value. An empty value (undefined, null, blank text) means the default, as an expression gives for an empty cell.
 */
export interface FormOption<T> {
	readonly property: INodeProperties;
	/** @throws InputError that names the option and the values it takes. */
	readonly read: (context: NodeContext, itemIndex: number) => T;
}

interface OptionDeclaration<T> {
	/** Parameter name below `options`. */
	readonly name: string;
	/** Display name, without a unit. */
	readonly label: string;
	readonly help: string;
	readonly default: T;
}

export interface NumberDeclaration extends OptionDeclaration<number> {
	/** Appended to the label in parentheses. */
	readonly unit?: string;
	readonly min: number;
	readonly max?: number;
	/** Whether only whole numbers are allowed. */
	readonly integer?: boolean;
}

/** A number with its bounds, which hold for typed values and for expressions. */
export function numberOption(declaration: NumberDeclaration): FormOption<number> {
	const { name, label, unit, help, default: fallback, min, max, integer = false } = declaration;
	const kind = integer ? 'a whole number' : 'a number';
	const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
	return {
		property: {
			displayName: unit === undefined ? label : `${label} (${unit})`,
			name,
			type: 'number',
			typeOptions: {
				minValue: min,
				...(max === undefined ? {} : { maxValue: max }),
				...(integer ? { numberPrecision: 0 } : {}),
			},
			default: fallback,
			description: help,
		},
		read(context, itemIndex) {
			const value = rawValue(context, name, itemIndex) ?? fallback;
			const number = typeof value === 'string' ? Number(value) : value;
			const isValid =
				typeof number === 'number' &&
				number >= min &&
				number <= (max ?? Number.MAX_VALUE) &&
				(!integer || Number.isInteger(number));
			if (isValid) return number;
			throw new InputError(
				label,
				`is ${shown(value)}`,
				`Enter ${kind} ${range}, e.g. ${fallback}`,
			);
		},
	};
}

/** A switch. Its help text starts with "Whether", as n8n's forms do. */
export function booleanOption(
	declaration: Omit<OptionDeclaration<boolean>, 'default'>,
): FormOption<boolean> {
	const { name, label, help } = declaration;
	return {
		property: { displayName: label, name, type: 'boolean', default: false, description: help },
		read: (context, itemIndex) => rawValue(context, name, itemIndex) === true,
	};
}

export interface ChoiceDeclaration<V extends string> extends OptionDeclaration<V> {
	readonly choices: readonly {
		readonly value: V;
		readonly label: string;
		readonly help?: string;
	}[];
}

/** One of several fixed values. */
export function choiceOption<V extends string>(declaration: ChoiceDeclaration<V>): FormOption<V> {
	const { name, label, help, default: fallback, choices } = declaration;
	return {
		property: {
			displayName: label,
			name,
			type: 'options',
			options: choices.map((choice) => ({
				name: choice.label,
				value: choice.value,
				...(choice.help === undefined ? {} : { description: choice.help }),
			})),
			default: fallback,
			description: help,
		},
		read(context, itemIndex) {
			const value = rawValue(context, name, itemIndex) ?? fallback;
			const chosen = choices.find((choice) => choice.value === value);
			if (chosen !== undefined) return chosen.value;
			const values = choices.map((choice) => choice.value).join(', ');
			throw new InputError(label, `is ${shown(value)}`, `Choose one of: ${values}`);
		},
	};
}

export interface TextDeclaration extends OptionDeclaration<string> {
	/** What an empty text means; the default, unless that is an expression. */
	readonly fallback?: string;
	readonly placeholder?: string;
}

/** A short text. Leading and trailing white space is removed. */
export function textOption(declaration: TextDeclaration): FormOption<string> {
	const { name, label, help, default: initial, fallback = initial, placeholder } = declaration;
	return {
		property: {
			displayName: label,
			name,
			type: 'string',
			default: initial,
			...(placeholder === undefined ? {} : { placeholder }),
			description: help,
		},
		read(context, itemIndex) {
			const value = rawValue(context, name, itemIndex);
			return value === undefined ? fallback : shown(value).trim() || fallback;
		},
	};
}

/** The Options collection of a node, sorted by display name as n8n does. */
export function optionsProperty(properties: readonly INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [...properties].sort((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}

function rawValue(context: NodeContext, name: string, itemIndex: number): unknown {
	const value: unknown = context.getNodeParameter(`options.${name}`, itemIndex, '');
	const isEmpty = value === null || (typeof value === 'string' && value.trim() === '');
	return isEmpty ? undefined : value;
}

function shown(value: unknown): string {
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

import {
	updateDisplayOptions,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
} from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { isJsonObject, objectOf } from '../../client/json';
import { isBlank } from '../../client/values';
import { KEPT_UNSEEN } from '../engine/workflow';

/** A field, or a list of a fixed collection. */
export type FormPlace = Pick<INodeProperties, 'name' | 'hint'> &
	Partial<Pick<INodeProperties, 'type' | 'options'> & INodePropertyCollection>;

/** What a value has below a field: the fields of a collection or of an entry, or the lists of a fixed collection. */
export function placesBelow({ type, options = [], values }: FormPlace): readonly FormPlace[] {
	return values ?? (type?.toLowerCase().endsWith('collection') ? options : []);
}

/** The names of fields, and below them, each with the path of its value. A stray has that of where it belongs as its hint. */
function pathsOf(fields: readonly FormPlace[], start = ''): [name: string, path: string][] {
	return fields.flatMap((each) => {
		const path = isStray(each) ? each.hint! : `${start}${each.name}`;
		return [[each.name, path], ...pathsOf(placesBelow(each), `${path}.`)];
	});
}

const isStray = ({ type, hint }: FormPlace) => type === 'hidden' && hint !== undefined;

/** Pairs of adjacent letters. */
const pairsOf = (name: string) =>
	new Set(Array.from(name, (_letter, index) => name.toLowerCase().slice(index, index + 2)));

/** How alike two names are, from 0 to 1. */
function likeness(name: string, other: string): number {
	const [own, others] = [pairsOf(name), pairsOf(other)];
	const shared = [...own].filter((pair) => others.has(pair)).length;
	return (2 * shared) / (own.size + others.size);
}

/**
 * Checks that each stored parameter has a name that the form has, at its level. Values are not checked, nor what the form hides.
 *
 * @throws InputError that names the nearest place.
 */
export function checkNames(parameters: INodeParameters, properties: readonly FormPlace[]): void {
	const at = (path: string) =>
		path.split('.').reduce<unknown>((value, name) => objectOf(value)[name], parameters);

	function check(values: unknown, fields: readonly FormPlace[], start: string): void {
		if (isBlank(values) || (typeof values === 'string' && values.startsWith('='))) return;
		if (!isJsonObject(values)) {
			const names = [...new Set(fields.map(({ name }) => name))].join(', ');
			throw new InputError(
				start.slice(0, -1),
				'has another shape',
				`Write an object with ${names}`,
			);
		}
		for (const [name, value] of Object.entries(values)) {
			const found = fields.filter((field) => field.name === name && !isStray(field));
			const next = found.flatMap(placesBelow);
			if (next.length > 0)
				for (const each of [value].flat()) check(each, next, `${start}${name}.`);
			if (found.length > 0 || isBlank(value)) continue;
			const strays = pathsOf(properties.filter(isStray));
			const paths = pathsOf(properties.filter((each) => !isStray(each)));
			const near = start === '' ? paths : paths.filter(([, path]) => path.startsWith(start));
			const [alike] = near.toSorted(([a], [b]) => likeness(name, b) - likeness(name, a));
			const [, path] = [...paths, ...strays].find(([each]) => each === name) ?? alike!;
			// So that who cannot remove it in the editor can enter it at its place.
			if (JSON.stringify(at(path)) === JSON.stringify(value)) continue;
			const hint = `Write ${path} instead, or remove it. Nothing was sent`;
			throw new InputError(`${start}${name}`, 'is no parameter of this node', hint);
		}
	}
	check(parameters, properties, '');
}

const MISPLACED = { displayName: 'Misplaced', default: '', ...KEPT_UNSEEN } as const;
const IS_SET = [{ _cnd: { exists: true } }] as const;

/**
 * A list or collection whose conditions begin at the root. Where one names a field, n8n's editor empties the list once that
 * field changes, such as the files of a video with another model.
 */
function fromRoot(field: INodeProperties): INodeProperties {
	const { show, hide } = field.displayOptions ?? {};
	const rooted = (conditions: NonNullable<typeof hide>) =>
		Object.fromEntries(
			Object.entries(conditions).map(([name, values]) => [
				name.replace(/^(?![/@])/, '/'),
				values,
			]),
		);
	const displayOptions = {
		...(show && { show: rooted(show) }),
		...(hide && { hide: rooted(hide) }),
	};
	return { ...field, ...(field.displayOptions && { displayOptions }) };
}

/**
 * The form of a node, with what n8n would drop before `checkNames` sees it: options that stand beside their collection, and what
 * a collection holds in another shape. Where it holds a list, n8n fills in the defaults of its entries, and drops other names.
 *
 * @param others More names that somebody may write at the top, with the paths where their values belong.
 */
export function withStrays(
	properties: readonly INodeProperties[],
	others: Readonly<Record<string, string>> = {},
): INodeProperties[] {
	const paths = pathsOf(properties.filter(({ name }) => name === 'options')).slice(1);
	const strays = new Map([...paths, ...Object.entries(others)]);
	for (const { name } of properties) strays.delete(name);
	const twinOf = (field: INodeProperties) => {
		const { name, default: initial, displayOptions } = field;
		const lists = placesBelow(field).filter(({ values }) => values);
		const hide = Object.fromEntries(lists.map((list) => [`${name}.${list.name}`, [...IS_SET]]));
		const twin = { ...MISPLACED, name, default: initial };
		const shown = updateDisplayOptions({ ...twin.displayOptions, hide }, [twin]);
		return displayOptions ? updateDisplayOptions(displayOptions, shown) : shown;
	};
	return [
		...properties.flatMap((each) =>
			placesBelow(each).length === 0 ? [each] : [fromRoot(each), ...twinOf(each)],
		),
		...[...strays].map(([name, hint]) => ({ ...MISPLACED, name, hint })),
	];
}

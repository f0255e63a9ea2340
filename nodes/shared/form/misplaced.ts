import { updateDisplayOptions, type INodeProperties } from 'n8n-workflow';

import { KEPT_UNSEEN } from '../engine/form';
import { pathsOf, placesBelow, type Place } from '../run/names';

const MISPLACED = { displayName: 'Misplaced', default: '', ...KEPT_UNSEEN } as const;
const IS_SET = [{ _cnd: { exists: true } }] as const;

/** The paths of the lists and groups of a field. */
const listsOf = (field: Place, path: string): string[] =>
	field.values
		? [path]
		: placesBelow(field).flatMap((each) => listsOf(each, `${path}.${each.name}`));

/**
 * The form of a node, with what n8n would drop before `checkNames` sees it: options that stand beside their collection, and what
 * a collection holds in another shape. Where it holds a list or a group, n8n fills in the defaults, and drops other names.
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
		const hide = Object.fromEntries(listsOf(field, name).map((path) => [path, [...IS_SET]]));
		const twin = { ...MISPLACED, name, default: initial };
		const shown = updateDisplayOptions({ ...twin.displayOptions, hide }, [twin]);
		return displayOptions ? updateDisplayOptions(displayOptions, shown) : shown;
	};
	return [
		...properties.flatMap((each) =>
			placesBelow(each).length === 0 ? [each] : [each, ...twinOf(each)],
		),
		...[...strays].map(([name, hint]) => ({ ...MISPLACED, name, hint })),
	];
}

import {
	NodeHelpers,
	type INode,
	type INodeParameters,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
	type INodeTypeDescription,
	type NodeParameterValueType,
} from 'n8n-workflow';

import { isSeen } from './fieldTables';

/** What belongs to the fields of a form: a node, the tool that n8n makes of it, or a credential. */
export interface FormOwner {
	/** Its name in n8n; the name of a tool ends with `Tool`. */
	readonly name: string;
	readonly typeVersion: number;
	readonly properties: INodeProperties[];
}

/** The parameters of a node as a workflow stores them, and as the editor shows them: with the defaults. */
export interface FilledForm {
	readonly saved: INodeParameters;
	readonly shown: INodeParameters;
}

type Values = Record<string, NodeParameterValueType>;

/** Fills the form of a node until every field that it can show and every choice of a list has been used at least once. */
export function savedForms(owner: FormOwner): readonly FilledForm[] {
	const forms = new Map<string, FilledForm>();
	for (const values of filledForms(owner.properties, owner)) {
		// The first pass may keep a field that another one, left out by the same pass, hides.
		const saved = savedParameters(owner, savedParameters(owner, values));
		forms.set(JSON.stringify(saved), { saved, shown: shownParameters(owner, saved) });
	}
	return [...forms.values()];
}

/** The paths of the fields, such as `options.temperature`, that none of these forms has. */
export function unusedFields(
	properties: readonly INodeProperties[],
	forms: readonly FilledForm[],
): readonly string[] {
	const used = new Set(forms.flatMap(({ saved }) => [...usedPaths(saved)]));
	return fieldPaths(properties).filter((path) => !used.has(path));
}

/** The parameters as n8n stores them in a workflow: without defaults and without what the form does not show. */
export function savedParameters(owner: FormOwner, values: INodeParameters): INodeParameters {
	return parameters(owner, values, false);
}

/** The parameters as the editor shows them and as the node gets them. */
export function shownParameters(owner: FormOwner, saved: INodeParameters): INodeParameters {
	return parameters(owner, saved, true);
}

/** The values in these parameters that the list of their field does not offer, each with the name of the field. */
export function unsupportedValues(owner: FormOwner, saved: INodeParameters): readonly string[] {
	const shown = shownParameters(owner, saved);
	const visible = owner.properties
		.filter(isSeen)
		.filter((property) =>
			NodeHelpers.displayParameter(shown, property, nodeOf(owner), describe(owner)),
		);
	return unofferedValues(visible, shown);
}

function unofferedValues(properties: readonly INodeProperties[], values: unknown): string[] {
	if (Array.isArray(values)) return values.flatMap((each) => unofferedValues(properties, each));
	return Object.entries(values as INodeParameters).flatMap(([name, value]) => {
		const fields = properties.filter((property) => property.name === name);
		const nested = fields.flatMap(nestedFields);
		if (nested.length > 0) {
			const groups = fields.every(({ type }) => type === 'collection')
				? [value]
				: Object.values(value as INodeParameters);
			return groups.flatMap((group) => unofferedValues(nested, group));
		}
		const offered = fields.flatMap(({ type, options = [] }) =>
			type === 'options'
				? options.map((option) => (option as INodePropertyOptions).value)
				: [],
		);
		if (offered.length === 0 || offered.includes(value as string)) return [];
		return [`${name}: ${JSON.stringify(value)}`];
	});
}

function parameters(owner: FormOwner, values: INodeParameters, withDefaults: boolean) {
	return NodeHelpers.getNodeParameters(
		owner.properties,
		values,
		withDefaults,
		false,
		nodeOf(owner),
		describe(owner),
	)!;
}

const nodeOf = ({ name, typeVersion }: FormOwner): INode => ({
	id: name,
	name,
	type: name,
	typeVersion,
	position: [0, 0],
	parameters: {},
});

/** n8n recognizes a tool by the name in its description. */
const describe = (owner: FormOwner) => owner as unknown as INodeTypeDescription;

/** Values of a list of fields, so many that every value that can be shown is in at least one of them. */
function filledForms(properties: readonly INodeProperties[], owner: FormOwner): readonly Values[] {
	const fields = properties
		.filter((property) => property.type !== 'notice' && isSeen(property))
		.map((property) => ({ property, candidates: candidates(property, properties, owner) }));
	const isShown = (property: INodeProperties, values: Values) =>
		NodeHelpers.displayParameter(
			values,
			properties === owner.properties ? property : withoutOuterConditions(property),
			nodeOf(owner),
			describe(owner),
		);
	// Entries are filled in every form: what they show is shown then.
	const controls = fields.filter(
		({ property: { name, type } }) =>
			type !== 'fixedCollection' && conditionsOn(name, properties).length > 0,
	);
	const used = new Set<string>();
	/** Whether this value of a field is in no form yet, as n8n would save it; from now on it is. */
	const isFirstUse = (
		{ property }: (typeof fields)[number],
		value: NodeParameterValueType,
		form: Values,
	) => {
		const saved =
			properties === owner.properties
				? savedParameters(owner, { ...form, [property.name]: value })[property.name]
				: value;
		const use = `${properties.indexOf(property)} ${JSON.stringify(saved)}`;
		const isFirst = !used.has(use);
		used.add(use);
		return isFirst;
	};
	const forms: Values[] = [];
	const tried = new Set<string>();
	const pending: Values[] = [{}];
	for (let chosen = pending.shift(); chosen !== undefined; chosen = pending.shift()) {
		const shown = {
			...Object.fromEntries(
				controls.map(({ property }) => [property.name, defaultOf(property)]),
			),
			...chosen,
		};
		const showing = controls.filter(({ property }) => isShown(property, shown));
		const key = JSON.stringify(showing.map(({ property: { name } }) => [name, shown[name]]));
		if (tried.has(key)) continue;
		tried.add(key);
		for (const { property, candidates: choices } of showing)
			for (const choice of choices) pending.push({ ...chosen, [property.name]: choice });

		const others = fields.filter(
			(field) => !controls.includes(field) && isShown(field.property, shown),
		);
		let isNew = showing
			.map((field) => isFirstUse(field, shown[field.property.name], shown))
			.includes(true);
		// The same form again, as long as one of its fields has a value that no form has.
		for (; ; isNew = false) {
			const values: Values = { ...shown };
			for (const field of others) {
				const choice = field.candidates.find((each) => isFirstUse(field, each, shown));
				isNew ||= choice !== undefined;
				values[field.property.name] = choice ?? field.candidates[0]!;
			}
			if (!isNew) break;
			forms.push(values);
		}
	}
	return forms;
}

/** The default as n8n hands it to conditions: a chosen resource has a mark. */
function defaultOf({ type, default: byDefault }: INodeProperties): NodeParameterValueType {
	return type === 'resourceLocator' ? { __rl: true, ...(byDefault as object) } : byDefault;
}

/** A field of a collection without the conditions on fields outside of it: n8n drops what they hide when it saves. */
function withoutOuterConditions(property: INodeProperties): INodeProperties {
	const { show = {}, hide = {} } = property.displayOptions ?? {};
	const inner = (conditions: object) =>
		Object.fromEntries(Object.entries(conditions).filter(([name]) => !name.startsWith('/')));
	return { ...property, displayOptions: { show: inner(show), hide: inner(hide) } };
}

/** The values of a field that decide whether others are shown. */
function conditionsOn(name: string, properties: readonly INodeProperties[]): readonly unknown[] {
	return properties.flatMap((property) => {
		const { show, hide } = property.displayOptions ?? {};
		return [
			...[show, hide].flatMap((conditions) => conditions?.[name] ?? []),
			...conditionsOn(name.startsWith('/') ? name : `/${name}`, nestedFields(property)),
		];
	});
}

function nestedFields({ type, options = [] }: INodeProperties): readonly INodeProperties[] {
	if (type === 'collection') return options as INodeProperties[];
	if (type !== 'fixedCollection') return [];
	return (options as INodePropertyCollection[]).flatMap(({ values }) => values);
}

/** Values to fill into a field. */
function candidates(
	property: INodeProperties,
	siblings: readonly INodeProperties[],
	owner: FormOwner,
): readonly NodeParameterValueType[] {
	const { type, name, default: byDefault, options = [], typeOptions = {} } = property;
	switch (type) {
		case 'options':
			return (options as INodePropertyOptions[]).map(({ value }) => value);
		case 'hidden':
			// Nobody can change it.
			return [byDefault];
		case 'boolean':
			return [true, false];
		case 'number':
			return [sampleNumber(Number(byDefault), typeOptions)];
		case 'json':
			return ['{ "type": "object" }'];
		case 'resourceLocator':
			return property.modes!.flatMap(({ name: mode }) => {
				const values = conditionsOn(name, siblings).filter(
					(value) => typeof value === 'string',
				);
				return [...new Set([...values, `sample-${mode}`])].map((value) => ({
					__rl: true,
					mode,
					value,
				}));
			});
		case 'collection':
			return filledForms(options as INodeProperties[], owner);
		case 'fixedCollection': {
			const groups = options as INodePropertyCollection[];
			if (typeOptions.multipleValues === true) {
				return [
					Object.fromEntries(
						groups.map((group) => [group.name, [...filledForms(group.values, owner)]]),
					),
				];
			}
			return groups.flatMap((group) =>
				filledForms(group.values, owner).map((values) => ({ [group.name]: values })),
			);
		}
		case 'string':
			return typeOptions.multipleValues === true ? [[`sample ${name}`]] : [`sample ${name}`];
		default:
			throw new Error(`${owner.name}: no sample value for ${name} of type ${type}`);
	}
}

/** A number within the limits of the field that is not its default. */
function sampleNumber(
	byDefault: number,
	{ minValue = -Infinity, maxValue = Infinity }: INodeProperties['typeOptions'] & object,
): number {
	const wanted = [byDefault + 1, byDefault - 1, maxValue, minValue];
	return wanted.find((value) => value !== byDefault && value >= minValue && value <= maxValue)!;
}

/** The paths of all fields, such as `options.temperature`. */
function fieldPaths(properties: readonly INodeProperties[], prefix = ''): readonly string[] {
	const paths = properties
		.filter(({ type }) => type !== 'notice' && type !== 'hidden')
		.flatMap(({ type, name, options = [] }) => {
			const path = `${prefix}${name}`;
			if (type === 'collection') return fieldPaths(options as INodeProperties[], `${path}.`);
			if (type !== 'fixedCollection') return [path];
			return (options as INodePropertyCollection[]).flatMap((group) =>
				fieldPaths(group.values, `${path}.${group.name}.`),
			);
		});
	return [...new Set(paths)];
}

/** The paths of all values, without the positions in lists. */
function usedPaths(value: unknown, prefix = ''): ReadonlySet<string> {
	if (typeof value !== 'object' || value === null) return new Set([prefix]);
	if (Array.isArray(value)) return new Set(value.flatMap((each) => [...usedPaths(each, prefix)]));
	return new Set([
		prefix,
		...Object.entries(value).flatMap(([name, each]) => [
			...usedPaths(each, prefix === '' ? name : `${prefix}.${name}`),
		]),
	]);
}

import type {
	IDataObject,
	INodeProperties,
	INodePropertyCollection,
	INodeType,
} from 'n8n-workflow';

/** Puts each option that the form has in a group, such as `concurrency`, into it: a test names it without the group. */
export function groupedOptions(type: INodeType, parameters: IDataObject): IDataObject {
	const { options } = parameters;
	if (typeof options !== 'object' || options === null) return parameters;
	const collection = type.description.properties.find(({ name }) => name === 'options');
	const grouped = { ...(options as IDataObject) };
	for (const { name: group, options: [entry] = [] } of groupsOf(collection)) {
		const { values } = entry as INodePropertyCollection;
		const names = values.map(({ name }) => name).filter((name) => isPlain(grouped[name]));
		if (names.length === 0) continue;
		const inner = Object.fromEntries(names.map((name) => [name, grouped[name]]));
		for (const name of names) if (name !== group) Reflect.deleteProperty(grouped, name);
		grouped[group] = { values: inner };
	}
	return { ...parameters, options: grouped };
}

function groupsOf(collection: INodeProperties | undefined): INodeProperties[] {
	const options = (collection?.options ?? []) as INodeProperties[];
	return options.filter(({ type }) => type === 'fixedCollection');
}

/** Whether an option is set, and not the group of the same name. */
function isPlain(value: unknown): boolean {
	return (
		value !== undefined && !(typeof value === 'object' && value !== null && 'values' in value)
	);
}

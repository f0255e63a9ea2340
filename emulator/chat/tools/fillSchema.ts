import type { Evidence } from './evidence';
import { fillText, mentioned, namedList, namedValue } from './fillText';
import { resolveSchema, typeOf, type Schema } from './schema';

interface Filling {
	readonly evidence: Evidence;
	/** The whole schema, for references. */
	readonly root: unknown;
	readonly depth: number;
	/** How many more values may be made. */
	readonly budget: { left: number };
}

const MOST_DEPTH = 6;

function fillNumber(schema: Schema, { numbers }: Evidence, step: number): number {
	const { multipleOf = step } = schema;
	const least = schema.minimum ?? (schema.exclusiveMinimum ?? -Infinity) + multipleOf;
	const most = schema.maximum ?? (schema.exclusiveMaximum ?? Infinity) - multipleOf;
	const wanted = numbers.shift() ?? (typeof schema.default === 'number' ? schema.default : 1);
	const bounded = Math.min(Math.max(wanted, least), most);
	if (multipleOf === 0) return bounded;

	const rounded = Math.round(bounded / multipleOf) * multipleOf;
	const value =
		rounded < least ? rounded + multipleOf : rounded > most ? rounded - multipleOf : rounded;
	return Number(value.toPrecision(12));
}

function fillArray(schema: Schema, name: string, filling: Filling): readonly unknown[] {
	const { minItems = 0, maxItems = Infinity } = schema;
	const named = namedList(name, filling.evidence);
	const subjects = named.length > 0 ? named : filling.evidence.subjects;
	const count = Math.min(Math.max(subjects.length, minItems, 1), maxItems);
	return Array.from({ length: count }, (_, index) => {
		const subject = subjects[index] ?? `${subjects[0]!} ${index + 1}`;
		const evidence = { ...filling.evidence, text: subject, subject, subjects: [subject] };
		return fillSchema(schema.items, name.replace(/s$/, ''), { ...filling, evidence });
	});
}

/** Whether a message says something about a property that need not be given. */
function isMentioned(name: string, value: unknown, { evidence, root }: Filling): boolean {
	const schema = resolveSchema(value, root);
	if (schema.enum) return mentioned(schema.enum, evidence) !== undefined;
	if (typeOf(schema) === 'string') return namedValue(name, evidence) !== undefined;
	return typeOf(schema) !== 'object' && evidence.text.toLowerCase().includes(name.toLowerCase());
}

function fillObject(schema: Schema, filling: Filling): Readonly<Record<string, unknown>> {
	const { properties = {}, required = [] } = schema;
	const names = Object.keys(properties);
	const wanted = names.filter(
		(name) => required.includes(name) || isMentioned(name, properties[name], filling),
	);
	// A tool that demands nothing is still told what the message is about.
	const first = names.find(
		(name) => typeOf(resolveSchema(properties[name], filling.root)) === 'string',
	);
	const chosen = wanted.length > 0 || first === undefined ? wanted : [first];
	const missing = required.filter((name) => !names.includes(name));
	return Object.fromEntries(
		[...chosen, ...missing].map((name) => [name, fillSchema(properties[name], name, filling)]),
	);
}

/** How a value of each type is found. */
const FILLERS: Readonly<
	Record<string, (schema: Schema, name: string, filling: Filling) => unknown>
> = {
	string: (schema, name, { evidence }) => fillText(schema, name, evidence),
	integer: (schema, _name, { evidence }) => fillNumber(schema, evidence, 1),
	number: (schema, _name, { evidence }) => fillNumber(schema, evidence, 0),
	boolean: (_schema, _name, { evidence }) => !/\b(?:no|not|without|don't)\b/i.test(evidence.text),
	null: () => null,
	array: fillArray,
	object: (schema, _name, filling) => fillObject(schema, filling),
};

/** A value that satisfies a JSON schema, taken from what the message offers. */
export function fillSchema(value: unknown, name: string, filling: Filling): unknown {
	const schema = resolveSchema(value, filling.root);
	if (filling.depth > MOST_DEPTH || filling.budget.left-- <= 0) return null;
	if ('const' in schema) return schema.const;
	if (schema.enum) return mentioned(schema.enum, filling.evidence) ?? schema.enum[0] ?? null;
	const fill = FILLERS[typeOf(schema)] ?? FILLERS['null']!;
	return fill(schema, name, { ...filling, depth: filling.depth + 1 });
}

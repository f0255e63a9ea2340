import { bare } from '../../json';
import { classifyOne } from '../generation/classify';
import { recordsIn, type Entities } from './entities';
import { namedValue } from '../generation/fields';
import { extractKeywords } from '../generation/words';
import { fillString, namedList } from './fillString';
import { resolveSchema, schemaType, type JsonSchema } from './schema';

/** Writes the value of a key; undefined leaves it out. */
export type WriteValue = (
	key: string,
	about: {
		readonly schema: JsonSchema;
		/** Undefined if the schema has none. */
		readonly type: string | undefined;
		readonly turn: number;
		/** The part of the message that the value is from. */
		readonly text: string;
		readonly isOptional: boolean;
	},
) => unknown;

/** State of the generation of one set of arguments. */
interface FillContext {
	readonly entities: Entities;
	/** Root schema, for `$ref`. */
	readonly root: unknown;
	/** Writes the value of a key instead of taking it from the entities: of an answer, and not of arguments. */
	readonly write?: WriteValue;
	/** Whether the schema does not require the value. */
	readonly isOptional?: boolean;
	/** Position in a list, so that its values differ. */
	readonly turn?: number;
	readonly depth?: number;
	/** Number of values that may still be generated. */
	readonly budget?: { left: number };
}

const MAX_DEPTH = 6;
/** Limit of generated values, because schemas can nest lists in lists; the rest is null. */
const MAX_VALUES = 500;

function fillNumber(schema: JsonSchema, { numbers }: Entities, step: number): number {
	const { multipleOf = step } = schema;
	const min = schema.minimum ?? (schema.exclusiveMinimum ?? -Infinity) + multipleOf;
	const max = schema.maximum ?? (schema.exclusiveMaximum ?? Infinity) - multipleOf;
	const wanted = numbers.shift() ?? (typeof schema.default === 'number' ? schema.default : 1);
	const bounded = Math.min(Math.max(wanted, min), max);
	if (multipleOf === 0) return bounded;

	const rounded = Math.round(bounded / multipleOf) * multipleOf;
	const value =
		rounded < min ? rounded + multipleOf : rounded > max ? rounded - multipleOf : rounded;
	return Number(value.toPrecision(12));
}

function fillArray(schema: JsonSchema, name: string, context: FillContext): readonly unknown[] {
	const { minItems = 0, maxItems = Infinity } = schema;
	const named = context.write ? [] : namedList(name, context.entities);
	const isObject = schemaType(resolveSchema(schema.items, context.root)) === 'object';
	const parts = isObject && context.write ? recordsIn(context.entities.text) : named;
	const subjects = parts.length > 0 ? parts : context.entities.subjects;
	const count = Math.min(Math.max(subjects.length, minItems, 1), maxItems);
	return Array.from({ length: count }, (_, index) => {
		const subject = subjects[index] ?? `${subjects[0]!} ${index + 1}`;
		const entities = { ...context.entities, text: subject, subject, subjects: [subject] };
		const { write, ...rest } = context;
		return fillSchema(schema.items, name.replace(/s$/, ''), {
			...rest,
			...(isObject && write ? { write, turn: index } : {}),
			entities: isObject && write && parts.length === 0 ? context.entities : entities,
		});
	});
}

/** Whether the message mentions an optional property. */
function isMentioned(name: string, value: unknown, { entities, root }: FillContext): boolean {
	const schema = resolveSchema(value, root);
	const known = extractKeywords(entities.text);
	const wanted = schema.enum?.map((one) => extractKeywords(String(one)));
	if (wanted)
		return wanted.some((words) => words[0] && words.every((word) => known.includes(word)));
	if (schemaType(schema) === 'string') return namedValue(name, entities.text) !== undefined;
	return (
		schemaType(schema) !== 'object' && entities.text.toLowerCase().includes(name.toLowerCase())
	);
}

function fillObject(schema: JsonSchema, context: FillContext): Readonly<Record<string, unknown>> {
	const { properties = {}, required = [] } = schema;
	const names = Object.keys(properties);
	const wanted = names.filter(
		(name) =>
			context.write !== undefined ||
			required.includes(name) ||
			isMentioned(name, properties[name], context),
	);
	// Without required or mentioned properties, the first string property gets the subject.
	const first = names.find(
		(name) => schemaType(resolveSchema(properties[name], context.root)) === 'string',
	);
	const chosen = wanted.length > 0 || first === undefined ? wanted : [first];
	const missing = required.filter((name) => !names.includes(name));
	return Object.fromEntries(
		[...chosen, ...missing]
			.map((name): [string, unknown] => {
				const isOptional = !required.includes(name);
				return [name, fillSchema(properties[name], name, { ...context, isOptional })];
			})
			.filter(([, value]) => value !== undefined),
	);
}

/** Generators by JSON schema type. */
const FILLERS = bare<
	Readonly<Record<string, (schema: JsonSchema, name: string, context: FillContext) => unknown>>
>({
	string: (schema, name, { entities }) => fillString(schema, name, entities),
	integer: (schema, _name, { entities }) => fillNumber(schema, entities, 1),
	number: (schema, _name, { entities }) => fillNumber(schema, entities, 0),
	boolean: (_schema, _name, { entities }) => !/\b(?:no|not|without|don't)\b/i.test(entities.text),
	null: () => null,
	array: fillArray,
	object: (schema, _name, context) => fillObject(schema, context),
});

/** Entities with a written value in the place of what a value of its type is made from. */
function withWritten(entities: Entities, value: unknown): Entities {
	if (typeof value === 'number') return { ...entities, numbers: [value], subject: String(value) };
	if (Array.isArray(value)) return { ...entities, subjects: value.map(String) };
	if (typeof value === 'boolean') return { ...entities, text: value ? '' : 'no' };
	return { ...entities, subject: String(value) };
}

/** Generates a value that satisfies a JSON schema, from the entities of the message where possible. */
export function fillSchema(value: unknown, name: string, context: FillContext): unknown {
	const { depth = 0, budget = { left: MAX_VALUES }, write, turn = 0, entities } = context;
	const { isOptional = false } = context;
	const schema = resolveSchema(value, context.root);
	if (depth > MAX_DEPTH || budget.left-- <= 0) return null;
	if ('const' in schema) return schema.const;
	if (schema.enum) {
		const numbers: readonly unknown[] = entities.numbers;
		const stated = schema.enum.find((value) => numbers.includes(value));
		return stated ?? classifyOne(entities.text, schema.enum);
	}
	const type = schemaType(schema);
	const next = { ...context, depth: depth + 1, budget };
	const fill = FILLERS[type] ?? FILLERS['null']!;
	if (!write || type === 'object') return fill(schema, name, next);
	const about = { type: schema.type === undefined ? undefined : type, turn, isOptional };
	const written = write(name, { ...about, schema, text: entities.text });
	if (written === undefined) return undefined;
	if (schema.type === undefined && !schema.items) return written;
	return fill(schema, type === 'string' ? '' : name, {
		...next,
		entities: withWritten(entities, written),
	});
}

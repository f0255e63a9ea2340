import type { JsonFormat } from '../../client/chat/sendChat';
import { findMismatch, schemaProblem } from '../../client/chat/jsonSchema';
import { isJsonMode, readJson } from '../../client/chat/requestFields';
import { InputError, rejectMistakes } from '../../client/errors';
import {
	asJson,
	isJsonObject,
	objectOf,
	parseJson,
	type JsonObject,
	type JsonValue,
} from '../../client/json';
import { choice, entries, json, text, toggle, type Entry, type ValuesOf } from '../form/form';

/** The types of JSON Schema, but for null. */
const TYPES = ['Array', 'Boolean', 'Integer', 'Number', 'Object', 'String'];

/** What differs between the forms that define a JSON Schema by fields, as JSON or by an example. */
interface SchemaForm {
	/** Label and name of the choice between the three. */
	readonly define: readonly [label: string, name: string];
	/** Label and name of an entry in the list of fields. */
	readonly entry: readonly [label: string, name: string];
	/** When the form is shown. */
	readonly show?: Readonly<Record<string, string[]>>;
}

/** The fields of such a form. `SchemaEntry` has their values. */
export function schemaFields({ define, entry, show }: SchemaForm) {
	const when = (choice: string) => ({
		displayOptions: { show: { ...show, [define[1]]: [choice] } },
	});
	/** Not sorted by name: users fill them from top to bottom. */
	const values = {
		name: text('Name', { placeholder: 'e.g. title' }),
		type: choice('Type', {
			choices: TYPES.map((name) => [name, name.toLowerCase()]),
			default: 'string',
		}),
		description: text('Description', { placeholder: 'e.g. Title of the video' }),
		required: toggle('Required', { help: 'Whether the value must be there', default: true }),
		values: text('Allowed Values', {
			placeholder: 'e.g. celsius, fahrenheit',
			help: `Separated by commas, in the type of the ${entry[1]}: 5, 10. Leave empty to allow any value.`,
		}),
	};
	return {
		define: choice(define[0], {
			choices: [
				['From an Example', 'example'],
				['Using Fields', 'fields'],
				['Using JSON Schema', 'schema'],
			],
			default: 'fields',
			...(show && { displayOptions: { show } }),
		}),
		fields: entries<FieldEntry>(`${entry[0]}s`, {
			typeOptions: { fixedCollection: { itemTitle: '={{ $collection.item.value.name }}' } },
			...when('fields'),
			entry: [...entry, values],
		}),
		schema: json('JSON Schema', {
			default:
				'{\n  "type": "object",\n  "properties": {\n    "title": { "type": "string" }\n  },\n  "required": ["title"]\n}',
			...when('schema'),
		}),
		example: json('Example', {
			default: '{\n  "title": "A boat on the lake",\n  "tags": ["boat", "lake"]\n}',
			help: 'Its types become the schema',
			...when('example'),
		}),
	};
}

/** A field as entered in the form or returned by expressions. */
type FieldEntry = Entry<'name' | 'type' | 'description' | 'required' | 'values'>;

/** The values of the form. */
export interface SchemaEntry extends Entry<'define' | 'schema' | 'example'> {
	readonly fields?: readonly FieldEntry[] | null | undefined;
}

/**
 * The JSON Schema that the form defines. It is not validated.
 *
 * @param kind What the fields are called.
 * @throws InputError that names the problem.
 */
export function readSchema(
	{ define, fields, schema, example }: SchemaEntry,
	label: string,
	kind: 'field' | 'parameter',
): JsonValue | undefined {
	if (define === 'schema') return readJson(schema ?? '{}', `${label}, JSON Schema`);
	if (define === 'example') return inferSchema(readJson(example ?? '{}', `${label}, Example`));
	const isByFields = (define ?? 'fields') === 'fields';
	return isByFields ? fieldsSchema(fields ?? [], label, kind) : undefined;
}

function fieldsSchema(entries: readonly FieldEntry[], label: string, kind: string): JsonObject {
	const properties = new Map<string, JsonObject>();
	for (const entry of entries) {
		const name = textOf(entry.name);
		const repeats = `repeats the ${kind} ${name}`;
		rejectMistakes(label, [
			[name === '', `has a ${kind} without a name`, `Name the ${kind}, or remove it`],
			[properties.has(name), repeats, `Give each ${kind} a unique name`],
		]);
		properties.set(name, fieldSchema(entry, `${label}, ${kind} ${name}`));
	}
	const required = entries.filter((entry) => entry.required !== false);
	return {
		type: 'object',
		properties: Object.fromEntries(properties),
		required: required.map(({ name }) => textOf(name)),
		additionalProperties: false,
	};
}

function fieldSchema(
	{ type = 'string', description, values }: FieldEntry,
	label: string,
): JsonObject {
	const texts = textOf(values).split(',').map(textOf);
	const allowed = texts.filter(Boolean).map((text) => readAllowed(text, textOf(type), label));
	const choice = allowed.length === 0 ? {} : { enum: allowed };
	const isList = type === 'array' && allowed.length > 0;
	return asJson({
		type,
		...(textOf(description) === '' ? {} : { description: textOf(description) }),
		...(isList ? { items: { type: 'string', ...choice } } : choice),
	});
}

function readAllowed(text: string, type: string, label: string): JsonValue {
	if (type === 'string' || type === 'array') return text;
	const value = parseJson(text.toLowerCase());
	if (value !== undefined && findMismatch({ type }, value) === undefined) return value;
	const problem = `allows ${text}, which is not of the type ${type}`;
	throw new InputError(label, problem, 'Correct Allowed Values, or leave it empty');
}

/** The text of a field, whatever its expression returns. */
export function textOf(value: unknown): string {
	return String(value ?? '').trim();
}

/**
 * Infers a JSON schema from an example value, which matches it. An object has the keys of the example, each of them required; an empty one
 * allows any keys, and null any type.
 */
export function inferSchema(example: JsonValue): JsonObject {
	if (Array.isArray(example)) {
		const schemas = example.map((entry) => inferSchema(entry ?? null));
		const different = new Map(schemas.map((each) => [JSON.stringify(each), each]));
		const [first, ...others] = different.values();
		const items = others.length === 0 ? first : { anyOf: [first!, ...others] };
		return { type: 'array', ...(items && { items }) };
	}
	if (isJsonObject(example)) {
		const entries = Object.entries(example);
		const schemas = entries.map(([key, value]) => [key, inferSchema(value ?? null)] as const);
		return {
			type: 'object',
			properties: Object.fromEntries(schemas),
			required: Object.keys(example),
			...(entries.length > 0 && { additionalProperties: false }),
		};
	}
	if (example === null) return {};
	// A whole number is a number: a price of 20 may be 19.99 in a reply.
	return { type: typeof example };
}

const LABEL = 'Response Format';
const EMPTY_HINT = 'Add the fields of the reply, or set Response Format to JSON';

/** The definition of a schema. */
const SCHEMA = schemaFields({
	define: ['Define Schema', 'defineSchema'],
	entry: ['Field', 'field'],
	show: { responseFormat: ['schema'] },
});

/** The field of the form, and the definition of the schema below it. */
export const formatFields = {
	responseFormat: choice(LABEL, {
		choices: [
			['JSON', 'json', 'The reply is JSON, and the output has its value as well'],
			['JSON by Schema', 'schema', 'JSON with the fields that you define; it is checked'],
			['Text', 'text', 'The reply is text'],
		],
		default: 'text',
		help: 'Format of the reply',
	}),
	defineSchema: SCHEMA.define,
	fields: SCHEMA.fields,
	jsonSchema: SCHEMA.schema,
	jsonExample: SCHEMA.example,
};

type FormatValues = ValuesOf<typeof formatFields> & {
	readonly options: { readonly repairAttempts: number; readonly extraBody: JsonObject };
};

/**
 * The format that the reply must have; undefined for a text. An extra body field may ask for JSON, too.
 *
 * @throws InputError that names what is wrong with the schema.
 */
export function toJsonFormat(values: FormatValues): JsonFormat | undefined {
	const { responseFormat, options } = values;
	const { repairAttempts, extraBody } = options;
	if (responseFormat === 'text' && !isJsonMode(extraBody)) return undefined;
	if (responseFormat !== 'schema') return { repairAttempts };

	const { defineSchema: define, fields, jsonSchema: schema, jsonExample: example } = values;
	// Such a schema would only allow an empty object.
	const isEmpty = define === 'fields' && fields.length === 0;
	rejectMistakes(LABEL, [[isEmpty, 'is JSON by Schema, but no field is defined', EMPTY_HINT]]);
	const found = readSchema({ define, fields, schema, example }, LABEL, 'field');
	const problem = isJsonObject(found) ? schemaProblem(found) : 'it is not a JSON object';
	const unusable = `has a schema that cannot be used: ${problem!}`;
	rejectMistakes(LABEL, [[problem !== undefined, unusable, 'Correct the JSON Schema']]);
	return { schema: objectOf(found), repairAttempts };
}

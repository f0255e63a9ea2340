import type { JsonFormat } from '../../client/chat/jsonReply';
import { isJsonMode } from '../../client/chat/requestFields';
import { schemaProblem } from '../../client/chat/jsonSchema';
import { rejectMistakes } from '../../client/errors';
import { isJsonObject, objectOf, type JsonObject } from '../../client/json';
import { choice, type ValuesOf } from '../form/form';
import { readSchema, schemaFields } from './schemaForm';

const LABEL = 'Response Format';
const EMPTY_HINT = 'Add the fields of the reply, or set Response Format to JSON';

/** The definition of a schema. */
const SCHEMA = schemaFields({
	define: ['Define Schema', 'defineSchema'],
	entry: ['Field', 'field'],
	schema: '{\n  "type": "object",\n  "properties": {\n    "title": { "type": "string" }\n  },\n  "required": ["title"]\n}',
	example: {
		default: '{\n  "title": "A boat on the lake",\n  "tags": ["boat", "lake"]\n}',
		help: 'Example reply. Its types become the schema.',
	},
	required: 'Whether the reply must have this field',
	placeholders: ['title', 'Title of the video'],
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

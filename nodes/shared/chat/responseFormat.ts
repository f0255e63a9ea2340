import type { INodeProperties } from 'n8n-workflow';

import type { JsonFormat } from '../../client/chat/jsonReply';
import { extraFields, isJsonMode } from '../../client/chat/requestFields';
import { schemaProblem } from '../../client/chat/toolArguments';
import { InputError } from '../../client/errors';
import { isJsonObject, type JsonObject } from '../../client/json';
import { readChoice } from '../../client/values';
import { listField } from '../form/fields';
import { numberOption, optionTable } from '../form/options';
import type { NodeContext } from '../run/nodeContext';
import { readSchema, schemaProperties, type SchemaEntry } from './schemaForm';

const LABEL = 'Response Format';

/** The field of the form, and the definition of the schema below it. */
export const responseFormatProperties: INodeProperties[] = [
	listField(LABEL, 'responseFormat', {
		choices: [
			['JSON', 'json', 'The reply is JSON. The output has its value in the field json.'],
			['JSON by Schema', 'schema', 'JSON with the fields that you define; it is checked'],
			['Text', 'text', 'The reply is text'],
		],
		default: 'text',
		description: 'Format of the reply',
	}),
	...schemaProperties({
		define: ['Define Schema', 'defineSchema'],
		fields: ['Fields', 'fields'],
		entry: ['Field', 'field'],
		schema: [
			'jsonSchema',
			'{\n  "type": "object",\n  "properties": {\n    "title": { "type": "string" }\n  },\n  "required": ["title"]\n}',
		],
		example: [
			'jsonExample',
			'{\n  "title": "A boat on the lake",\n  "tags": ["boat", "lake"]\n}',
			'Example reply. Its types become the schema.',
		],
		required: 'Whether the reply must have this field',
		placeholders: ['title', 'Title of the video'],
		show: { responseFormat: ['schema'] },
	}),
];

const { repairAttempts } = optionTable({
	repairAttempts: numberOption('Repair Attempts', {
		help: 'How often the model may correct a reply that is not valid JSON, or does not match the schema. Each attempt is a call that is charged.',
		default: 0,
		max: 5,
		integer: true,
	}),
});

/** The option for a reply in JSON. */
export const repairAttemptsProperty: INodeProperties = {
	...repairAttempts.property,
	displayOptions: { show: { '/responseFormat': ['json', 'schema'] } },
};

/**
 * The option Extra Body Fields.
 *
 * @throws InputError as `extraFields`.
 */
export function readExtraBody(context: NodeContext, item: number): JsonObject {
	const entered = context.getNodeParameter('options.extraBody', item, '{}');
	return extraFields(entered, 'Remove it: other fields of this node set it');
}

/**
 * The format that the reply to an item must have; undefined for a text. An extra body field may ask for JSON, too.
 *
 * @throws InputError that names what is wrong with the schema.
 */
export function readJsonFormat(context: NodeContext, item: number): JsonFormat | undefined {
	const chosen: unknown = context.getNodeParameter('responseFormat', item, 'text');
	const format = readChoice(chosen, LABEL, ['text', 'json', 'schema']);
	const extra = readExtraBody(context, item);
	if (format === 'text' && !isJsonMode(extra)) return undefined;
	const attempts = repairAttempts.read(context, item);
	if (format !== 'schema') return { repairAttempts: attempts };

	const read = (name: string): unknown => context.getNodeParameter(name, item, null);
	const entry = {
		define: read('defineSchema'),
		fields: read('fields.field'),
		schema: read('jsonSchema'),
		example: read('jsonExample'),
	} as SchemaEntry;
	// Such a schema would only allow an empty object.
	if ((entry.define ?? 'fields') === 'fields' && (entry.fields ?? []).length === 0) {
		const hint = 'Add the fields of the reply, or set Response Format to JSON';
		throw new InputError(LABEL, 'is JSON by Schema, but no field is defined', hint);
	}
	const schema = readSchema(entry, LABEL, 'field');
	const problem = isJsonObject(schema) ? schemaProblem(schema) : 'it is not a JSON object';
	if (isJsonObject(schema) && problem === undefined) return { schema, repairAttempts: attempts };
	const found = `has a schema that cannot be used: ${problem!}`;
	throw new InputError(LABEL, found, 'Correct the JSON Schema');
}

import type { IExecuteFunctions } from 'n8n-workflow';

import { inferSchema } from '../client/chat/inferSchema';
import { readJson } from '../client/chat/readFields';
import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { InputError } from '../client/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../client/json';

/** A parameter of a tool, as entered in the form. */
interface ParameterEntry {
	readonly name?: string;
	readonly type?: string;
	readonly description?: string;
	readonly required?: boolean;
	/** Allowed values, separated by commas. */
	readonly values?: string;
}

/** A tool as entered in the form. */
interface ToolEntry {
	readonly name?: string;
	readonly description?: string;
	readonly define?: keyof typeof SCHEMAS;
	readonly parameters?: { readonly parameter?: readonly ParameterEntry[] };
	readonly schema?: unknown;
	readonly example?: unknown;
}

/** Makes the JSON schema of a tool's parameters (spec 2.3), one reader for each choice of Define Parameters. */
const SCHEMAS = {
	fields: ({ parameters }: ToolEntry) => fieldsSchema(parameters?.parameter ?? []),
	schema: ({ schema }: ToolEntry, label: string) =>
		readJson(schema ?? '{}', `${label}, its schema`),
	example: ({ example }: ToolEntry, label: string) =>
		inferSchema(readJson(example ?? '{}', `${label}, its example`)),
};

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @throws InputError that names the tool and the problem.
 */
export function readTools(context: IExecuteFunctions, itemIndex: number): ToolDeclaration[] {
	const label = 'Tools';
	if (context.getNodeParameter('toolSource', itemIndex) === 'json') {
		return checkTools(
			readJson(context.getNodeParameter('toolsJson', itemIndex, '[]'), label),
			label,
		);
	}
	const entries = context.getNodeParameter('tools.tool', itemIndex, []) as readonly ToolEntry[];
	return checkTools(
		entries.map((entry, index) => toDeclaration(entry, `${label}: entry ${index + 1}`)),
		label,
	);
}

function toDeclaration(entry: ToolEntry, label: string): JsonObject {
	const { name = '', description = '', define = 'fields' } = entry;
	const parameters: JsonValue = SCHEMAS[define](entry, label);
	return {
		type: 'function',
		function: {
			name: name.trim(),
			description,
			parameters: isJsonObject(parameters) ? parameters : {},
		},
	};
}

function fieldsSchema(entries: readonly ParameterEntry[]): JsonObject {
	const properties: JsonObject = {};
	for (const { name = '', type = 'string', description = '', values = '' } of entries) {
		if (name.trim() === '') {
			throw new InputError(
				'Tools',
				'has a parameter without a name',
				'Name the parameter, or remove it',
			);
		}
		const allowed = values
			.split(',')
			.map((value) => value.trim())
			.filter((value) => value !== '');
		properties[name.trim()] = {
			type,
			...(description === '' ? {} : { description }),
			...(allowed.length === 0 ? {} : { enum: allowed }),
		};
	}
	const required = entries.flatMap(({ name = '', required: needed }) =>
		needed === false ? [] : [name.trim()],
	);
	return { type: 'object', properties, required };
}

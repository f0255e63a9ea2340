import { schemaProblem } from '../client/chat/jsonSchema';
import { checkTools, readJson } from '../client/chat/requestFields';
import type { ToolDeclaration } from '../client/chat/types';
import { rejectMistakes } from '../client/errors';
import { isJsonObject } from '../client/json';
import { readSchema, textOf } from '../shared/chat/schemaForm';
import { NODES_LABEL, type ToolNodes } from '../shared/chat/toolNodes';
import type { agentForm, ToolEntry } from './properties';

/** Key in the JSON of a tool call item: which call it is. */
export const ENVELOPE = 'tool_call';

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @param toolNodes The connected tool nodes, whose tools must have other names.
 * @throws InputError that names the tool and the problem.
 */
export function readTools(
	{ toolSource, toolsJson, tools: entries }: ReturnType<typeof agentForm.read>,
	{ nodes }: ToolNodes,
): ToolDeclaration[] {
	const isJson = toolSource === 'json';
	const label = isJson ? 'Tool Declarations' : 'Tools';
	const value = isJson
		? readJson(toolsJson, label)
		: entries.map((entry, index) => readEntry(entry, `${label}: entry ${index + 1}`));
	const tools = checkTools(value, label, schemaProblem);
	for (const { name, parameters } of tools.map((tool) => tool.function)) {
		const isTaken = Object.hasOwn(Object(parameters?.['properties']) as object, ENVELOPE);
		const problem = `has a parameter ${ENVELOPE}, which the node adds to each call itself`;
		rejectMistakes(`${label}: ${name}`, [[isTaken, problem, 'Rename the parameter']]);
		const repeat = `repeat the name ${name} of a tool of this node`;
		rejectMistakes(NODES_LABEL, [
			[Object.hasOwn(nodes, name), repeat, 'Rename one of the two'],
		]);
	}
	return tools;
}

function readEntry(entry: ToolEntry, label: string) {
	const name = textOf(entry.name);
	const fields = { ...entry, fields: entry.parameters?.parameter };
	const schema = readSchema(fields, name === '' ? label : `${label} (${name})`, 'parameter');
	const closed = entry.define === 'example' ? { additionalProperties: false } : {};
	const parameters = { ...(isJsonObject(schema) ? schema : {}), ...closed };
	return {
		type: 'function',
		function: { name, description: textOf(entry.description), parameters },
	};
}

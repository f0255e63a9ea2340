import type { FastifySchemaValidationError } from 'fastify';
import TEXTS from './validationMessages.json';

/** Messages for JSON schema violations, by keyword. */
const MESSAGES: Readonly<Record<string, string>> = TEXTS;

/** JSON pointer as a field path: `/messages/0/role` → `messages[0].role`. */
function fieldName(pointer: string): string {
	return pointer
		.split('/')
		.slice(1)
		.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
		.join('')
		.replace(/^\./, '');
}

/** A violation as Ajv reports it; the schema of a rule says itself what the `problem` is. */
type Violation = Pick<FastifySchemaValidationError, 'instancePath' | 'keyword' | 'params'> & {
	readonly message?: string | undefined;
	readonly parentSchema?: Readonly<Record<string, unknown>> | undefined;
};

/** Message for a JSON schema violation: the field and the rule. */
export function validationMessage(violation: Violation): string {
	const { instancePath, keyword, params, message = 'is not valid', parentSchema } = violation;
	const field = fieldName(instancePath);
	const values: Readonly<Record<string, unknown>> = {
		...params,
		type: String(params['type']),
		field,
		subject: field || 'The body',
		parent: field && `${field}.`,
		problem: parentSchema?.['problem'],
	};
	const rule = MESSAGES[`${keyword} ${String(params['pattern'])}`] ?? MESSAGES[keyword];
	return (rule ?? `{subject} ${message}`).replace(/\{(\w+)\}/g, (_whole, name: string) =>
		[values[name]].flat().join(', '),
	);
}

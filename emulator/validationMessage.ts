import type { FastifySchemaValidationError } from 'fastify';

/** `/messages/0/role` as people write it: `messages[0].role`. */
function fieldName(pointer: string): string {
	return pointer
		.split('/')
		.slice(1)
		.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
		.join('')
		.replace(/^\./, '');
}

type Params = Readonly<Record<string, unknown>>;

/** What to say about a broken rule of a JSON schema, by its keyword. */
const PROBLEMS: Readonly<Record<string, (field: string, params: Params) => string>> = {
	required: (field, { missingProperty }) =>
		`${[field, String(missingProperty)].filter(Boolean).join('.')} is required`,
	type: (field, { type }) => `${field || 'The body'} must be of type ${String(type)}`,
	enum: (field, { allowedValues }) =>
		`${field} must be one of ${(allowedValues as readonly string[]).join(', ')}`,
	const: (field, { allowedValue }) => `${field} must be ${String(allowedValue)}`,
	discriminator: (field, { tag }) => `${field}.${String(tag)} is missing or unknown`,
	pattern: (field) => `${field} must not be empty`,
	minItems: (field) => `${field} must not be empty`,
	maxItems: (field, { limit }) => `${field} takes at most ${String(limit)} entries`,
	minimum: (field, { limit }) => `${field} must be at least ${String(limit)}`,
	maximum: (field, { limit }) => `${field} must be at most ${String(limit)}`,
};

/** Says in one sentence which field breaks which rule. */
export function validationMessage({
	instancePath,
	keyword,
	params,
	message,
}: FastifySchemaValidationError): string {
	const field = fieldName(instancePath);
	return (
		PROBLEMS[keyword]?.(field, params) ?? `${field || 'The body'} ${message ?? 'is not valid'}`
	);
}

import type { FastifySchemaValidationError } from 'fastify';

/** JSON pointer as a field path: `/messages/0/role` → `messages[0].role`. */
function fieldName(pointer: string): string {
	return pointer
		.split('/')
		.slice(1)
		.map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
		.join('')
		.replace(/^\./, '');
}

type Params = Readonly<Record<string, unknown>>;

/** Messages for JSON schema violations, by keyword. */
const MESSAGES: Readonly<Record<string, (field: string, params: Params) => string>> = {
	required: (field, { missingProperty }) =>
		`${[field, String(missingProperty)].filter(Boolean).join('.')} is required`,
	type: (field, { type }) => `${field || 'The body'} must be of type ${String(type)}`,
	enum: (field, { allowedValues }) =>
		`${field} must be one of ${(allowedValues as readonly string[]).join(', ')}`,
	additionalProperties: (field, { additionalProperty }) =>
		`${[field, String(additionalProperty)].filter(Boolean).join('.')} is unknown`,
	const: (field, { allowedValue }) => `${field} must be ${String(allowedValue)}`,
	discriminator: (field, { tag }) => `${field}.${String(tag)} is missing or unknown`,
	pattern: (field) => `${field} must not be empty`,
	minItems: (field) => `${field} must not be empty`,
	maxItems: (field, { limit }) => `${field} must have at most ${String(limit)} entries`,
	minimum: (field, { limit }) => `${field} must be at least ${String(limit)}`,
	maximum: (field, { limit }) => `${field} must be at most ${String(limit)}`,
};

/** Message for a JSON schema violation: the field and the rule. */
export function validationMessage({
	instancePath,
	keyword,
	params,
	message,
}: FastifySchemaValidationError): string {
	const field = fieldName(instancePath);
	return (
		MESSAGES[keyword]?.(field, params) ?? `${field || 'The body'} ${message ?? 'is not valid'}`
	);
}

import { HttpError } from '../errors';
import type { Tool } from './requestSchema';

/** Keywords that bring in further schemas, so that the names in `required` need not be in `properties`. */
const BRINGS_SCHEMAS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'patternProperties'];

/**
 * Requires that the names in `required` of a tool's parameters are among its `properties` (spec 2.3).
 * @throws HttpError 400 with the index of the tool
 */
export function requireValidTools(tools: readonly Tool[]): void {
	tools.forEach(({ function: { parameters = {} } }, index) => {
		if (BRINGS_SCHEMAS.some((keyword) => keyword in parameters)) return;
		const { properties, required } = parameters as {
			readonly properties?: object;
			readonly required?: readonly string[];
		};
		const unknown = required?.find((name) => !Object.hasOwn(properties ?? {}, name));
		if (unknown === undefined) return;
		const field = `tools[${index}].function.parameters.required`;
		throw new HttpError(400, `${field}: ${unknown} is not in properties`);
	});
}

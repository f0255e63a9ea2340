import { inspect } from 'node:util';

const METHODS = ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const;

/** Records what this process prints until `stop` is called. */
export function recordOutput(): { readonly printed: unknown[]; stop(): void } {
	const printed: unknown[] = [];
	const record = (...args: unknown[]) => {
		printed.push(args);
		return true;
	};
	const spies = [
		...METHODS.map((method) => jest.spyOn(console, method).mockImplementation(record)),
		jest.spyOn(process.stdout, 'write').mockImplementation(record),
		jest.spyOn(process.stderr, 'write').mockImplementation(record),
	];
	return {
		printed,
		stop: () => {
			spies.forEach((spy) => {
				spy.mockRestore();
			});
		},
	};
}

const WHOLE = { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity };

/**
 * All texts in a value, in lines. Plain objects and lists are walked: `inspect` escapes each character of their texts,
 * which takes longer than the run for a megabyte, and hides a secret whose characters it escapes. What has a class is
 * inspected, so that causes and properties of errors are included.
 */
export function textsIn(value: unknown): string {
	const texts: string[] = [];
	const seen = new Set<unknown>();
	const rest = [value];
	while (rest.length > 0) {
		const each = rest.pop();
		if (typeof each === 'string') texts.push(each);
		else if (!isPlain(each)) texts.push(inspect(each, WHOLE));
		else if (!seen.has(each)) {
			seen.add(each);
			for (const key of Reflect.ownKeys(each)) rest.push(key, each[key]);
		}
	}
	return texts.join('\n');
}

/** Whether a value is a list or an object without a class, of this realm or another. */
function isPlain(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
	if (typeof value !== 'object' || value === null) return false;
	const prototype = Object.getPrototypeOf(value) as unknown;
	return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Names the places that contain one of these texts. */
export function placesWith(
	forms: readonly string[],
	places: Readonly<Record<string, unknown>>,
): string[] {
	return Object.entries(places)
		.filter(([, held]) => {
			const texts = textsIn(held);
			return forms.some((form) => texts.includes(form));
		})
		.map(([place]) => place);
}

/** Names the places that contain a secret, plain or encoded, including causes of errors and their properties. */
export function placesOf(secret: string, places: Readonly<Record<string, unknown>>): string[] {
	const forms = ['utf8', 'base64', 'hex'] as const;
	const spellings = forms.map((form) => Buffer.from(secret).toString(form).replace(/=+$/, ''));
	return placesWith(spellings, places);
}

import { isObject } from '../json';

/** Values of the placeholders, by name: a value, or a function that makes it when it is needed. */
export type TemplateValues = Readonly<Record<string, unknown>>;

const PLACEHOLDER = /\{\{(\w+)\}\}/g;

/**
 * Replaces placeholders such as `{{question}}` in all texts of a value. A text that is only a placeholder becomes its value,
 * which may be a number or a list. Unknown placeholders stay.
 */
export function fillTemplate<T>(value: T, values: TemplateValues): T {
	const valueOf = (name: string): unknown => {
		const value = values[name];
		return typeof value === 'function' ? (value as () => unknown)() : value;
	};
	const fill = (part: unknown): unknown => {
		if (Array.isArray(part)) return part.map(fill);
		if (isObject(part)) {
			return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, fill(item)]));
		}
		if (typeof part !== 'string') return part;
		const [, only] = /^\{\{(\w+)\}\}$/.exec(part) ?? [];
		if (only !== undefined && Object.hasOwn(values, only)) return valueOf(only);
		return part.replace(PLACEHOLDER, (whole, name: string) =>
			Object.hasOwn(values, name) ? String(valueOf(name)) : whole,
		);
	};
	return fill(value) as T;
}

import type { INode } from 'n8n-workflow';

/** A field of a form. */
interface FormField extends Readonly<Record<'fieldName' | 'fieldLabel' | 'fieldType', string>> {
	readonly fieldOptions?: { readonly values?: readonly { readonly option: string }[] };
}

/** Entries by type of field. */
const ENTRIES: Readonly<Record<string, string>> = {
	email: 'ada@example.com',
	number: '5',
	date: '2026-01-31',
};

/**
 * Fills in all fields of a Form Trigger, as its page sends them.
 *
 * @param known Entries of some fields, by their name or label.
 * @param file For the fields that take one.
 */
export function formData(
	{ parameters }: Pick<INode, 'parameters'>,
	known: Readonly<Record<string, unknown>>,
	file: File,
): FormData {
	const { values = [] } = (parameters['formFields'] ?? {}) as { values?: readonly FormField[] };
	const form = new FormData();
	for (const [index, { fieldName, fieldLabel, fieldType, fieldOptions }] of values.entries()) {
		const entry = ENTRIES[fieldType] ?? 'A lighthouse at dawn';
		const choice = fieldOptions?.values?.[0]?.option ?? entry;
		const text = String(known[fieldName] ?? known[fieldLabel] ?? choice);
		form.append(`field-${index}`, fieldType === 'file' ? file : text);
	}
	return form;
}

import type { INode } from 'n8n-workflow';

/** A field of a form. */
interface FormField extends Readonly<
	Partial<Record<'fieldName' | 'fieldLabel' | 'fieldType', string>>
> {
	readonly fieldOptions?: { readonly values?: readonly { readonly option: string }[] };
}

/** Entries by type of field. */
const ENTRIES: Readonly<Record<string, string>> = {
	email: 'ada@example.com',
	number: '5',
	date: '2026-01-31',
};

/** The fields of a page: the name and the label that an item may have it by, and an entry. */
const fieldsOf = ({ parameters }: Pick<INode, 'parameters'>) => {
	const { values = [] } = (parameters['formFields'] ?? {}) as { values?: readonly FormField[] };
	return values.map(({ fieldName, fieldLabel, fieldType, fieldOptions }) => ({
		names: [fieldName, fieldLabel].filter((name) => name !== undefined),
		type: fieldType,
		entry:
			fieldOptions?.values?.[0]?.option ?? ENTRIES[fieldType ?? ''] ?? 'A lighthouse at dawn',
	}));
};

/** Entries of all fields of a page, as an item has them. */
export const entriesOf = (page: Pick<INode, 'parameters'>): Readonly<Record<string, string>> =>
	Object.fromEntries(fieldsOf(page).map(({ names: [name = ''], entry }) => [name, entry]));

/**
 * Fills in all fields of a Form Trigger, as its page sends them.
 *
 * @param known Entries of some fields, by their name or label.
 * @param file For the fields that take one.
 */
export function formData(
	node: Pick<INode, 'parameters'>,
	known: Readonly<Record<string, unknown>>,
	file: File,
): FormData {
	const form = new FormData();
	for (const [index, { names, type, entry }] of fieldsOf(node).entries()) {
		const text = names.map((name) => known[name]).find((each) => each !== undefined);
		form.append(`field-${index}`, type === 'file' ? file : String(text ?? entry));
	}
	return form;
}

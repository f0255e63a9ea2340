import type { ILoadOptionsFunctions } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { shown } from '../../client/values';
import { CREDENTIAL, type NodeContext } from './nodeContext';

const LISTS = { chatModels: 'Chat Models', videoModels: 'Video Models' } as const;

/** A row as n8n keeps it; an expression can make anything of its values. */
type Row = Readonly<Record<'code' | 'name' | 'like', unknown>>;

/**
 * The model codes of a list in the credential: a chat model with its display name, a video model with the row of the table
 * that it behaves like.
 *
 * @throws InputError when a row has no code, or the code of another row.
 */
export async function readModelCodes(
	context: NodeContext | ILoadOptionsFunctions,
	list: keyof typeof LISTS,
): Promise<Readonly<Record<keyof Row, string>>[]> {
	const data = await context.getCredentials(CREDENTIAL, 0);
	const { model = [] } = (data[list] ?? {}) as { readonly model?: readonly Row[] };
	const text = (value: unknown) => shown(value ?? '').trim();
	const codes = model.map(({ code }) => text(code));
	return model.map(({ name, like }, index) => {
		const code = codes[index]!;
		const field = `${LISTS[list]} in the credential: row ${index + 1}`;
		if (code === '') throw new InputError(field, 'has no code', 'Enter it, or remove the row');
		const first = codes.indexOf(code);
		if (first === index) return { code, name: text(name) || code, like: text(like) };
		const problem = `has the code ${code}, as row ${first + 1} has`;
		throw new InputError(field, problem, 'Remove one of the two rows');
	});
}

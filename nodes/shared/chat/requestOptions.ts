import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

import {
	CHAT_FIELDS,
	type ChatField,
	type ChoiceField,
	type NumberField,
	type SuggestedField,
	type TextsField,
} from '../../client/chat/fields';
import { resourceLocator } from '../form/resourceLocator';

/** List search results of the fields with suggested values, by the name of their list search method. */
export const SUGGESTIONS = Object.fromEntries(
	CHAT_FIELDS.filter((field): field is SuggestedField => field.type === 'suggested').map(
		(field) => [
			searchMethod(field),
			field.suggestions.map(({ value, label }) => ({ name: label, value })),
		],
	),
);

/** The optional request fields (spec 2.1) as entries of the Options collection. */
export const requestProperties: INodeProperties[] = CHAT_FIELDS.map(property);

function searchMethod({ key }: SuggestedField): string {
	return `search${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

function property(field: ChatField): INodeProperties {
	const base = { displayName: field.label, name: field.key, description: field.help };
	switch (field.type) {
		case 'number':
			return { ...base, type: 'number', default: field.default, typeOptions: limits(field) };
		case 'choice':
			return { ...base, type: 'options', default: field.default, options: choices(field) };
		case 'suggested':
			return resourceLocator(
				{ ...base, default: { mode: 'list', value: field.default } },
				{
					searchListMethod: searchMethod(field),
					placeholder: field.placeholder,
				},
			);
		case 'texts':
			return { ...base, ...texts(field) };
		case 'json':
			return { ...base, type: 'json', default: field.default };
	}
}

function limits({ min, max, integer }: NumberField): NonNullable<INodeProperties['typeOptions']> {
	return {
		numberPrecision: integer ? 0 : 2,
		...(min === undefined ? {} : { minValue: min }),
		...(max === undefined ? {} : { maxValue: max }),
	};
}

function choices(field: ChoiceField): INodePropertyOptions[] {
	return field.choices.map(({ label, value, help }) => ({
		name: label,
		value,
		description: help,
	}));
}

function texts({
	addLabel,
	placeholder,
}: TextsField): Omit<INodeProperties, 'displayName' | 'name'> {
	return {
		type: 'string',
		default: [],
		placeholder,
		typeOptions: { multipleValues: true, multipleValueButtonText: addLabel },
	};
}

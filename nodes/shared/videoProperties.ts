import type { INodeListSearchItems, INodeProperties } from 'n8n-workflow';

import { VIDEO_FIELDS, type VideoField } from '../client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../client/video/models';

const MODELS: readonly VideoModel[] = VIDEO_MODELS;

/** The models as the list in the editor shows them. */
export const VIDEO_MODEL_ITEMS: INodeListSearchItems[] = MODELS.map(({ code, input }) => ({
	name: `${code}: ${input}`,
	value: code,
}));

/**
 * The fields whose values depend on the model: a list of its values for each model that takes the field, and a
 * free field for a model that is typed or comes from an expression.
 */
export const videoProperties: INodeProperties[] = VIDEO_FIELDS.flatMap((field) => [
	...MODELS.filter((model) => field.values(model).length > 0).map((model) =>
		listed(field, model),
	),
	free(field),
]);

function listed(field: VideoField, model: VideoModel): INodeProperties {
	return {
		...common(field),
		type: 'options',
		options: field.values(model).map((value) => ({ name: field.show(value), value })),
		default: field.defaultValue(model) ?? '',
		// By hiding rather than showing: n8n shows every field whose condition looks at an expression.
		displayOptions: { hide: { model: [{ _cnd: { not: model.code } }] } },
	};
}

function free(field: VideoField): INodeProperties {
	return {
		...common(field),
		type: field.free.type,
		default: field.free.type === 'number' ? 0 : '',
		placeholder: field.free.placeholder,
		hint: 'Empty or 0 leaves it to the model',
		displayOptions: { hide: { model: MODELS.map(({ code }) => code) } },
	};
}

function common({ label, key, help }: VideoField) {
	return { displayName: label, name: key, description: help };
}

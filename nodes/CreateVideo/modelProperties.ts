import type { INodeListSearchItems, INodeProperties } from 'n8n-workflow';

import { VIDEO_FIELDS, type VideoField } from '../client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../client/video/models';
import { fromModel, inTools, notInTools, type ModelFill } from '../shared/form/fromAi';

const MODELS: readonly VideoModel[] = VIDEO_MODELS;

/** The models as the list in the editor shows them. */
export const VIDEO_MODEL_ITEMS: INodeListSearchItems[] = MODELS.map(({ code, input }) => ({
	name: `${code}: ${input}`,
	value: code,
}));

/** The field for one model only. */
export function forModel(field: INodeProperties, { code }: VideoModel): INodeProperties {
	// By hiding rather than showing: n8n shows every field whose condition looks at an expression.
	return { ...field, displayOptions: { hide: { model: [{ _cnd: { not: code } }] } } };
}

/** The field for a model that is typed or comes from an expression. */
export function forOtherModels(field: INodeProperties): INodeProperties {
	return { ...field, displayOptions: { hide: { model: MODELS.map(({ code }) => code) } } };
}

/** What the model of an agent decides; a value that the video model does not take is adjusted. */
const FILLS: Readonly<Partial<Record<VideoField['key'], ModelFill>>> = {
	aspectRatio: {
		key: 'aspect_ratio',
		help: 'Width to height: 16:9 for wide, 9:16 for upright, 1:1 for square',
		otherwise: '16:9',
	},
	duration: {
		key: 'duration',
		help: 'Length of the video in seconds; 0 for the usual length',
		type: 'number',
		otherwise: '0',
	},
};

/**
 * The fields whose values depend on the model: a list of its values for each model that takes the field, and a
 * free field for a model that is typed or comes from an expression.
 */
export const videoProperties: INodeProperties[] = (VIDEO_FIELDS as readonly VideoField[]).flatMap(
	(field) => [
		...MODELS.filter((model) => field.values(model).length > 0).map((model) =>
			unlessFilled(field, forModel(listed(field, model), model)),
		),
		unlessFilled(field, forOtherModels(free(field))),
	],
);

/** The fields that the model of an agent fills, where the node is its tool. */
export const videoToolProperties: INodeProperties[] = VIDEO_FIELDS.flatMap((field) => {
	const fill = (FILLS as Readonly<Record<string, ModelFill>>)[field.key];
	return fill === undefined ? [] : [inTools({ ...free(field), default: fromModel(fill) })];
});

function unlessFilled({ key }: VideoField, property: INodeProperties): INodeProperties {
	return key in FILLS ? notInTools(property) : property;
}

function listed(field: VideoField, model: VideoModel): INodeProperties {
	const fallback = field.defaultValue(model) ?? '';
	if (field.type === 'flag') return { ...common(field), type: 'boolean', default: fallback };
	return {
		...common(field),
		type: 'options',
		options: field.values(model).map((value) => ({ name: field.show(value), value })),
		default: fallback,
	};
}

function free(field: VideoField): INodeProperties {
	if (field.type === 'flag') {
		return {
			...common(field),
			type: 'options',
			options: [
				{ name: "Model's Default", value: '' },
				{ name: 'No', value: false },
				{ name: 'Yes', value: true },
			],
			default: '',
		};
	}
	return {
		...common(field),
		...(field.type === 'seconds'
			? {
					type: 'number',
					default: 0,
					typeOptions: { minValue: 0 },
					hint: '0 leaves it to the model',
				}
			: { type: 'string', default: '', hint: 'Empty leaves it to the model' }),
		placeholder: field.placeholder,
	};
}

function common({ label, key, help }: VideoField) {
	return { displayName: label, name: key, description: help };
}

import type { INodeListSearchItems, INodeProperties } from 'n8n-workflow';

import { VIDEO_FIELDS, type VideoField } from '../client/video/fields';
import { findModel, VIDEO_MODELS, type OwnModel, type VideoModel } from '../client/video/models';
import { fromAi, inTools, notInTools, type FromAiArgument } from '../shared/form/fromAi';

const MODELS: readonly VideoModel[] = VIDEO_MODELS;

/** The models in the list of the editor: those of the account, or else those of the specification. */
export function videoModelItems(own: readonly OwnModel[] = []): INodeListSearchItems[] {
	const models = own.length > 0 ? own : MODELS.map(({ code }) => ({ code, like: code }));
	return models.map(({ code, like }) => ({
		name: `${code}: ${findModel({ code, like })?.input ?? like}`,
		// The row comes first: the form can find it by comparing.
		value: code === like ? code : `${like}=${code}`,
	}));
}

/** Comes after every other character that a code has. */
const LAST = '\uFFFF';

/** Shows the field only for one row of the table: for its code, and for the pairs that begin with it (`readPair`). */
export function forModel(field: INodeProperties, { code }: VideoModel): INodeProperties {
	// Uses hide instead of show: n8n ignores a show condition on a parameter that holds an expression. Compares texts,
	// because n8n starts a sandbox with a time limit for each test of a regular expression.
	const model = [
		{ _cnd: { lt: code } },
		{ _cnd: { between: { from: `${code}\0`, to: `${code}<${LAST}` } } },
		{ _cnd: { gt: `${code}=${LAST}` } },
	];
	return { ...field, displayOptions: { hide: { model } } };
}

/** Shows the field only for a model that is typed or comes from an expression. */
export function forOtherModels(field: INodeProperties): INodeProperties {
	const model = MODELS.flatMap(({ code }) => [code, { _cnd: { startsWith: `${code}=` } }]);
	return { ...field, displayOptions: { hide: { model } } };
}

/** The fields that an agent's model fills. A value that the video model does not support is adjusted. */
const FROM_AI: Readonly<Partial<Record<VideoField['key'], FromAiArgument>>> = {
	aspectRatio: {
		key: 'aspect_ratio',
		help: 'Width to height: 16:9 for landscape, 9:16 for portrait, 1:1 for square',
		fallback: '16:9',
	},
	duration: {
		key: 'duration',
		help: 'Length of the video in seconds; 0 for the default length',
		type: 'number',
		fallback: '0',
	},
};

/**
 * The fields whose values depend on the model: a list of values for each model that supports the field, and a free
 * field for a model that is typed or comes from an expression.
 */
export const videoProperties: INodeProperties[] = VIDEO_FIELDS.flatMap((field) => [
	...MODELS.filter(
		(model) => field.values(model).length > 0 && field.isSetBy?.(model) !== true,
	).map((model) => inNodeOnly(field, forModel(listed(field, model), model))),
	inNodeOnly(field, forOtherModels(free(field))),
]);

/** The fields that an agent's model fills when the node is its tool. */
export const videoToolProperties: INodeProperties[] = VIDEO_FIELDS.flatMap((field) => {
	const argument = (FROM_AI as Readonly<Record<string, FromAiArgument>>)[field.key];
	return argument === undefined ? [] : [inTools({ ...free(field), default: fromAi(argument) })];
});

function inNodeOnly({ key }: VideoField, property: INodeProperties): INodeProperties {
	return key in FROM_AI ? notInTools(property) : property;
}

function listed(field: VideoField, model: VideoModel): INodeProperties {
	const fallback = field.defaultValue(model) ?? '';
	if (field.type === 'flag') return { ...common(field), type: 'boolean', default: fallback };
	const values = field.values(model);
	return {
		...common(field),
		// The only value is no choice, but it is sent.
		type: values.length === 1 ? 'hidden' : 'options',
		options: values.map((value) => ({
			name: field.show?.(value, model) ?? String(value),
			value,
		})),
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
					hint: '0 uses the default of the model',
				}
			: { type: 'string', default: '', hint: 'Empty uses the default of the model' }),
		placeholder: field.placeholder!,
	};
}

function common({ label, key, help }: VideoField) {
	return { displayName: label, name: key, description: help };
}

import { NodeHelpers, type INodeProperties } from 'n8n-workflow';

import { VIDEO_FIELDS, type VideoField } from '../../nodes/client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';

const { description, methods } = new CreateVideo();
const MODELS: readonly VideoModel[] = VIDEO_MODELS;
const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/** The fields that the editor shows for a choice of model, by n8n's own rules. */
function shown(mode: string, value: string): INodeProperties[] {
	const values = { model: { __rl: true, mode, value } };
	return description.properties.filter(
		(property) =>
			FIELDS.some(({ key }) => key === property.name) &&
			NodeHelpers.displayParameter(values, property, null, description),
	);
}

test.each(MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s: each field that it takes is shown once, with its values and default (spec 2.11)',
	(code, model) => {
		const expected = FIELDS.filter((field) => field.values(model).length > 0).map((field) => ({
			name: field.key,
			values: field.values(model),
			default: field.defaultValue(model),
		}));
		const actual = shown('list', code).map((property) => ({
			name: property.name,
			values: property.options?.map((option) =>
				'value' in option ? option.value : undefined,
			),
			default: property.default,
		}));
		expect(actual).toStrictEqual(expected);
	},
);

test.each([
	['typed', 'id', 'video-x9'],
	['an expression', 'id', '={{ $json.model }}'],
	['an expression in the list', 'list', '={{ $json.model }}'],
])('a model that is %s: every field is shown once, free to fill', (_name, mode, value) => {
	expect(shown(mode, value).map(({ name, type }) => [name, type])).toStrictEqual(
		FIELDS.map(({ key, free }) => [key, free.type]),
	);
});

test('the list of models can be searched by code and by what they take', async () => {
	const search = async (filter?: string) =>
		(await methods.listSearch.searchVideoModels.call({} as never, filter)).results.map(
			({ value }) => value,
		);
	expect(await search()).toStrictEqual(MODELS.map(({ code }) => code));
	expect(await search('M3')).toStrictEqual(['video-m3']);
	expect(await search('edit')).toStrictEqual(['video-m5']);
});

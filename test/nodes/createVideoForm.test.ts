import {
	NodeHelpers,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';

import { VIDEO_FIELDS, type VideoField } from '../../nodes/client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';

const { description, methods } = new CreateVideo();
const MODELS: readonly VideoModel[] = VIDEO_MODELS;
const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/** What the editor shows for a choice of model, by n8n's own rules. */
function allShown(mode: string, value: string): INodeProperties[] {
	const values = { model: { __rl: true, mode, value } };
	return description.properties.filter((property) =>
		NodeHelpers.displayParameter(values, property, null, description),
	);
}

/** The fields among it whose values depend on the model. */
function shown(mode: string, value: string): INodeProperties[] {
	return allShown(mode, value).filter(({ name }) => FIELDS.some(({ key }) => key === name));
}

test.each(MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s: each field that it takes is shown once, with its values and default (spec 2.11)',
	(code, model) => {
		const expected = FIELDS.filter((field) => field.values(model).length > 0).map((field) => ({
			name: field.key,
			values: field.type === 'flag' ? undefined : field.values(model),
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
	const types = { text: 'string', seconds: 'number', flag: 'options' };
	expect(shown(mode, value).map(({ name, type }) => [name, type])).toStrictEqual(
		FIELDS.map(({ key, type }) => [key, types[type]]),
	);
	// Nothing goes out that nobody has entered.
	expect(shown(mode, value).map((property) => property.default)).toStrictEqual(
		FIELDS.map(({ type }) => (type === 'seconds' ? 0 : '')),
	);
});

/** From the specification (2.11), not from our table. */
const KINDS: readonly (readonly [code: string, kinds: readonly string[], most: string])[] = [
	['video-m1', ['image', 'video', 'audio'], '9 images, 3 videos, 3 audio files'],
	['video-m2', ['image', 'video', 'audio'], '9 images, 3 videos, 3 audio files'],
	['video-m3', ['image'], '2 images'],
	['video-m4', ['image'], '1 image'],
	['video-m5', ['image', 'video'], '7 images, 1 video'],
	['video-m6', ['image'], '2 images'],
	['video-m7', ['image'], '5 images'],
	['video-m8', ['image'], '3 images'],
	['video-x9', ['image', 'video', 'audio'], '9 images, 3 videos, 3 audio files'],
	['={{ $json.model }}', ['image', 'video', 'audio'], '9 images, 3 videos, 3 audio files'],
];

test.each(KINDS)('%s: references of the kinds %j, at most %s', (code, kinds, most) => {
	const [references, ...more] = allShown('id', code).filter(({ name }) => name === 'references');
	expect(more).toHaveLength(0);
	const [file] = references!.options as INodePropertyCollection[];
	const [kind] = file!.values;
	expect((kind!.options as INodePropertyOptions[]).map(({ value }) => value)).toStrictEqual(
		kinds,
	);
	expect(references!.description).toContain(`at most ${most}.`);
	expect(references!.description!.includes('15 seconds')).toBe(kinds.includes('video'));
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

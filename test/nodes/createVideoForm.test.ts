import {
	NodeHelpers,
	type INodeProperties,
	type INodePropertyCollection,
	type INodePropertyOptions,
} from 'n8n-workflow';

import {
	defaultOf,
	VIDEO_FIELDS,
	VIDEO_MODELS,
	type VideoField,
	type VideoModel,
} from '../../nodes/client/video/models';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';
import { maxImages, SPEC_ROWS } from '../support/specVideoModels';

const { description, methods } = new CreateVideo();
const MODELS: readonly VideoModel[] = VIDEO_MODELS;
const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/** The properties that the editor shows for a model, by n8n's own rules. */
function allShown(mode: string, value: string): INodeProperties[] {
	const values = { model: { __rl: true, mode, value } };
	return description.properties.filter((property) =>
		NodeHelpers.displayParameter(values, property, null, description),
	);
}

/** Those of them whose values depend on the model. */
function shown(mode: string, value: string): INodeProperties[] {
	return allShown(mode, value).filter(({ name }) => FIELDS.some(({ key }) => key === name));
}

test.each(MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s: each supported field is shown once, with its values and default (spec 2.11)',
	(code, model) => {
		const expected = FIELDS.filter(({ values }) => values(model).length > 0).map((field) => ({
			name: field.key,
			values: field.type === 'flag' ? undefined : field.values(model),
			default: defaultOf(field, model),
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
	['no references', {}, false],
	['references that were removed', { file: [] }, false],
	['a reference', { file: [{ kind: 'image', source: 'url', url: '' }] }, true],
])('Image Mode with %s', (_what, references, isShown) => {
	for (const value of ['video-m1', 'my-model']) {
		const values = { model: { __rl: true, mode: 'id', value }, references };
		const modes = description.properties.filter(
			(property) =>
				property.name === 'imageMode' &&
				NodeHelpers.displayParameter(values, property, null, description),
		);
		expect(modes).toHaveLength(isShown ? 1 : 0);
	}
});

test.each([
	['video-m1', ['aspectRatio', 'duration', 'size', 'generateAudio', 'watermark']],
	['video-m4', ['aspectRatio', 'duration', 'watermark']],
])('the first screen with %s', (value, fields) => {
	const values = {
		model: { __rl: true, mode: 'list', value },
		references: {},
		waitUntilFinished: false,
	};
	const names = description.properties
		.filter((property) => NodeHelpers.displayParameter(values, property, null, description))
		.flatMap(({ name, type }) => (type === 'hidden' ? [] : [name]));
	const first = ['model', 'prompt', 'waitUntilFinished', 'references'];
	expect(names).toStrictEqual([...first, ...fields, 'options']);
});

test.each(SPEC_ROWS)('an AI that builds workflows reads the values of %s', (code, row) => {
	const [{ content }] = description.builderHint?.extraTypeDefContent as [{ content: string }];
	const line = content.split('\n').find((each) => each.startsWith(`${code}: `)) ?? '';
	const [fields, files = ''] = line.split('. ');
	const of = (key: string) =>
		new RegExp(`\\b${key} ([^,]+)`).exec(fields!)?.[1]?.split(' ') ?? [];
	expect(of('aspectRatio')).toStrictEqual(row.ratios);
	expect(of('duration')[0]).toBe(String(row.defaultDuration));
	expect(of('duration').toSorted()).toStrictEqual(row.durations.map(String).toSorted());
	expect(of('size').toSorted()).toStrictEqual(row.sizes.toSorted());
	const modes = row.sizes.length > 0 ? [] : Object.keys(row.modes);
	expect(of('qualityMode')).toStrictEqual(modes);
	expect(of('imageMode')).toStrictEqual(Object.keys(row.images));
	expect(of('generateAudio')).toStrictEqual(row.generatesAudio ? ['true', 'false'] : []);
	for (const [noun, max] of [
		['image', maxImages(row)],
		['video', row.videos],
		['audio file', row.audios],
	] as const)
		expect([noun, files.includes(`${max} ${noun}`)]).toStrictEqual([noun, max > 0]);
});

test.each([
	['entered by ID', 'id', 'video-x9'],
	['an expression', 'id', '={{ $json.model }}'],
	['an expression in the list', 'list', '={{ $json.model }}'],
])('a model that is %s: every field is shown once, for free input', (_name, mode, value) => {
	const types = { text: 'string', seconds: 'number', flag: 'options' };
	expect(shown(mode, value).map(({ name, type }) => [name, type])).toStrictEqual(
		FIELDS.map(({ key, type }) => [key, types[type]]),
	);
	// The defaults are empty: only entered values are sent.
	expect(shown(mode, value).map((property) => property.default)).toStrictEqual(
		FIELDS.map(({ type }) => (type === 'seconds' ? 0 : '')),
	);
});

const countOf = (count: number, one: string) =>
	count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`];

/** A model with the number of reference images, videos and audio files that it supports. */
const COUNTS: readonly (readonly [code: string, counts: readonly [number, number, number]])[] = [
	...SPEC_ROWS.map(
		([code, spec]) => [code, [maxImages(spec), spec.videos, spec.audios]] as const,
	),
	['video-x9', [9, 3, 3]],
	['={{ $json.model }}', [9, 3, 3]],
];

test.each(COUNTS)('%s: references, at most %j', (code, [images, videos, audios]) => {
	const kinds = [images && 'image', videos && 'video', audios && 'audio'].filter(Boolean);
	const counts = [
		...countOf(images, 'image'),
		...countOf(videos, 'video'),
		...countOf(audios, 'audio file'),
	];
	const [references, ...more] = allShown('id', code).filter(({ name }) => name === 'references');
	expect(more).toHaveLength(0);
	const [file] = references!.options as INodePropertyCollection[];
	const [kind] = file!.values;
	expect((kind!.options as INodePropertyOptions[]).map(({ value }) => value)).toStrictEqual(
		kinds,
	);
	expect(references!.description).toContain(`at most ${counts.join(', ')}`);
	expect(references!.description!.includes('15 seconds')).toBe(videos > 0);
});

test('the list of models can be searched by code and by input', async () => {
	const context = { getCredentials: () => Promise.resolve({}) };
	const search = async (filter?: string) =>
		(await methods.listSearch.searchVideoModels.call(context as never, filter)).results.map(
			({ value }) => value,
		);
	expect(await search()).toStrictEqual(MODELS.map(({ code }) => code));
	expect(await search('M3')).toStrictEqual(['video-m3']);
	expect(await search('edit')).toStrictEqual(
		SPEC_ROWS.filter(([, { editsVideos }]) => editsVideos).map(([code]) => code),
	);
});

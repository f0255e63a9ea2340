import {
	NodeHelpers,
	type IDataObject,
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
import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { videoService } from '../support/createdVideos';
import { runNode, type RunOptions } from '../support/engine';
import { maxImages, SPEC_ROWS } from '../support/specVideoModels';

const { description, methods } = new CreateVideo();
const MODELS: readonly VideoModel[] = VIDEO_MODELS;
const FIELDS: readonly VideoField[] = VIDEO_FIELDS;

/** The properties that the editor shows for these values, by n8n's own rules. */
const shownWith = (values: IDataObject): INodeProperties[] =>
	description.properties.filter((property) =>
		NodeHelpers.displayParameter(values as never, property, null, description),
	);
const shownFor = (mode: string, value: string) => shownWith({ model: { __rl: true, mode, value } });

/** Those of a model whose values depend on it. */
const fieldsFor = (mode: string, value: string) =>
	shownFor(mode, value).filter(({ name }) => FIELDS.some(({ key }) => key === name));

test.each(MODELS.map((model): [string, VideoModel] => [model.code, model]))(
	'%s: each supported field is shown once, with its values and default (spec 2.11)',
	(code, model) => {
		const expected = FIELDS.filter(({ values }) => values(model).length > 0).map((field) => ({
			name: field.key,
			values: field.type === 'flag' ? undefined : field.values(model),
			default: defaultOf(field, model),
		}));
		const actual = fieldsFor('list', code).map((property) => ({
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
		const modes = shownWith(values).filter(({ name }) => name === 'imageMode');
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
	const names = shownWith(values).flatMap(({ name, type }) => (type === 'hidden' ? [] : [name]));
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
	expect(fieldsFor(mode, value).map(({ name, type }) => [name, type])).toStrictEqual(
		FIELDS.map(({ key, type }) => [key, types[type]]),
	);
	// The defaults are empty: only entered values are sent.
	expect(fieldsFor(mode, value).map((property) => property.default)).toStrictEqual(
		FIELDS.map(({ type }) => (type === 'seconds' ? 0 : '')),
	);
});

const countOf = (count: number, one: string) =>
	count === 0 ? [] : [`${count} ${one}${count === 1 ? '' : 's'}`];

test.each<readonly [code: string, counts: readonly [number, number, number]]>([
	...SPEC_ROWS.map(
		([code, spec]) => [code, [maxImages(spec), spec.videos, spec.audios]] as const,
	),
	['video-x9', [9, 3, 3]],
	['={{ $json.model }}', [9, 3, 3]],
])('%s: references, at most %j', (code, [images, videos, audios]) => {
	const kinds = [images && 'image', videos && 'video', audios && 'audio'].filter(Boolean);
	const counts = [
		...countOf(images, 'image'),
		...countOf(videos, 'video'),
		...countOf(audios, 'audio file'),
	];
	const [references, ...more] = shownFor('id', code).filter(({ name }) => name === 'references');
	expect(more).toHaveLength(0);
	const [file] = references!.options as INodePropertyCollection[];
	const [kind] = file!.values;
	expect((kind!.options as INodePropertyOptions[]).map(({ value }) => value)).toStrictEqual(
		kinds,
	);
	expect(references!.description).toContain(`at most ${counts.join(', ')}`);
	expect(references!.description!.includes('15 seconds')).toBe(videos > 0);
});

test.each(SPEC_ROWS)('%s: the form of a pair is the form of the row', (code) => {
	const shown = (value: string) => shownFor('list', value);
	for (const own of ['acme', '0', 'video-m1', '~', 'ä'])
		expect(shown(`${code}=${own}`)).toStrictEqual(shown(code));
	for (const other of [`${code}0`, `${code}~`, `x${code}`, `${code}-pro`, ''])
		expect(shown(other)).toStrictEqual(shown('acme'));
});

const service = videoService();

const OWN = [
	{ code: 'acme-pro', like: 'video-m5' },
	{ code: ' acme=2 ', like: 'video-m7' },
	// An account's code may be the name of another row.
	{ code: 'video-m1', like: 'video-m8' },
];

async function create(
	model: { readonly mode: string; readonly value: string },
	parameters: RunOptions['parameters'] = {},
	{ rows = OWN, ...more }: Partial<RunOptions> & { readonly rows?: readonly object[] } = {},
) {
	const credential = { ...service.environment().credential, videoModels: { model: rows } };
	return await runNode('createVideo', {
		credential,
		parameters: { model: { __rl: true, ...model }, prompt: 'A lake', ...parameters },
		...more,
	});
}

test('a model chosen from the list has the form of its row, and the request has its code', async () => {
	const { outputs } = await create({ mode: 'list', value: 'video-m5=acme-pro' });
	const request = {
		prompt: 'A lake',
		model: 'acme-pro',
		aspect_ratio: '16:9',
		duration: 5,
		mode: 'std',
		generate_audio: true,
		watermark: false,
	};
	expect(service.server.requests[0]!.body).toStrictEqual(request);
	expect(outputs[0]![0]!.json).toMatchObject({ model: 'acme-pro', request });
});

test.each([
	['a code of the credential', 'id', 'acme=2', 'acme=2'],
	['a code of the credential by expression', 'id', '={{ $json.code }}', 'acme=2'],
	['a pair with the row first', 'id', 'video-m7=acme-new', 'acme-new'],
	['a pair by expression', 'list', '={{ "video-m7=" + $json.code }}', 'acme=2'],
])('%s behaves like its row: checks, adjustments and price', async (_name, mode, value, code) => {
	const { outputs } = await create(
		{ mode, value },
		{ duration: 9, options: { pricePerSecond: 0.5 } },
		{ items: [{ code: 'acme=2' }] },
	);
	// A pair with the row first has the list fields of the row, in which nobody enters 9.
	expect(service.server.requests[0]!.body).toMatchObject({ model: code, duration: 8 });
	expect(outputs[0]![0]!.json).toMatchObject({
		model: code,
		estimated_cost: 4,
		adjustments: [{ from: 9, to: 8, reason: `${code} supports Duration 4, 8 or 12` }],
	});
});

test('a code with an equals sign, and one that is the name of another row, are found in the credential', async () => {
	await create({ mode: 'id', value: 'acme=2' }, { duration: 7 });
	const { error } = await create({ mode: 'id', value: 'video-m1' }, { duration: 5 });
	expect(error?.message).toBe('Duration is 5. video-m1 supports Duration 8');
	await create({ mode: 'list', value: 'video-m8=video-m1' });
	expect(service.server.requests.map(({ body }) => body)).toMatchObject([
		{ model: 'acme=2', duration: 8 },
		{ model: 'video-m1', duration: 8 },
	]);
});

test.each(['acme-x', 'acme-pro=video-of-mine', 'video-of-mine=acme-pro'])(
	'%s behaves like no model of the table: what is entered is sent',
	async (value) => {
		await create({ mode: 'id', value }, { duration: 7, size: '4K' });
		expect(service.server.requests[0]!.body).toStrictEqual({
			prompt: 'A lake',
			model: value,
			duration: 7,
			size: '4K',
		});
	},
);

test.each<[readonly object[], string]>([
	[[{ code: ' ', like: 'video-m1' }], 'row 1 has no code'],
	[[...OWN, {}], 'row 4 has no code'],
	[
		[...OWN, { code: 'acme-pro ', like: 'video-m1' }],
		'row 4 has the code acme-pro, as row 1 has',
	],
])('%j: nothing is sent, and the error names the row', async (rows, problem) => {
	const { status, error } = await create({ mode: 'id', value: 'video-m1' }, {}, { rows });
	expect(status).toBe('error');
	expect(error).toMatchObject({ message: `Video Models in the credential: ${problem}` });
	expect(service.server.requests).toHaveLength(0);
});

/** The values of a list of a node, with the credential's lists. */
async function listedBy(
	search: (
		this: never,
		filter?: string,
	) => Promise<{ results: { name: string; value: unknown }[] }>,
	lists: object,
	filter?: string,
) {
	const context = { getCredentials: () => Promise.resolve(lists) };
	const { results } = await search.call(context as never, filter);
	return results.map(({ name, value }) => [name, value]);
}

test('the list of Create Video has the models of the account, or else those of the specification, and can be searched', async () => {
	const search = async function (this: never, filter?: string) {
		return await methods.listSearch.searchVideoModels.call(this, filter);
	};
	const own = { videoModels: { model: OWN } };
	expect(await listedBy(search, own)).toStrictEqual([
		['acme-pro: Text, images, or a video to edit; with sound', 'video-m5=acme-pro'],
		['acme=2: Text, or reference images', 'video-m7=acme=2'],
		['video-m1: Text, or reference images', 'video-m8=video-m1'],
	]);
	expect(await listedBy(search, own, 'EDIT')).toHaveLength(1);
	const same = { videoModels: { model: [{ code: 'video-m3', like: 'video-m3' }] } };
	expect(await listedBy(search, same)).toStrictEqual([
		['video-m3: Text, or first and last frame', 'video-m3'],
	]);
	const codesOf = async (lists: object, filter?: string) =>
		(await listedBy(search, lists, filter)).map(([, value]) => value);
	for (const none of [{}, { videoModels: {} }])
		expect(await codesOf(none)).toStrictEqual(SPEC_ROWS.map(([code]) => code));
	expect(await codesOf({}, 'M3')).toStrictEqual(['video-m3']);
	expect(await codesOf({}, 'edit')).toStrictEqual(
		SPEC_ROWS.filter(([, { editsVideos }]) => editsVideos).map(([code]) => code),
	);
});

test.each([new ChatCompletion(), new FunctionCallingAgent(), new AgentVideoChatModel()])(
	'the list of $description.displayName has the default and the chat models of the account',
	async (node) => {
		const search = node.methods.listSearch['searchModel']!;
		const chatModels = { model: [{ code: 'acme-c1', name: 'Acme' }, { code: 'acme-c2' }] };
		const first = ['Default Model', ''];
		expect(await listedBy(search, {})).toStrictEqual([first]);
		expect(await listedBy(search, { chatModels })).toStrictEqual([
			first,
			['Acme', 'acme-c1'],
			['acme-c2', 'acme-c2'],
		]);
		await expect(listedBy(search, { chatModels: { model: [{}] } })).rejects.toThrow(
			'Chat Models in the credential: row 1 has no code',
		);
	},
);

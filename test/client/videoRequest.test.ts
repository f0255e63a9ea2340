import fc from 'fast-check';

import { effectiveVideo } from '../../emulator/video/effectiveVideo';
import { EMULATED_MODELS as SERVICE_MODELS } from '../../emulator/video/models';
import { InputError } from '../../nodes/client/errors';
import {
	REFERENCES,
	VIDEO_MODELS,
	type Reference,
	type ReferenceKind,
	type VideoModel,
} from '../../nodes/client/video/models';
import { listed, videoRequest } from '../../nodes/client/video/videoRequest';
import {
	generatedDuration,
	maxImages,
	SPEC_ROWS,
	SPEC_VIDEO_MODELS,
} from '../support/specVideoModels';
import { thorough } from '../support/thorough';

type Counts = Partial<Record<ReferenceKind, number>>;
const urls = (kind: string, count: number) =>
	Array.from({ length: count }, (_, index) => `https://example.com/${kind}/${index}`);
const referencesOf = (counts: Counts) =>
	Object.entries(counts).flatMap(([kind, count]) =>
		urls(kind, count).map((url): Reference => ({ kind: kind as ReferenceKind, url })),
	);

const plan = (model: string, fields: Record<string, string> = {}, counts: Counts = {}) =>
	videoRequest({ model, prompt: 'A lake', fields, references: referencesOf(counts) });
const failure = (message: string, hint: string) =>
	expect.objectContaining({ name: 'InputError', message, hint }) as Error;

test.each([
	['the table', VIDEO_MODELS],
	['the emulator', SERVICE_MODELS],
])('%s has the models of the specification, in its order', (_where, models) => {
	expect(models.map(({ code }) => code)).toStrictEqual(SPEC_VIDEO_MODELS.map(({ code }) => code));
});

test('an empty field is not sent, nor an image mode without images', () => {
	const fields = { duration: '0', size: ' ', imageMode: 'first_last_frame', watermark: '' };
	expect(plan('video-m4', fields).request).toStrictEqual({ model: 'video-m4', prompt: 'A lake' });
});

test.each<[string, Record<string, string>, Counts, string]>([
	['', {}, {}, 'Model is empty'],
	['video-m1', { duration: '5.5' }, {}, 'Duration is 5.5'],
	['video-m1', { duration: 'long' }, {}, 'Duration is long'],
	['video-m1', { duration: '-5' }, {}, 'Duration is -5'],
	['video-m1', { watermark: 'maybe' }, {}, 'Watermark is maybe'],
	['video-m1', {}, { audio: 1 }, 'References contain audio alone'],
	['video-x9', {}, { audio: 1 }, 'References contain audio alone'],
])('"%s" with %j and %j: %s', (model, fields, counts, message) => {
	expect(() => plan(model, fields, counts)).toThrow(message);
});

test('a prompt of white space is empty', () => {
	const entered = { model: 'video-m1', prompt: ' \n', fields: {}, references: [] };
	expect(() => videoRequest(entered)).toThrow('Prompt is empty');
});

describe('a model that is not in the table', () => {
	const model = 'video-x9';

	test('gets every value as entered, under the names of spec 2.8, and all kinds of files together', () => {
		const fields = {
			aspectRatio: '21:9',
			duration: '7',
			size: '4K',
			qualityMode: 'turbo',
			imageMode: 'collage',
			generateAudio: 'true',
			watermark: 'false',
		};
		expect(plan(model, fields, { image: 9, video: 3, audio: 3 })).toStrictEqual({
			adjustments: [],
			seconds: 7,
			request: {
				model,
				prompt: 'A lake',
				images: urls('image', 9),
				videos: urls('video', 3),
				audios: urls('audio', 3),
				aspect_ratio: '21:9',
				duration: 7,
				size: '4K',
				mode: 'turbo',
				image_mode: 'collage',
				generate_audio: true,
				watermark: false,
			},
		});
	});

	test.each<[Counts, string, number]>([
		[{ image: 10 }, '10 images', 9],
		[{ video: 4 }, '4 videos', 3],
		[{ image: 1, audio: 4 }, '4 audio files', 3],
	])(
		"is limited to the service's maximum numbers of files (spec 8): %j",
		(counts, files, max) => {
			expect(() => plan(model, {}, counts)).toThrow(
				failure(
					`References contain ${files}. The service supports at most ${max}`,
					`Use at most ${max}`,
				),
			);
		},
	);
});

/** Field, entered value and sent value of each adjustment. */
const changes = ({ adjustments }: ReturnType<typeof plan>) =>
	adjustments.map(({ field, from, to }) => [field, from, to]);
const lengths = ({ request: { images, videos, audios } }: ReturnType<typeof plan>) => [
	images?.length ?? 0,
	videos?.length ?? 0,
	audios?.length ?? 0,
];
const sameWord = (words: readonly string[], entered: string) =>
	words.find((word) => word.toLowerCase() === entered.toLowerCase());

/** Values of all models, with the entered spelling. */
const valuesOf = (values: (row: (typeof SPEC_VIDEO_MODELS)[number]) => readonly string[]) => [
	...new Set(SPEC_VIDEO_MODELS.flatMap((row) => values(row))),
];
const RATIOS = [...valuesOf(({ ratios }) => ratios), '21:9', '5:6'];
const DURATIONS = Array.from({ length: 16 }, (_, index) => index + 1);
const SIZES = [...valuesOf(({ sizes }) => sizes), '2160P', '2K', '4k', '8K'];
const MODES = valuesOf(({ modes }) => Object.keys(modes));

describe.each(SPEC_ROWS)('%s', (model, spec) => {
	const row: VideoModel = VIDEO_MODELS.find(({ code }) => code === model)!;
	const specModes = Object.keys(spec.modes);

	/** The default comes first. */
	const sizes = spec.sizes.toSorted(
		(a, b) => Number(b === spec.defaultSize) - Number(a === spec.defaultSize),
	);
	const labels = { aspectRatio: 'Aspect Ratio', size: 'Size', qualityMode: 'Quality Mode' };
	const apiNames = { aspectRatio: 'aspect_ratio', size: 'size', qualityMode: 'mode' } as const;

	/** The error for a value that is none of these. */
	const rejected = (
		label: string,
		entered: string | number | boolean,
		values: readonly (string | number)[],
	) => {
		const all = listed(values);
		return values.length === 0
			? failure(
					`${label} is ${entered}, a field that ${model} does not have`,
					'Leave it empty',
				)
			: failure(`${label} is ${entered}. ${model} supports ${label} ${all}`, `Use ${all}`);
	};

	/** Sends a value of the model in its spelling, and rejects the rest with the list. */
	function expectSent(key: keyof typeof labels, entered: string, values: readonly string[]) {
		const sent = sameWord(values, entered);
		if (sent !== undefined) {
			const planned = plan(model, { [key]: entered });
			expect(planned.request[apiNames[key]]).toBe(sent);
			expect(changes(planned)).toStrictEqual([]);
			return;
		}
		expect(() => plan(model, { [key]: entered })).toThrow(
			rejected(labels[key], entered, values),
		);
	}

	test('the values and defaults', () => {
		const { input: _input, durationRule: _rule, modesInPlaceOfSize = [], ...values } = row;
		// A size says the same as a mode.
		const [listedModes, others] = spec.sizes.length > 0 ? [[], specModes] : [specModes, []];
		expect(modesInPlaceOfSize).toStrictEqual(others);
		expect(values).toStrictEqual({
			code: model,
			aspectRatios: spec.ratios,
			durations: spec.durations,
			defaultDuration: spec.defaultDuration,
			sizes,
			modes: listedModes,
			imageModes: spec.images,
			maxVideos: spec.videos,
			maxAudios: spec.audios,
			generatesAudio: spec.generatesAudio,
			editsVideos: spec.editsVideos,
		});
	});

	test.each(RATIOS)('aspect ratio %s', (ratio) => {
		expectSent('aspectRatio', ratio, spec.ratios);
	});

	test.each(DURATIONS)('duration %i', (duration) => {
		const sent = generatedDuration(spec, duration);
		if (sent === undefined) {
			expect(() => plan(model, { duration: `${duration}` })).toThrow(
				rejected('Duration', duration, spec.durations),
			);
			return;
		}
		const planned = plan(model, { duration: `${duration}` });
		expect(planned.request.duration).toBe(sent);
		expect(changes(planned)).toStrictEqual(
			sent === duration ? [] : [['duration', duration, sent]],
		);
	});

	test.each(SIZES)('size %s', (size) => {
		expectSent('size', size, sizes);
	});

	test.each(MODES)('mode %s, in lowercase and in uppercase', (mode) => {
		expectSent('qualityMode', mode, specModes);
		expectSent('qualityMode', mode.toUpperCase(), specModes);
		const both = () => plan(model, { qualityMode: mode, size: sizes[0]! });
		if (specModes.length > 0 && sizes.length > 0)
			expect(both).toThrow(`is ${mode} beside the Size ${sizes[0]!}, which says the same`);
	});

	test.each(['wide', 'big', 'best'])('%s is no value of any field', (text) => {
		expectSent('aspectRatio', text, spec.ratios);
		expectSent('size', text, sizes);
		expectSent('qualityMode', text, specModes);
	});

	test.each(['reference', 'first_last_frame'] as const)('images with mode %s', (imageMode) => {
		const max = spec.images[imageMode];
		if (max === undefined) {
			expect(() => plan(model, { imageMode }, { image: 1 })).toThrow(
				`Image Mode is ${imageMode}. ${model} supports Image Mode`,
			);
			return;
		}
		const full = plan(model, { imageMode }, { image: max });
		expect([full.request.images!.length, full.request.image_mode]).toStrictEqual([
			max,
			imageMode,
		]);
		expect(() => plan(model, { imageMode }, { image: max + 1 })).toThrow(
			failure(
				`References contain ${max + 1} images. ${model} supports at most ${max} with Image Mode ${imageMode}`,
				`Use at most ${max}`,
			),
		);
	});

	test('images without an image mode, and with one that no model has', () => {
		const max = maxImages(spec);
		expect(lengths(plan(model, {}, { image: max }))).toStrictEqual([max, 0, 0]);
		expect(() => plan(model, {}, { image: max + 1 })).toThrow(`supports at most ${max}`);
		expect(() => plan(model, { imageMode: 'collage' }, { image: 1 })).toThrow(
			'Image Mode is collage',
		);
	});

	test.each(['video', 'audio'] as const)('files of the kind %s', (kind) => {
		const max = spec[`${kind}s`];
		const take = (count: number) => plan(model, {}, { image: 1, [kind]: count });
		const [nth, noun] = kind === 'video' ? [1, 'video'] : [2, 'audio file'];
		if (max > 0) expect(lengths(take(max))[nth]).toBe(max);
		expect(() => take(max + 1)).toThrow(
			max === 0
				? failure(`References contain 1 ${noun}. ${model} supports no ${noun}`, 'Remove it')
				: `${model} supports at most ${max}`,
		);
	});

	test('audio alone', () => {
		expect(() => plan(model, {}, { audio: 1 })).toThrow(
			/^References contain (1 audio file|audio alone)/,
		);
	});

	test('images, videos and audio together', () => {
		const together = () => plan(model, {}, { image: 1, video: 1, audio: 1 });
		if (spec.videos * spec.audios === 0)
			expect(together).toThrow(/^References contain 1 .* supports no /);
		else expect(lengths(together())).toStrictEqual([1, 1, 1]);
	});

	test.each([true, false])('generated audio: %s', (on) => {
		const take = () => plan(model, { generateAudio: `${on}` });
		if (spec.generatesAudio)
			expect(take()).toMatchObject({ adjustments: [], request: { generate_audio: on } });
		else expect(take).toThrow(rejected('Generate Audio', on, []));
	});

	test.each([true, false])('watermark: %s', (on) => {
		const planned = plan(model, { watermark: `${on}` });
		expect(planned.request.watermark).toBe(on);
	});
});

test.each(SPEC_ROWS.filter(([, { videos }]) => videos > 0))(
	'%s: duration and sound with a reference video (spec 2.8)',
	(model, spec) => {
		const duration = spec.durations.at(-1)!;
		const planned = plan(
			model,
			{ duration: `${duration}`, generateAudio: 'true' },
			{ video: 1 },
		);
		// An edited video keeps them.
		expect([planned.request.duration, planned.request.generate_audio]).toStrictEqual(
			spec.editsVideos ? [undefined, undefined] : [duration, true],
		);
		expect(planned.seconds).toBe(spec.editsVideos ? undefined : duration);
		expect(changes(planned)).toStrictEqual([]);
	},
);

/** Mostly empty: a model rejects what it does not take. */
const oneOf = (...values: string[]) =>
	fc.oneof({ weight: 3, arbitrary: fc.constant('') }, fc.constantFrom(...values));
const count = (max: number) =>
	fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max }));

const entered = fc.record({
	model: fc.constantFrom(...SERVICE_MODELS.map(({ code }) => code)),
	prompt: fc.constant('A lake'),
	fields: fc.record({
		aspectRatio: oneOf('16:9', '1:1', '9:16', '4:3', '3:4', '21:9', 'wide'),
		duration: fc.oneof(fc.constant(''), fc.integer({ min: 1, max: 40 }).map(String)),
		size: oneOf('480P', '720P', '1080P', '720p', '1080p', '4K'),
		qualityMode: oneOf('std', 'pro', 'Pro', 'best'),
		imageMode: oneOf('reference', 'first_last_frame'),
		generateAudio: oneOf('true', 'false'),
		watermark: oneOf('true', 'false'),
	}),
	references: fc
		.tuple(count(10), count(4), count(4))
		.map((counts) =>
			referencesOf(
				Object.fromEntries(REFERENCES.map(({ kind }, row) => [kind, counts[row]])),
			),
		),
});

/** The plan; undefined where the input is rejected. */
function planned(input: Parameters<typeof videoRequest>[0]) {
	try {
		return videoRequest(input);
	} catch (error) {
		if (error instanceof InputError) return undefined;
		throw error;
	}
}

test('for any input, the service accepts the request and changes nothing in it', () => {
	fc.assert(
		fc.property(entered, (input) => {
			const made = planned(input);
			fc.pre(made !== undefined);
			const { request } = made;
			const model = SERVICE_MODELS.find(({ code }) => code === request.model)!;
			const video = effectiveVideo(request as Parameters<typeof effectiveVideo>[0], model);

			expect(video.images).toStrictEqual(request.images ?? []);
			// The service truncates videos and audio to 15 seconds in total: it may drop whole files.
			expect([...(request.videos ?? []), ...(request.audios ?? [])]).toEqual(
				expect.arrayContaining([...video.videos, ...video.audios].map(({ url }) => url)),
			);
			for (const field of [
				'aspect_ratio',
				'duration',
				'image_mode',
				'generate_audio',
				'watermark',
			] as const)
				if (request[field] !== undefined) expect(video[field]).toBe(request[field]);
			if (request.size !== undefined) expect(video.size).toBe(request.size.toUpperCase());
			if (request.mode !== undefined)
				expect(video.size).toBe(request.mode === 'pro' ? '1080P' : '720P');
		}),
		{ numRuns: thorough(500, 1_000) },
	);
});

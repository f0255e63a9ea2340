import { VIDEO_MODELS, type ReferenceKind, type VideoModel } from '../../nodes/client/video/models';
import { listed, videoRequest } from '../../nodes/client/video/videoRequest';
import {
	generatedDuration,
	maxImages,
	SPEC_ROWS,
	SPEC_VIDEO_MODELS,
} from '../support/specVideoModels';

type Counts = Partial<Record<ReferenceKind, number>>;

function plan(model: string, fields: Record<string, string>, counts: Counts = {}) {
	const references = (Object.entries(counts) as [ReferenceKind, number][]).flatMap(
		([kind, count]) =>
			Array.from({ length: count }, (_, index) => ({
				kind,
				url: `https://example.com/${kind}/${index}`,
			})),
	);
	return videoRequest({ model, prompt: 'A lake', fields, references });
}

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

test('the table has the models of the specification, in its order', () => {
	expect(VIDEO_MODELS.map(({ code }) => code)).toStrictEqual(
		SPEC_VIDEO_MODELS.map(({ code }) => code),
	);
});

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
	// A size says the same as a mode.
	const specModes = spec.sizes.length > 0 ? [] : Object.keys(spec.modes);

	/** The default comes first. */
	const sizes = spec.sizes.toSorted(
		(a, b) => Number(b === spec.defaultSize) - Number(a === spec.defaultSize),
	);
	const labels = { aspectRatio: 'Aspect Ratio', size: 'Size', qualityMode: 'Quality Mode' };
	const apiNames = { aspectRatio: 'aspect_ratio', size: 'size', qualityMode: 'mode' } as const;

	/** Sends a value of the model in its spelling, and rejects the rest with the list. */
	function expectSent(key: keyof typeof labels, entered: string, values: readonly string[]) {
		const sent = sameWord(values, entered);
		if (sent !== undefined) {
			const planned = plan(model, { [key]: entered });
			expect(planned.request[apiNames[key]]).toBe(sent);
			expect(changes(planned)).toStrictEqual([]);
			return;
		}
		const [message, hint] =
			values.length === 0
				? [
						`${labels[key]} is ${entered}, a field that ${model} does not have`,
						'Leave it empty',
					]
				: [
						`${labels[key]} is ${entered}. ${model} supports ${labels[key]} ${listed(values)}`,
						`Use ${listed(values)}`,
					];
		expect(() => plan(model, { [key]: entered })).toThrow(
			expect.objectContaining({ message, hint }) as Error,
		);
	}

	test('the values and defaults', () => {
		expect({
			ratios: row.aspectRatios,
			durations: row.durations,
			defaultDuration: row.defaultDuration,
			sizes: row.sizes,
			modes: row.modes,
			images: row.imageModes,
			videos: row.maxVideos,
			audios: row.maxAudios,
			generatesAudio: row.generatesAudio,
			editsVideos: row.editsVideos,
		}).toStrictEqual({
			ratios: spec.ratios,
			durations: spec.durations,
			defaultDuration: spec.defaultDuration,
			sizes,
			modes: specModes,
			images: spec.images,
			videos: spec.videos,
			audios: spec.audios,
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
				`Duration is ${duration}. ${model} supports Duration ${listed(spec.durations)}`,
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
			expect.objectContaining({
				message: `References contain ${max + 1} images. ${model} supports at most ${max} with Image Mode ${imageMode}`,
				hint: `Use at most ${max}`,
			}) as Error,
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
		const nth = kind === 'video' ? 1 : 2;
		if (max > 0) expect(lengths(take(max))[nth]).toBe(max);
		expect(() => take(max + 1)).toThrow(
			max === 0
				? `References contain 1 ${kind === 'video' ? 'video' : 'audio file'}. ${model} supports no`
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
		else
			expect(take).toThrow(
				expect.objectContaining({
					message: `Generate Audio is ${on}, a field that ${model} does not have`,
					hint: 'Leave it empty',
				}) as Error,
			);
	});

	test.each([true, false])('watermark: %s', (on) => {
		const planned = plan(model, { watermark: `${on}` });
		expect(planned.request.watermark).toBe(on);
	});
});

const WITH_VIDEOS = SPEC_ROWS.filter(([, { videos }]) => videos > 0);

test.each(WITH_VIDEOS)(
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

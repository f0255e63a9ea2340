import type { ReferenceKind } from '../../nodes/client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
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
	const specModes = Object.keys(spec.modes);

	/** What the form may have kept of another model: nobody set it, so it is dropped. */
	const defaults = { aspectRatio: undefined, size: '720P', qualityMode: 'std' };
	const labels = { aspectRatio: 'Aspect Ratio', size: 'Size', qualityMode: 'Quality Mode' };
	const apiNames = { aspectRatio: 'aspect_ratio', size: 'size', qualityMode: 'mode' } as const;

	/** Sends a value of the model in its spelling, drops the default of another one, and rejects the rest with the list. */
	function expectSent(
		key: keyof typeof labels,
		entered: string,
		values: readonly string[],
		sent = sameWord(values, entered),
	): void {
		const isDropped = values.length === 0 && sameWord([defaults[key] ?? ''], entered);
		if (sent !== undefined || isDropped) {
			const planned = plan(model, { [key]: entered });
			expect(planned.request[apiNames[key]]).toBe(sent);
			expect(changes(planned)).toStrictEqual([]);
			return;
		}
		const message =
			values.length === 0
				? `${labels[key]} is ${entered}, which ${model} does not support`
				: `${labels[key]} is ${entered}. ${model} supports ${labels[key]} ${listed(values)}`;
		const hint = values.length === 0 ? /^Leave it empty/ : `Use ${listed(values)}`;
		expect(() => plan(model, { [key]: entered })).toThrow(
			expect.objectContaining({
				message,
				hint: typeof hint === 'string' ? hint : (expect.stringMatching(hint) as string),
			}) as Error,
		);
	}

	test('the values and defaults', () => {
		expect({
			ratios: row.aspectRatios,
			durations: row.durations,
			defaultDuration: row.defaultDuration,
			sizes: row.sizes,
			defaultSize: row.defaultSize,
			modes: Object.entries(row.modes),
			images: row.imageModes,
			videos: row.maxVideos,
			audios: row.maxAudios,
			generatesAudio: row.generatesAudio,
			editsVideos: row.editsVideos,
		}).toStrictEqual({
			ratios: spec.ratios,
			durations: spec.durations,
			defaultDuration: spec.defaultDuration,
			sizes: spec.sizes,
			defaultSize: spec.defaultSize,
			modes: Object.entries(spec.modes),
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
		const ofModes = Object.values(spec.modes);
		if (spec.sizes.length > 0 || ofModes.length === 0 || !sameWord(ofModes, size)) {
			expectSent('size', size, spec.sizes.length > 0 ? spec.sizes : ofModes);
			return;
		}
		// Where quality modes mean sizes, the mode is sent.
		const meant = specModes.find((mode) => sameWord([spec.modes[mode]!], size));
		expect(plan(model, { size }).request).toMatchObject({ mode: meant });
		expect(plan(model, { size }).request.size).toBeUndefined();
	});

	test.each(MODES)('mode %s, in lowercase and in uppercase', (mode) => {
		expectSent('qualityMode', mode, specModes);
		expectSent('qualityMode', mode.toUpperCase(), specModes);
	});

	test.each(['wide', 'big', 'best'])('%s is no value of any field', (text) => {
		expectSent('aspectRatio', text, spec.ratios);
		expectSent('size', text, spec.sizes.length > 0 ? spec.sizes : Object.values(spec.modes));
		expectSent('qualityMode', text, specModes);
	});

	test('a size together with a mode: they match, and what is not the default is kept', () => {
		for (const size of spec.sizes) {
			for (const [mode, matchingSize] of Object.entries(spec.modes)) {
				const planned = plan(model, { size, qualityMode: mode });
				const [matchingMode] = specModes.filter((each) => spec.modes[each] === size);
				const sent =
					size === spec.defaultSize ? [matchingSize, mode] : [size, matchingMode];
				expect([planned.request.size, planned.request.mode]).toStrictEqual(sent);
				// The other one is the default, which nobody set.
				expect(changes(planned)).toStrictEqual([]);
			}
		}
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
				? `References contain ${kind === 'video' ? 'a video' : 'audio'}, which ${model} does not support`
				: `${model} supports at most ${max}`,
		);
	});

	test('audio alone', () => {
		expect(() => plan(model, {}, { audio: 1 })).toThrow('References contain audio');
	});

	test('images, videos and audio together', () => {
		const together = () => plan(model, {}, { image: 1, video: 1, audio: 1 });
		if (spec.videos * spec.audios === 0) expect(together).toThrow(/^References contain a/);
		else expect(lengths(together())).toStrictEqual([1, 1, 1]);
	});

	test.each([true, false])('generated audio: %s', (on) => {
		const take = () => plan(model, { generateAudio: `${on}` });
		if (spec.generatesAudio || on)
			expect(take()).toMatchObject({
				adjustments: [],
				request: spec.generatesAudio ? { generate_audio: on } : {},
			});
		else
			expect(take).toThrow(
				expect.objectContaining({
					message: `Generate Audio is false, which ${model} does not support`,
					hint: 'Leave it empty, or use a model like video-m1, video-m2 or video-m5',
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
		const fields = {
			duration: `${duration}`,
			...(spec.generatesAudio ? { generateAudio: 'true' } : {}),
		};
		const planned = plan(model, fields, { video: 1 });
		expect([planned.request.duration, planned.request.generate_audio]).toStrictEqual([
			spec.editsVideos ? undefined : duration,
			spec.generatesAudio ? !spec.editsVideos : undefined,
		]);
		expect(changes(planned)).toStrictEqual(
			spec.editsVideos ? [['duration', duration, null]] : [],
		);
	},
);

test.each(SPEC_ROWS.filter(([, { editsVideos }]) => editsVideos))(
	'%s: with a video to edit the default duration, which the form sends, is dropped silently, any other is reported',
	(model, { defaultDuration }) => {
		const edit = (duration: number) => plan(model, { duration: `${duration}` }, { video: 1 });
		expect(changes(edit(defaultDuration))).toStrictEqual([]);
		for (const other of [1, 9, 15])
			expect(changes(edit(other))).toStrictEqual([['duration', other, null]]);
	},
);

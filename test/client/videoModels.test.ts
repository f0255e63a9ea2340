import { closestSize, type ReferenceKind } from '../../nodes/client/video/fields';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
import {
	listed,
	type UnsupportedValues,
	videoRequest,
} from '../../nodes/client/video/videoRequest';
import {
	maxImages,
	sentDuration,
	sentRatio,
	sentSize,
	SPEC_ROWS,
	SPEC_VIDEO_MODELS,
} from '../support/specVideoModels';

type Counts = Partial<Record<ReferenceKind, number>>;

function plan(
	model: string,
	fields: Record<string, string>,
	counts: Counts = {},
	unsupported: UnsupportedValues = 'adjust',
) {
	const references = (Object.entries(counts) as [ReferenceKind, number][]).flatMap(
		([kind, count]) =>
			Array.from({ length: count }, (_, index) => ({
				kind,
				url: `https://example.com/${kind}/${index}`,
			})),
	);
	return videoRequest({ model, prompt: 'A lake', fields, references }, unsupported);
}

/** Field, entered value and sent value of each adjustment. */
const changes = ({ adjustments }: ReturnType<typeof plan>) =>
	adjustments.map(({ field, from, to }) => [field, from, to]);
const lengths = ({ request: { images, videos, audios } }: ReturnType<typeof plan>) => [
	images?.length ?? 0,
	videos?.length ?? 0,
	audios?.length ?? 0,
];

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

	/** What the form fills in, or may have kept of another model: nobody set it, so its change is not reported. */
	const defaults = {
		aspectRatio: spec.ratios[0],
		duration: spec.defaultDuration,
		size: spec.defaultSize ?? '720P',
		qualityMode: specModes[0] ?? 'std',
	};

	function stepsOf(field: string, entered: string | number, sent: string | number | null) {
		const meant = Object.values(spec.modes);
		if (field !== 'size' || spec.sizes.length > 0 || meant.length === 0)
			return [[field, entered, sent]];
		const size = sentSize({ ...spec, sizes: meant }, `${entered}`)!;
		return [...(size === entered ? [] : [[field, entered, size]]), [field, size, sent]];
	}

	/** Whether a value is sent as it is, or replaced by another one, reported, and rejected on request. */
	function expectSent(
		key: 'aspectRatio' | 'duration' | 'size' | 'qualityMode',
		field: 'aspect_ratio' | 'duration' | 'size' | 'mode',
		[entered, sent]: readonly [string | number, string | number | undefined],
	): void {
		const planned = plan(model, { [key]: `${entered}` });
		expect([entered, planned.request[field]]).toStrictEqual([entered, sent]);
		const isUnset = `${defaults[key]}`.toLowerCase() === `${entered}`.toLowerCase();
		expect(changes(planned)).toStrictEqual(
			// Where quality modes mean sizes, a size becomes one of theirs before it becomes the mode.
			entered === sent || isUnset ? [] : stepsOf(field, entered, sent ?? null),
		);
		const strict = () => plan(model, { [key]: `${entered}` }, {}, 'reject');
		if (entered === sent || isUnset) expect(strict().request[field]).toBe(sent);
		else expect(strict).toThrow(` is ${entered}. ${model}`);
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
		expectSent('aspectRatio', 'aspect_ratio', [ratio, sentRatio(spec, ratio)]);
	});

	test.each(DURATIONS)('duration %i', (duration) => {
		expectSent('duration', 'duration', [duration, sentDuration(spec, duration)]);
	});

	test.each(SIZES)('size %s', (size) => {
		const sent = spec.sizes.includes(size) ? size : sentSize(spec, size);
		expectSent('size', 'size', [size, sent]);
	});

	test.each(MODES)('mode %s, in lowercase and in uppercase', (mode) => {
		const sent = specModes.includes(mode) ? mode : specModes[0];
		expectSent('qualityMode', 'mode', [mode, sent]);
		expectSent('qualityMode', 'mode', [mode.toUpperCase(), sent]);
	});

	test.each([
		['Aspect Ratio', 'aspectRatio', 'wide', row.aspectRatios],
		['Size', 'size', 'big', row.sizes],
		['Quality Mode', 'qualityMode', 'best', Object.keys(row.modes)],
	] as const)('%s: a text that is near to no value is rejected', (label, key, text, values) => {
		if (values.length === 0) return;
		const supported = listed(values);
		for (const unsupported of ['adjust', 'reject'] as const) {
			expect(() => plan(model, { [key]: text }, {}, unsupported)).toThrow(
				expect.objectContaining({
					message: `${label} is ${text}. ${model} supports ${label} ${supported}`,
					hint: `Use ${supported}`,
				}) as Error,
			);
		}
	});

	test('a size together with a mode: they match, and what is not the default is kept', () => {
		for (const size of spec.sizes) {
			for (const [mode, matchingSize] of Object.entries(spec.modes)) {
				const planned = plan(model, { size, qualityMode: mode }, {}, 'reject');
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
				`Image Mode is ${imageMode}, which ${model} does not support`,
			);
			return;
		}
		const full = plan(model, { imageMode }, { image: max }, 'reject');
		expect([full.request.images!.length, full.request.image_mode]).toStrictEqual([
			max,
			imageMode,
		]);
		const over = plan(model, { imageMode }, { image: max + 1 });
		expect(over.request.images).toStrictEqual(full.request.images);
		expect(over.adjustments).toMatchObject([{ field: 'images', to: full.request.images }]);
		expect(() => plan(model, { imageMode }, { image: max + 1 }, 'reject')).toThrow(
			`Images are ${max + 1}`,
		);
	});

	test('images without an image mode, and with one that no model has', () => {
		expect(lengths(plan(model, {}, { image: 12 }))).toStrictEqual([maxImages(spec), 0, 0]);
		expect(() => plan(model, { imageMode: 'collage' }, { image: 1 })).toThrow(
			'Image Mode is collage',
		);
	});

	test('videos', () => {
		if (spec.videos === 0) {
			expect(() => plan(model, {}, { video: 1 })).toThrow(
				`References contain a video, which ${model} does not support`,
			);
			return;
		}
		expect(lengths(plan(model, {}, { video: spec.videos }, 'reject'))[1]).toBe(spec.videos);
		expect(lengths(plan(model, {}, { video: spec.videos + 1 }))[1]).toBe(spec.videos);
		expect(() => plan(model, {}, { video: spec.videos + 1 }, 'reject')).toThrow('Videos are');
	});

	test('audios, together with an image and alone', () => {
		const over = spec.audios + 1;
		const planned = plan(model, {}, { image: 1, audio: over });
		expect(lengths(planned)).toStrictEqual([1, 0, spec.audios]);
		expect(planned.adjustments).toMatchObject([{ field: 'audios' }]);
		expect(() => plan(model, {}, { image: 1, audio: over }, 'reject')).toThrow(
			`Audios are ${over}`,
		);
		if (spec.audios === 0) {
			expect(lengths(plan(model, {}, { audio: 1 }))).toStrictEqual([0, 0, 0]);
			return;
		}
		expect(() => plan(model, {}, { audio: 1 })).toThrow('References contain audio alone');
		expect(lengths(plan(model, {}, { image: 1, audio: 1 }))).toStrictEqual([1, 0, 1]);
	});

	test('images, videos and audio together', () => {
		const together = () => plan(model, {}, { image: 1, video: 1, audio: 1 });
		if (spec.videos === 0) expect(together).toThrow(/^References contain a video/);
		else expect(lengths(together())).toStrictEqual([1, 1, Math.min(1, spec.audios)]);
	});

	test.each([true, false])('generated audio: %s', (on) => {
		const planned = plan(model, { generateAudio: `${on}` });
		expect(planned.request.generate_audio).toBe(spec.generatesAudio ? on : undefined);
		expect(changes(planned)).toStrictEqual(
			spec.generatesAudio || on ? [] : [['generate_audio', on, null]],
		);
	});

	test.each([true, false])('watermark: %s', (on) => {
		const planned = plan(model, { watermark: `${on}` }, {}, 'reject');
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
	'%s: a video to edit rejects another duration, but not the default that the form sends',
	(model, { durations, defaultDuration, generatesAudio }) => {
		const edit = (duration: number) =>
			plan(
				model,
				{
					duration: `${duration}`,
					...(generatesAudio ? { generateAudio: 'true' } : {}),
				},
				{ video: 1 },
				'reject',
			);
		expect(edit(defaultDuration).adjustments).toStrictEqual([]);
		for (const other of durations.filter((each) => each !== defaultDuration)) {
			expect(() => edit(other)).toThrow(
				`Duration is ${other}. ${model} keeps the length and the sound of an edited video`,
			);
		}
	},
);

test('sizes that are named by their width have a place among the others', () => {
	expect(closestSize('720P', ['4K', '1080P', '720P'])).toBe('720P');
	expect(closestSize('4k', ['1080P', '2K', '4K'])).toBe('4K');
	expect(closestSize('2K', ['1080P', '4K'])).toBe('1080P');
	expect(closestSize('8K', ['2K', '4K', '720P'])).toBe('4K');
	expect(closestSize('hd', ['720P', 'HD'])).toBe('HD');
	expect(closestSize('Full HD', ['720P', '1080P'])).toBe('1080P');
	expect(closestSize('full', ['720P', '1080P'])).toBeUndefined();
});

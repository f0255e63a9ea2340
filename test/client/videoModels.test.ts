import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { UnsupportedValues } from '../../nodes/client/video/normalize';
import { VIDEO_MODELS, type VideoModel } from '../../nodes/client/video/models';
import type { ReferenceKind } from '../../nodes/client/video/references';
import { videoRequest } from '../../nodes/client/video/videoRequest';

/** Every cell of the specification's table (2.11), written from it and not from ours. */
interface SpecRow {
	readonly ratios: readonly string[];
	readonly durations: readonly number[];
	/** What goes out for the durations 1, 2, 3, … 16. */
	readonly snapped: readonly number[];
	readonly defaultDuration: number;
	readonly sizes: readonly string[];
	readonly defaultSize?: string;
	readonly modes: readonly string[];
	readonly reference: number;
	readonly firstLastFrame: number;
	readonly videos: number;
	readonly audios: number;
	readonly generateAudio: boolean;
	readonly editing: boolean;
}

const THREE = ['16:9', '1:1', '9:16'];
const NO_FILES = { videos: 0, audios: 0, generateAudio: false, editing: false };
const MULTIMODAL = {
	ratios: THREE,
	durations: [4, 5, 8, 10, 15],
	snapped: [4, 4, 4, 4, 5, 5, 8, 8, 8, 10, 10, 10, 15, 15, 15, 15],
	defaultDuration: 5,
	defaultSize: '720P',
	modes: [],
	reference: 9,
	firstLastFrame: 2,
	videos: 3,
	audios: 3,
	generateAudio: true,
	editing: false,
};
const FIVE_OR_TEN = [5, 5, 5, 5, 5, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10];

const SPEC: Readonly<Record<string, SpecRow>> = {
	'video-m1': { ...MULTIMODAL, sizes: ['480P', '720P', '1080P'] },
	'video-m2': { ...MULTIMODAL, sizes: ['480P', '720P'] },
	'video-m3': {
		...NO_FILES,
		ratios: THREE,
		durations: [5, 10],
		snapped: FIVE_OR_TEN,
		defaultDuration: 5,
		sizes: ['720P', '1080P'],
		defaultSize: '720P',
		modes: [],
		reference: 0,
		firstLastFrame: 2,
	},
	'video-m4': {
		...NO_FILES,
		ratios: THREE,
		durations: [5, 10],
		snapped: FIVE_OR_TEN,
		defaultDuration: 5,
		sizes: [],
		modes: [],
		reference: 0,
		firstLastFrame: 1,
	},
	'video-m5': {
		ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [3, 5, 8, 10, 15],
		snapped: [3, 3, 3, 3, 5, 5, 8, 8, 8, 10, 10, 10, 15, 15, 15, 15],
		defaultDuration: 5,
		sizes: [],
		modes: ['std', 'pro'],
		reference: 7,
		firstLastFrame: 2,
		videos: 1,
		audios: 0,
		generateAudio: true,
		editing: true,
	},
	'video-m6': {
		...NO_FILES,
		ratios: THREE,
		durations: [5, 10],
		snapped: [5, 5, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10, 10, 10, 10, 10],
		defaultDuration: 5,
		sizes: ['720p', '1080p'],
		defaultSize: '720p',
		modes: ['std', 'pro'],
		reference: 0,
		firstLastFrame: 2,
	},
	'video-m7': {
		...NO_FILES,
		ratios: THREE,
		durations: [4, 8, 12],
		snapped: [4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12, 12, 12],
		defaultDuration: 8,
		sizes: [],
		modes: [],
		reference: 5,
		firstLastFrame: 0,
	},
	'video-m8': {
		...NO_FILES,
		ratios: THREE,
		durations: [8],
		snapped: Array<number>(16).fill(8),
		defaultDuration: 8,
		sizes: [],
		modes: [],
		reference: 3,
		firstLastFrame: 0,
	},
};

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

/** Field, value entered and value sent of each adjustment. */
const changes = ({ adjustments }: ReturnType<typeof plan>) =>
	adjustments.map(({ field, from, to }) => [field, from, to]);
const lengths = ({ request: { images, videos, audios } }: ReturnType<typeof plan>) => [
	images?.length ?? 0,
	videos?.length ?? 0,
	audios?.length ?? 0,
];

test('the table has the models of the specification, in its order', () => {
	expect(VIDEO_MODELS.map(({ code }) => code)).toStrictEqual(Object.keys(SPEC));
});

describe.each(Object.entries(SPEC))('%s', (model, spec) => {
	const row: VideoModel = VIDEO_MODELS.find(({ code }) => code === model)!;

	test('the defaults', () => {
		expect([row.aspectRatios[0], row.defaultDuration, row.defaultSize, row.modes[0]]).toEqual([
			'16:9',
			spec.defaultDuration,
			spec.defaultSize,
			spec.modes[0],
		]);
	});

	test('aspect ratio', () => {
		expect(row.aspectRatios).toStrictEqual(spec.ratios);
		for (const aspectRatio of spec.ratios) {
			const planned = plan(model, { aspectRatio }, {}, 'refuse');
			expect(planned.request.aspect_ratio).toBe(aspectRatio);
			expect(planned.adjustments).toStrictEqual([]);
		}
		const closest = [
			['4:3', '16:9'],
			['3:4', '9:16'],
			['21:9', '16:9'],
			['5:6', '1:1'],
			['wide', '16:9'],
		].filter(([from]) => !spec.ratios.includes(from!));
		for (const [aspectRatio, sent] of closest) {
			const to = spec.ratios.includes('3:4') && aspectRatio === '5:6' ? '3:4' : sent;
			const planned = plan(model, { aspectRatio: aspectRatio! });
			expect(planned.request.aspect_ratio).toBe(to);
			expect(changes(planned)).toStrictEqual([['aspect_ratio', aspectRatio, to]]);
			expect(() => plan(model, { aspectRatio: aspectRatio! }, {}, 'refuse')).toThrow(
				`Aspect Ratio is ${aspectRatio}`,
			);
		}
	});

	test('duration', () => {
		expect(row.durations).toStrictEqual(spec.durations);
		spec.snapped.forEach((sent, index) => {
			const asked = index + 1;
			const planned = plan(model, { duration: `${asked}` });
			expect([asked, planned.request.duration]).toStrictEqual([asked, sent]);
			const isOwn = spec.durations.includes(asked);
			expect(changes(planned)).toStrictEqual(isOwn ? [] : [['duration', asked, sent]]);
			const refused = () => plan(model, { duration: `${asked}` }, {}, 'refuse');
			if (isOwn) expect(refused().request.duration).toBe(asked);
			else expect(refused).toThrow(`Duration is ${asked}`);
		});
	});

	test('size', () => {
		expect(row.sizes).toStrictEqual(spec.sizes);
		for (const size of spec.sizes) {
			expect(plan(model, { size }, {}, 'refuse').request.size).toBe(size);
		}
		for (const size of ['480P', '720P', '1080P', '720p', '1080p', '4K', '2160P']) {
			if (spec.sizes.includes(size)) continue;
			const planned = plan(model, { size });
			const sent = planned.request.size;
			if (spec.sizes.length === 0) expect(sent).toBeUndefined();
			else if (size === '4K') expect(sent).toBe(spec.defaultSize);
			else if (size === '2160P') expect(sent).toBe(spec.sizes.at(-1));
			else if (size === '480P') expect(sent).toBe(spec.sizes[0]);
			else if (model === 'video-m2') expect(sent).toBe('720P');
			else expect(sent!.toUpperCase()).toBe(size.toUpperCase());
			expect(changes(planned)).toStrictEqual([['size', size, sent ?? null]]);
			expect(() => plan(model, { size }, {}, 'refuse')).toThrow(`Size is ${size}`);
		}
	});

	test('mode', () => {
		expect(row.modes).toStrictEqual(spec.modes);
		for (const mode of ['std', 'pro']) {
			const planned = plan(model, { qualityMode: mode });
			const isTaken = spec.modes.includes(mode);
			expect(planned.request.mode).toBe(isTaken ? mode : undefined);
			expect(changes(planned)).toStrictEqual(isTaken ? [] : [['mode', mode, null]]);
			if (isTaken) continue;
			expect(() => plan(model, { qualityMode: mode }, {}, 'refuse')).toThrow(
				`Quality Mode is ${mode}`,
			);
		}
		const [, pro] = spec.modes;
		expect(plan(model, { qualityMode: 'PRO' }).request.mode).toBe(pro);
		expect(plan(model, { qualityMode: 'best' }).request.mode).toBe(spec.modes[0]);
	});

	test.each([
		['reference', spec.reference],
		['first_last_frame', spec.firstLastFrame],
	])('images with image mode %s', (imageMode, most) => {
		if (most === 0) {
			expect(() => plan(model, { imageMode }, { image: 1 })).toThrow(
				`Image Mode is ${imageMode}, which ${model} does not have`,
			);
			return;
		}
		const full = plan(model, { imageMode }, { image: most }, 'refuse');
		expect([full.request.images!.length, full.request.image_mode]).toStrictEqual([
			most,
			imageMode,
		]);
		const over = plan(model, { imageMode }, { image: most + 1 });
		expect(over.request.images).toStrictEqual(full.request.images);
		expect(over.adjustments).toMatchObject([{ field: 'images', to: full.request.images }]);
		expect(() => plan(model, { imageMode }, { image: most + 1 }, 'refuse')).toThrow(
			`Images are ${most + 1}`,
		);
	});

	test('images without image mode, and an image mode that no model has', () => {
		const most = Math.max(spec.reference, spec.firstLastFrame);
		expect(lengths(plan(model, {}, { image: 12 }))).toStrictEqual([most, 0, 0]);
		expect(() => plan(model, { imageMode: 'collage' }, { image: 1 })).toThrow(
			'Image Mode is collage',
		);
	});

	test('videos', () => {
		if (spec.videos === 0) {
			expect(() => plan(model, {}, { video: 1 })).toThrow(
				`References hold a video, which ${model} does not take`,
			);
			return;
		}
		expect(lengths(plan(model, {}, { video: spec.videos }, 'refuse'))[1]).toBe(spec.videos);
		expect(lengths(plan(model, {}, { video: spec.videos + 1 }))[1]).toBe(spec.videos);
		expect(() => plan(model, {}, { video: spec.videos + 1 }, 'refuse')).toThrow('Videos are');
	});

	test('audios: beside an image, and alone', () => {
		const planned = plan(model, {}, { image: 1, audio: 4 });
		expect(lengths(planned)).toStrictEqual([1, 0, spec.audios]);
		expect(planned.adjustments).toMatchObject([{ field: 'audios' }]);
		expect(() => plan(model, {}, { image: 1, audio: 4 }, 'refuse')).toThrow('Audios are 4');
		if (spec.audios > 0) {
			expect(() => plan(model, {}, { audio: 1 })).toThrow('References hold audio alone');
			expect(lengths(plan(model, {}, { video: 1, audio: 1 }))).toStrictEqual([0, 1, 1]);
		} else {
			expect(lengths(plan(model, {}, { audio: 1 }))).toStrictEqual([0, 0, 0]);
		}
	});

	test('images, videos and audio together', () => {
		const together = () => plan(model, {}, { image: 1, video: 1, audio: 1 });
		if (spec.audios > 0) expect(lengths(together())).toStrictEqual([1, 1, 1]);
		else expect(together).toThrow(/^References hold /);
	});

	test('generated audio', () => {
		for (const on of [true, false]) {
			const fields = { generateAudio: `${on}` };
			const planned = plan(model, fields);
			expect(planned.request.generate_audio).toBe(spec.generateAudio ? on : undefined);
			expect(changes(planned)).toStrictEqual(
				spec.generateAudio ? [] : [['generate_audio', on, null]],
			);
		}
	});

	test('watermark', () => {
		for (const on of [true, false]) {
			const planned = plan(model, { watermark: `${on}` }, {}, 'refuse');
			expect(planned.request.watermark).toBe(on);
		}
	});

	test('length and sound of a video that comes along', () => {
		if (spec.videos === 0) return;
		const planned = plan(model, { duration: '10', generateAudio: 'true' }, { video: 1 });
		expect([planned.request.duration, planned.request.generate_audio]).toStrictEqual(
			spec.editing ? [undefined, false] : [10, true],
		);
		expect(changes(planned)).toStrictEqual(
			spec.editing
				? [
						['duration', 10, null],
						['generate_audio', true, false],
					]
				: [],
		);
	});
});

test('the table of docs/create-video.md has a row for each model, with the values of ours', () => {
	const code = (value: string | number) => `\`${value}\``;
	const list = (values: readonly (string | number)[], show: (value: string) => string) =>
		values.length === 0
			? '–'
			: values
					.map((value, index) =>
						index === 0 ? `**${show(String(value))}**` : show(String(value)),
					)
					.join(' ');
	const defaultFirst = <T>(values: readonly T[], byDefault: T | undefined) =>
		[...values].sort((a, b) => Number(b === byDefault) - Number(a === byDefault));
	const expected = (VIDEO_MODELS as readonly VideoModel[]).map((model) => [
		code(model.code),
		list(model.aspectRatios, code),
		list(defaultFirst(model.durations, model.defaultDuration), String),
		list(defaultFirst(model.sizes, model.defaultSize), code),
		list(model.modes, code),
		Object.entries(model.imageModes)
			.map(([mode, most]) => `${code(mode)} ${most}`)
			.join(', '),
		`${model.maxVideos || '–'}`,
		`${model.maxAudios || '–'}`,
		model.generatesAudio ? 'yes' : '–',
	]);
	const page = readFileSync(join(__dirname, '../../docs/create-video.md'), 'utf8');
	const rows = page
		.split('\n')
		.filter((line) => line.startsWith('| `video-m'))
		.map((line) =>
			line
				.split('|')
				.slice(1, -1)
				.map((cell) => cell.trim()),
		);
	expect(rows).toStrictEqual(expected);
});

test('editing: defaults of the form are no reason to refuse, other values are (spec 2.8)', () => {
	const edit = (fields: Record<string, string>) =>
		plan('video-m5', fields, { video: 1 }, 'refuse');
	const planned = edit({ duration: '5', generateAudio: 'true' });
	expect(planned.request).not.toHaveProperty('duration');
	expect(planned.request.generate_audio).toBe(false);
	expect(planned.adjustments.map(({ reason }) => reason)).toStrictEqual([
		'video-m5 keeps the length of the video that it edits',
		'video-m5 keeps the sound of the video that it edits',
	]);
	expect(() => edit({ duration: '8' })).toThrow('Duration is 8. video-m5 keeps the length');
});

test.each([
	['1080p', 'std', '1080p', 'pro', [['mode', 'std', 'pro']]],
	['720p', 'pro', '1080p', 'pro', [['size', '720p', '1080p']]],
	['1080p', 'pro', '1080p', 'pro', []],
	['720p', 'std', '720p', 'std', []],
])(
	'video-m6: size %s with mode %s goes out as %s with %s',
	(size, mode, sentSize, sentMode, expected) => {
		const planned = plan('video-m6', { size, qualityMode: mode }, {}, 'refuse');
		expect([planned.request.size, planned.request.mode]).toStrictEqual([sentSize, sentMode]);
		expect(changes(planned)).toStrictEqual(expected);
	},
);

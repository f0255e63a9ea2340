/**
 * Every cell of the tables of video models (spec 2.11) and every rule of the creation request (spec 2.8): what is entered,
 * what is sent, and what is reported. Values are entered as the form or an expression gives them.
 */
import type { ReferenceKind } from '../../nodes/client/video/fields';
import { videoRequest } from '../../nodes/client/video/videoRequest';
import { SPEC_ROWS, SPEC_VIDEO_MODELS } from '../support/specVideoModels';

type Fields = Readonly<Record<string, string>>;
type Files = Partial<Record<ReferenceKind, number>>;

const urls = (kind: string, count: number) =>
	Array.from({ length: count }, (_, index) => `https://example.com/${kind}${index}`);

function plan(model: string, fields: Fields, files: Files = {}) {
	const references = (Object.entries(files) as [ReferenceKind, number][]).flatMap(
		([kind, count]) => urls(kind, count).map((url) => ({ kind, url })),
	);
	const entered = { model, prompt: 'A lake', fields, references };
	const planned = videoRequest(entered, 'adjust');
	const { model: code, prompt, ...sent } = planned.request;
	expect([code, prompt]).toStrictEqual([model, 'A lake']);
	const reported = planned.adjustments.map(({ field, from, to }) => [field, from, to]);
	return { sent, reported, reasons: planned.adjustments.map(({ reason }) => reason) };
}

const rejects = (model: string, fields: Fields, files: Files = {}) => {
	const entry = { model, prompt: 'A lake', fields };
	const references = (Object.entries(files) as [ReferenceKind, number][]).flatMap(
		([kind, count]) => urls(kind, count).map((url) => ({ kind, url })),
	);
	return expect(() => videoRequest({ ...entry, references }, 'adjust'));
};

type Case = readonly [models: string, fields: Fields, sent: object, reported: readonly unknown[]];

/** The models of the specification whose numbers are in the text: `m1 m3`, or `all`. */
const modelsIn = (text: string) =>
	SPEC_VIDEO_MODELS.map(({ code }) => code).filter(
		(code) => text === 'all' || text.split(' ').includes(code.replace('video-', '')),
	);
const byModel = (cases: readonly Case[]) =>
	cases.flatMap(([models, ...rest]) => modelsIn(models).map((code) => [code, ...rest] as const));

describe('aspect ratio (spec 2.11)', () => {
	test.each(
		byModel([
			...['16:9', '1:1', '9:16'].map((ratio): Case => [
				'all',
				{ aspectRatio: ratio },
				{ aspect_ratio: ratio },
				[],
			]),
			...['4:3', '3:4'].map((ratio): Case => [
				'm5',
				{ aspectRatio: ratio },
				{ aspect_ratio: ratio },
				[],
			]),
			[
				'm1 m2 m3 m4 m6 m7 m8',
				{ aspectRatio: '4:3' },
				{ aspect_ratio: '16:9' },
				[['aspect_ratio', '4:3', '16:9']],
			],
			[
				'all',
				{ aspectRatio: '21:9' },
				{ aspect_ratio: '16:9' },
				[['aspect_ratio', '21:9', '16:9']],
			],
			['all', { aspectRatio: '' }, {}, []],
		]),
	)('%s, %j: sends %j, reports %j', (model, fields, sent, reported) => {
		const planned = plan(model, fields);
		expect([planned.sent, planned.reported]).toStrictEqual([sent, reported]);
	});
});

/** Entered and sent seconds; what differs is reported. */
const DURATIONS: readonly (readonly [models: string, pairs: Readonly<Record<number, number>>])[] = [
	['m1 m2', { 4: 4, 5: 5, 8: 8, 10: 10, 15: 15, 1: 4, 6: 5, 7: 8, 9: 8, 12: 10, 13: 15, 60: 15 }],
	['m3 m4', { 5: 5, 10: 10, 1: 5, 4: 5, 6: 10, 7: 10, 11: 10 }],
	['m5', { 3: 3, 5: 5, 8: 8, 10: 10, 15: 15, 1: 3, 4: 3, 9: 8, 20: 15 }],
	['m6', { 5: 5, 10: 10, 1: 5, 7: 5, 8: 10, 11: 10 }],
	['m7', { 4: 4, 8: 8, 12: 12, 1: 4, 5: 4, 6: 4, 7: 8, 11: 12, 15: 12 }],
	['m8', { 8: 8, 4: 8, 5: 8, 12: 8 }],
];

test.each(
	DURATIONS.flatMap(([models, pairs]) =>
		modelsIn(models).flatMap((code) =>
			Object.entries(pairs).map(([from, to]) => [code, Number(from), to] as const),
		),
	),
)('%s, %i seconds: sends %i (spec 2.11)', (model, from, to) => {
	const { sent, reported } = plan(model, { duration: `${from}` });
	expect(sent).toStrictEqual({ duration: to });
	expect(reported).toStrictEqual(from === to ? [] : [['duration', from, to]]);
});

/** What is sent and reported for a size in any spelling: 1080 lines where the model has them. */
const LINES: Readonly<Record<number, readonly string[]>> = {
	480: ['480P', '480p', '480', '854x480', '360p'],
	720: ['720P', '720p', '1280x720', '720x1280', '1280 × 720', 'HD'],
	1080: ['1080P', '1080p', '1080', '1920x1080', '1080x1920', 'Full HD', 'full hd'],
	2160: ['2160p', '4K', '4k', 'UHD', '3840x2160', '8K', '1440p', '2K'],
};
const SIZES: Readonly<Record<string, Readonly<Record<number, object>>>> = {
	m1: {
		480: { size: '480P' },
		720: { size: '720P' },
		1080: { size: '1080P' },
		2160: { size: '1080P' },
	},
	m2: {
		480: { size: '480P' },
		720: { size: '720P' },
		1080: { size: '720P' },
		2160: { size: '720P' },
	},
	m3: {
		480: { size: '720P' },
		720: { size: '720P' },
		1080: { size: '1080P' },
		2160: { size: '1080P' },
	},
	m4: { 480: {}, 720: {}, 1080: {}, 2160: {} },
	m5: {
		480: { mode: 'std' },
		720: { mode: 'std' },
		1080: { mode: 'pro' },
		2160: { mode: 'pro' },
	},
	m6: {
		480: { size: '720p' },
		720: { size: '720p' },
		1080: { size: '1080p' },
		2160: { size: '1080p' },
	},
	m7: { 480: {}, 720: {}, 1080: {}, 2160: {} },
	m8: { 480: {}, 720: {}, 1080: {}, 2160: {} },
};

test.each(
	Object.entries(SIZES).flatMap(([model, byLines]) =>
		Object.entries(byLines).flatMap(([lines, sent]) =>
			LINES[Number(lines)]!.map((size) => [model, size, sent] as const),
		),
	),
)('%s, size %s: sends %j, and reports what is not the default (spec 2.11)', (model, size, sent) => {
	const planned = plan(`video-${model}`, { size });
	expect(planned.sent).toStrictEqual(sent);
	// 720P is the size of every model that says nothing: nobody needs to hear of it.
	if (size.toLowerCase() === '720p') {
		expect(planned.reported).toStrictEqual([]);
		return;
	}
	const meant = 'mode' in sent ? { std: '720P', pro: '1080P' }[sent.mode as 'std' | 'pro'] : null;
	const last = 'size' in sent ? sent.size : null;
	const steps = [size, ...(meant === null || meant === size ? [] : [meant]), last];
	expect(planned.reported).toStrictEqual(
		steps
			.slice(1)
			.map((to, index) => ['size', steps[index], to])
			.filter(([, from, to]) => from !== to),
	);
});

test('a size that a quality mode means says so', () => {
	expect(plan('video-m5', { size: '1080P' }).reasons).toStrictEqual([
		'video-m5: Quality Mode pro means Size 1080P',
	]);
});

describe('size and quality mode (spec 2.8)', () => {
	test.each<readonly [string, Fields, object, readonly unknown[]]>([
		['video-m5', { qualityMode: 'std' }, { mode: 'std' }, []],
		['video-m5', { qualityMode: 'pro' }, { mode: 'pro' }, []],
		['video-m5', { qualityMode: 'PRO' }, { mode: 'pro' }, [['mode', 'PRO', 'pro']]],
		[
			'video-m5',
			{ qualityMode: 'pro', size: '1080P' },
			{ mode: 'pro' },
			[['size', '1080P', null]],
		],
		[
			'video-m5',
			{ qualityMode: 'pro', size: '480P' },
			{ mode: 'pro' },
			[
				['size', '480P', '720P'],
				['size', '720P', null],
			],
		],
		// The default of the form gives way.
		[
			'video-m5',
			{ qualityMode: 'std', size: '1080P' },
			{ mode: 'pro' },
			[['size', '1080P', null]],
		],
		['video-m5', { qualityMode: 'pro', size: '720P' }, { mode: 'pro' }, []],
		['video-m6', { qualityMode: 'std' }, { mode: 'std' }, []],
		['video-m6', { qualityMode: 'pro' }, { mode: 'pro' }, []],
		['video-m6', { qualityMode: 'pro', size: '720p' }, { mode: 'pro', size: '1080p' }, []],
		['video-m6', { qualityMode: 'std', size: '1080p' }, { mode: 'pro', size: '1080p' }, []],
		['video-m6', { qualityMode: 'std', size: '720p' }, { mode: 'std', size: '720p' }, []],
		...modelsIn('m1 m2 m3 m4 m7 m8').flatMap((code) => [
			[code, { qualityMode: 'std' }, {}, []] as const,
			[code, { qualityMode: 'pro' }, {}, [['mode', 'pro', null]]] as const,
		]),
	])('%s, %j: sends %j, reports %j', (model, fields, sent, reported) => {
		const planned = plan(model, fields);
		expect([planned.sent, planned.reported]).toStrictEqual([sent, reported]);
	});

	test.each(['video-m1', 'video-m5', 'video-m6'])('%s: no size is near to "big"', (model) => {
		rejects(model, { size: 'big' }).toThrow(/^Size is big\. .* supports Size .*1080p/i);
	});
});

describe('reference files (spec 2.8, 2.11)', () => {
	/** Maximum number of images by mode, of videos and of audio files; no image mode is `undefined`. */
	const ROWS = [
		['m1 m2', 9, 2, 3, 3],
		['m3 m6', undefined, 2, 0, 0],
		['m4', undefined, 1, 0, 0],
		['m5', 7, 2, 1, 0],
		['m7', 5, undefined, 0, 0],
		['m8', 3, undefined, 0, 0],
	] as const;
	const rows = ROWS.flatMap(([models, ...rest]) =>
		modelsIn(models).map((code) => [code, ...rest] as const),
	);

	test.each(rows)(
		'%s: %s reference images, %s frames, %i videos, %i audio files',
		(model, reference, frames, videos, audios) => {
			for (const [mode, max] of [
				['reference', reference],
				['first_last_frame', frames],
			] as const) {
				if (max === undefined) {
					rejects(model, { imageMode: mode }, { image: 1 }).toThrow(
						`Image Mode is ${mode}`,
					);
					continue;
				}
				for (const count of [1, max, max + 1]) {
					const { sent, reported } = plan(model, { imageMode: mode }, { image: count });
					const images = urls('image', Math.min(count, max));
					expect(sent).toStrictEqual({ images, image_mode: mode });
					expect(reported).toStrictEqual(
						count <= max ? [] : [['images', urls('image', count), images]],
					);
				}
			}
			if (videos === 0) rejects(model, {}, { video: 1 }).toThrow('contain a video');
			else
				expect(plan(model, {}, { video: 4 }).sent).toStrictEqual({
					videos: urls('video', videos),
				});
			const withAudio = plan(model, {}, { image: 1, audio: 4 });
			expect(withAudio.sent).toStrictEqual({
				images: urls('image', 1),
				...(audios === 0 ? {} : { audios: urls('audio', audios) }),
			});
			expect(withAudio.reported).toStrictEqual([
				['audios', urls('audio', 4), audios === 0 ? null : urls('audio', audios)],
			]);
		},
	);

	test('image, video and audio together: m1 and m2 take them, m5 ignores the audio, which is reported', () => {
		const all = { image: 1, video: 1, audio: 1 };
		const both = { images: urls('image', 1), videos: urls('video', 1) };
		for (const code of modelsIn('m1 m2'))
			expect(plan(code, {}, all)).toMatchObject({
				sent: { ...both, audios: urls('audio', 1) },
				reported: [],
			});
		const edited = plan('video-m5', {}, all);
		expect(edited.sent).toStrictEqual(both);
		expect(edited.reported).toStrictEqual([['audios', urls('audio', 1), null]]);
	});

	test.each([...modelsIn('m1 m2'), 'video-x9'])('%s: audio alone is refused', (model) => {
		rejects(model, {}, { audio: 1 }).toThrow('References contain audio alone');
	});
});

describe('generated audio and watermark (spec 2.8)', () => {
	test.each(SPEC_ROWS)('%s', (model, { generatesAudio }) => {
		// True is the default, which a form may have kept of another model; false is what somebody set.
		for (const on of [true, false]) {
			const { sent, reported } = plan(model, { generateAudio: `${on}` });
			expect(sent).toStrictEqual(generatesAudio ? { generate_audio: on } : {});
			expect(reported).toStrictEqual(
				generatesAudio || on ? [] : [['generate_audio', on, null]],
			);
			expect(plan(model, { watermark: `${on}` })).toMatchObject({
				sent: { watermark: on },
				reported: [],
			});
		}
	});

	test('video-m5: a video to edit keeps its sound and its length; only what was set is reported', () => {
		const videos = urls('video', 1);
		const fields = { generateAudio: 'true', duration: '5' };
		expect(plan('video-m5', fields, { video: 1 })).toMatchObject({
			sent: { videos, generate_audio: false },
			reported: [],
		});
		expect(plan('video-m5', { duration: '8' }, { video: 1 })).toMatchObject({
			sent: { videos },
			reported: [['duration', 8, null]],
		});
	});
});

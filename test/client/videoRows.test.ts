/**
 * Every cell of the tables of video models (spec 2.11) and every rule of the creation request (spec 2.8): what is entered,
 * what is sent, and what is reported. Values are entered as the form or an expression gives them.
 */
import type { ReferenceKind } from '../../nodes/client/video/models';
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
	const planned = videoRequest(entered);
	const { model: code, prompt, ...sent } = planned.request;
	expect([code, prompt]).toStrictEqual([model, 'A lake']);
	const reported = planned.adjustments.map(({ field, from, to }) => [field, from, to]);
	return { sent, reported };
}

const rejects = (model: string, fields: Fields, files: Files = {}) => {
	const entry = { model, prompt: 'A lake', fields };
	const references = (Object.entries(files) as [ReferenceKind, number][]).flatMap(
		([kind, count]) => urls(kind, count).map((url) => ({ kind, url })),
	);
	return expect(() => videoRequest({ ...entry, references }));
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
			['all', { aspectRatio: '' }, {}, []],
		]),
	)('%s, %j: sends %j, reports %j', (model, fields, sent, reported) => {
		const planned = plan(model, fields);
		expect([planned.sent, planned.reported]).toStrictEqual([sent, reported]);
	});

	test.each([
		...modelsIn('m1 m2 m3 m4 m6 m7 m8').map((code) => [code, '4:3'] as const),
		...modelsIn('all').map((code) => [code, '21:9'] as const),
	])('%s, %s: is refused with the ratios of the model', (model, ratio) => {
		rejects(model, { aspectRatio: ratio }).toThrow(/^Aspect Ratio is .* 16:9, /);
	});
});

/** Entered and sent seconds; what differs is reported, 0 stands for a refusal. */
const DURATIONS: readonly (readonly [models: string, pairs: Readonly<Record<number, number>>])[] = [
	['m1 m2', { 4: 4, 5: 5, 8: 8, 10: 10, 15: 15, 1: 0, 6: 0, 7: 0, 9: 0, 12: 0, 60: 0 }],
	['m3 m4', { 5: 5, 10: 10, 1: 5, 4: 5, 6: 10, 7: 10, 11: 10 }],
	['m5', { 3: 3, 5: 5, 8: 8, 10: 10, 15: 15, 1: 0, 4: 0, 9: 0, 20: 0 }],
	['m6', { 5: 5, 10: 10, 1: 0, 7: 0, 11: 0 }],
	['m7', { 4: 4, 8: 8, 12: 12, 1: 4, 5: 4, 6: 4, 7: 8, 11: 12, 15: 12 }],
	['m8', { 8: 8, 4: 0, 5: 0, 12: 0 }],
];

test.each(
	DURATIONS.flatMap(([models, pairs]) =>
		modelsIn(models).flatMap((code) =>
			Object.entries(pairs).map(([from, to]) => [code, Number(from), to] as const),
		),
	),
)('%s, %i seconds: sends %i (spec 2.11)', (model, from, to) => {
	if (to === 0) {
		rejects(model, { duration: `${from}` }).toThrow(/^Duration is \d+\. .* supports Duration /);
		return;
	}
	const { sent, reported } = plan(model, { duration: `${from}` });
	expect(sent).toStrictEqual({ duration: to });
	expect(reported).toStrictEqual(from === to ? [] : [['duration', from, to]]);
});

/** What is sent for a size, in either case; the others are refused. */
const SIZES: Readonly<Record<string, Readonly<Record<string, object>>>> = {
	m1: { '480P': { size: '480P' }, '720P': { size: '720P' }, '1080P': { size: '1080P' } },
	m2: { '480P': { size: '480P' }, '720P': { size: '720P' } },
	m3: { '720P': { size: '720P' }, '1080P': { size: '1080P' } },
	m5: {},
	m6: { '720P': { size: '720p' }, '1080P': { size: '1080p' } },
	m4: {},
	m7: {},
	m8: {},
};

test.each(
	Object.entries(SIZES).flatMap(([model, sizes]) =>
		['360P', '480P', '720P', '1080P', '4K', '1280x720', 'HD'].flatMap((size) =>
			[size, size.toLowerCase()].map((entered) => [model, entered, sizes[size]] as const),
		),
	),
)('%s, size %s: sends %j (spec 2.11)', (model, size, sent) => {
	if (sent === undefined) rejects(`video-${model}`, { size }).toThrow(`Size is ${size}`);
	else expect(plan(`video-${model}`, { size })).toStrictEqual({ sent, reported: [] });
});

describe('quality mode, where no size says it (spec 2.8)', () => {
	test.each([
		['std', 'std'],
		['pro', 'pro'],
		['PRO', 'pro'],
	])('video-m5, %s: sends %s', (qualityMode, mode) => {
		expect(plan('video-m5', { qualityMode })).toStrictEqual({ sent: { mode }, reported: [] });
	});

	test.each(modelsIn('m1 m2 m3 m4 m6 m7 m8'))('%s: is refused', (model) => {
		for (const qualityMode of ['std', 'pro'])
			rejects(model, { qualityMode }).toThrow(`Quality Mode is ${qualityMode}`);
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
				for (const count of [1, max])
					expect(plan(model, { imageMode: mode }, { image: count }).sent).toStrictEqual({
						images: urls('image', count),
						image_mode: mode,
					});
				rejects(model, { imageMode: mode }, { image: max + 1 }).toThrow(
					`supports at most ${max} with Image Mode ${mode}`,
				);
			}
			for (const [kind, max] of [
				['video', videos],
				['audio', audios],
			] as const) {
				const files = urls(kind, max);
				if (max === 0) rejects(model, {}, { image: 1, [kind]: 1 }).toThrow('supports no ');
				else
					expect(plan(model, {}, { image: 1, [kind]: max }).sent).toMatchObject({
						[`${kind}s`]: files,
					});
				rejects(model, {}, { image: 1, [kind]: max + 1 }).toThrow(/support/);
			}
		},
	);

	test('image, video and audio together: m1 and m2 take them, m5 no audio', () => {
		const all = { image: 1, video: 1, audio: 1 };
		const both = { images: urls('image', 1), videos: urls('video', 1) };
		for (const code of modelsIn('m1 m2'))
			expect(plan(code, {}, all)).toMatchObject({
				sent: { ...both, audios: urls('audio', 1) },
				reported: [],
			});
		rejects('video-m5', {}, all).toThrow('References contain 1 audio file');
	});

	test.each([...modelsIn('m1 m2'), 'video-x9'])('%s: audio alone is refused', (model) => {
		rejects(model, {}, { audio: 1 }).toThrow('References contain audio alone');
	});
});

describe('generated audio and watermark (spec 2.8)', () => {
	test.each(SPEC_ROWS)('%s', (model, { generatesAudio }) => {
		for (const on of [true, false]) {
			const fields = { generateAudio: `${on}` };
			if (!generatesAudio) rejects(model, fields).toThrow(`Generate Audio is ${on}`);
			else
				expect(plan(model, fields)).toStrictEqual({
					sent: { generate_audio: on },
					reported: [],
				});
			expect(plan(model, { watermark: `${on}` })).toMatchObject({
				sent: { watermark: on },
				reported: [],
			});
		}
	});

	test('video-m5: a video to edit keeps its sound and its length', () => {
		const fields = { generateAudio: 'true', duration: '5', watermark: 'true' };
		expect(plan('video-m5', fields, { video: 1 })).toStrictEqual({
			sent: { videos: urls('video', 1), watermark: true },
			reported: [],
		});
	});
});

import { EMULATED_MODELS } from '../../emulator/video/models';
import { errorBody, startService, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const create = (more: Json) =>
	service.createVideo({ prompt: 'A cat in the rain', model: 'video-m1', ...more });

/** Effective settings of an accepted request. */
async function effective(more: Json): Promise<Json> {
	const { status, body } = await create(more);
	expect([status, body]).toEqual([
		200,
		expect.objectContaining({ status: expect.anything() as unknown }),
	]);
	return service.tasks.all.at(-1)!.video as unknown as Json;
}

const urls = (kind: string, count: number) =>
	Array.from({ length: count }, (_, i) => `https://example.com/${kind}${i + 1}`);

describe('2.8 video creation request', () => {
	it.each<[string, Json, string]>([
		['prompt: missing', { prompt: undefined }, 'prompt is required'],
		['prompt: empty', { prompt: '' }, 'prompt must not be empty'],
		['prompt: blank', { prompt: ' \n ' }, 'prompt must not be empty'],
		['prompt: type', { prompt: ['x'] }, 'prompt must be of type string'],
		['model: missing', { model: undefined }, 'model is required'],
		['images: not a list', { images: 'https://example.com/a' }, 'images must be of type array'],
		['images: entry', { images: [5] }, 'images[0] must be of type string'],
		['size: value', { size: '4K' }, 'size must be one of 480P, 720P, 1080P for this model'],
		[
			'size: spelling',
			{ model: 'video-m6', size: '720P' },
			'size must be one of 720p, 1080p for this model',
		],
		[
			'size: not of the model',
			{ model: 'video-m2', size: '1080P' },
			'size must be one of 480P, 720P for this model',
		],
		[
			'aspect_ratio: not of the model',
			{ aspect_ratio: '4:3' },
			'aspect_ratio must be one of 16:9, 1:1, 9:16 for this model',
		],
		['duration: fraction', { duration: 5.5 }, 'duration must be of type integer'],
		['duration: text', { duration: '5' }, 'duration must be of type integer'],
		['duration: zero', { duration: 0 }, 'duration must be at least 1'],
		[
			'duration: not of the model',
			{ duration: 6 },
			'duration must be one of 4, 5, 8, 10, 15 for this model',
		],
		[
			'mode: value',
			{ model: 'video-m5', mode: 'best' },
			'mode must be one of std, pro for this model',
		],
		[
			'image_mode: value',
			{ image_mode: 'first' },
			'image_mode must be one of reference, first_last_frame',
		],
		[
			'image_mode: not of the model',
			{ model: 'video-m3', images: urls('i', 1), image_mode: 'reference' },
			'image_mode must be one of first_last_frame for this model',
		],
		[
			'generate_audio: type',
			{ generate_audio: 'no' },
			'generate_audio must be of type boolean',
		],
		['watermark: type', { watermark: 1 }, 'watermark must be of type boolean'],
		[
			'audios alone',
			{ audios: urls('a', 1) },
			'audios cannot be used alone. Add an image or a video.',
		],
		[
			'images: base64',
			{ images: ['iVBORw0KGgo='] },
			'images[0] must be a public URL; base64 is not supported',
		],
		[
			'images: data URL',
			{ images: [...urls('i', 1), 'data:image/png;base64,AAAA'] },
			'images[1] must be a public URL; base64 is not supported',
		],
		[
			'videos: ftp',
			{ videos: ['ftp://example.com/v'] },
			'videos[0] must be an http or https URL',
		],
		[
			'audios: unreachable',
			{ audios: ['https://a.invalid/x'] },
			'audios[0] cannot be reached: a.invalid',
		],
	])('2.8 rejects %s', async (_name, more, message) => {
		const { status, body } = await create(more);
		expect([status, body]).toEqual([400, errorBody(message)]);
	});

	it('2.8 defaults', async () => {
		expect(await effective({})).toEqual({
			model: 'video-m1',
			prompt: 'A cat in the rain',
			size: '720P',
			aspect_ratio: '16:9',
			duration: 5,
			image_mode: null,
			images: [],
			videos: [],
			audios: [],
			generate_audio: true,
			watermark: false,
		});
	});

	it('2.8 images, videos and audios are truncated to their limits', async () => {
		const video = await effective({
			images: urls('i', 12),
			videos: urls('v', 4),
			audios: urls('a', 4),
		});
		expect(video['images']).toEqual(urls('i', 9));
		// Files of unknown length count as 5 seconds each: three videos use up all 15.
		expect(video['videos']).toEqual(urls('v', 3).map((url) => ({ url, seconds: 5 })));
		expect(video['audios']).toEqual([]);
	});

	it('2.8 videos and audios together are truncated to 15 seconds', async () => {
		const clip = (seconds: number) => `${service.url}/cdn/videos/x_720P_16x9_${seconds}s.mp4`;
		const video = await effective({ videos: [clip(8), clip(4)], audios: [clip(10), clip(5)] });
		expect([video['videos'], video['audios']]).toEqual([
			[
				{ url: clip(8), seconds: 8 },
				{ url: clip(4), seconds: 4 },
			],
			[{ url: clip(10), seconds: 3 }],
		]);
	});

	it('2.8 size takes precedence over mode, if the model has both', async () => {
		const video = await effective({ model: 'video-m6', mode: 'pro', size: '720p' });
		expect(video['size']).toBe('720P');
	});

	it('2.8 generate_audio is false when video-m5 edits a video', async () => {
		const audio = async (more: Json) => (await effective(more))['generate_audio'];
		const videos = urls('v', 1);
		expect(await audio({ model: 'video-m5', videos, generate_audio: true })).toBe(false);
		expect(await audio({ model: 'video-m1', videos })).toBe(true);
	});

	it('2.8 watermark can be enabled', async () => {
		expect((await effective({ watermark: true }))['watermark']).toBe(true);
	});

	it('2.8 treats null as not set, and ignores unknown fields', async () => {
		const video = await effective({ images: null, size: null, duration: null, seed: 5 });
		expect(video).toMatchObject({ images: [], size: '720P', duration: 5 });
	});
});

/** Expected behavior of a model. */
interface ModelRow {
	readonly model: string;
	readonly ratios: readonly string[];
	/** Accepted values of `size`; empty if the model ignores `size`. */
	readonly sizes: readonly string[];
	/** Size of the video without `size` and `mode`. */
	readonly defaultSize: string;
	/** Size of the video by `mode`; undefined if the model ignores `mode`. */
	readonly modes?: Readonly<Record<string, string>>;
	/** Requested and effective duration; 0 if it is rejected. */
	readonly durations: readonly (readonly [requested: number, effective: number])[];
	readonly defaultDuration: number;
	/** Image mode and number of images used out of twelve; 0 if it is rejected. */
	readonly images: readonly (readonly [mode: string | undefined, used: number])[];
	/** Number of reference videos and audios used out of four. */
	readonly videos: number;
	readonly audios: number;
	/** Whether the model supports `generate_audio`. */
	readonly generatesAudio: boolean;
}

/** Values that every model is tested with, supported or not. */
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'];
const SIZES = ['480P', '720P', '1080P', '480p', '720p', '1080p'];

const THREE = ['16:9', '1:1', '9:16'];
const FIVE_OR_TEN = [
	[1, 5],
	[5, 5],
	[6, 10],
	[10, 10],
	[60, 10],
] as const;
const MULTIMODAL = {
	ratios: THREE,
	defaultSize: '720P',
	durations: [
		[3, 0],
		[4, 4],
		[5, 5],
		[6, 0],
		[8, 8],
		[10, 10],
		[15, 15],
		[16, 0],
	],
	defaultDuration: 5,
	images: [
		[undefined, 9],
		['reference', 9],
		['first_last_frame', 2],
	],
	videos: 3,
	audios: 3,
	generatesAudio: true,
} as const;
const TEXT = {
	ratios: THREE,
	sizes: [],
	defaultSize: '720P',
	videos: 0,
	audios: 0,
	generatesAudio: false,
} as const;
const STD_OR_PRO = { std: '720P', pro: '1080P' } as const;

/** The table of section 2.11, one row per model, independent of `emulator/video/models.ts`. */
const ROWS: readonly ModelRow[] = [
	{ ...MULTIMODAL, model: 'video-m1', sizes: ['480P', '720P', '1080P'] },
	{ ...MULTIMODAL, model: 'video-m2', sizes: ['480P', '720P'] },
	{
		...TEXT,
		model: 'video-m3',
		sizes: ['720P', '1080P'],
		durations: FIVE_OR_TEN,
		defaultDuration: 5,
		images: [
			[undefined, 2],
			['first_last_frame', 2],
			['reference', 0],
		],
	},
	{
		...TEXT,
		model: 'video-m4',
		durations: FIVE_OR_TEN,
		defaultDuration: 5,
		images: [
			[undefined, 1],
			['first_last_frame', 1],
			['reference', 0],
		],
	},
	{
		...TEXT,
		model: 'video-m5',
		ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [
			[3, 3],
			[4, 0],
			[5, 5],
			[8, 8],
			[10, 10],
			[15, 15],
			[20, 0],
		],
		defaultDuration: 5,
		images: [
			[undefined, 7],
			['reference', 7],
			['first_last_frame', 2],
		],
		videos: 1,
		modes: STD_OR_PRO,
		generatesAudio: true,
	},
	{
		...TEXT,
		model: 'video-m6',
		sizes: ['720p', '1080p'],
		modes: STD_OR_PRO,
		durations: [
			[4, 0],
			[5, 5],
			[6, 0],
			[10, 10],
		],
		defaultDuration: 5,
		images: [
			[undefined, 2],
			['first_last_frame', 2],
			['reference', 0],
		],
	},
	{
		...TEXT,
		model: 'video-m7',
		durations: [
			[1, 4],
			[4, 4],
			[5, 4],
			[7, 8],
			[8, 8],
			[9, 8],
			[11, 12],
			[12, 12],
			[99, 12],
		],
		defaultDuration: 8,
		images: [
			[undefined, 5],
			['reference', 5],
			['first_last_frame', 0],
		],
	},
	{
		...TEXT,
		model: 'video-m8',
		durations: [
			[5, 0],
			[8, 8],
			[9, 0],
		],
		defaultDuration: 8,
		images: [
			[undefined, 3],
			['reference', 3],
			['first_last_frame', 0],
		],
	},
];

it('2.11 has a row of expectations for every model', () => {
	expect(ROWS.map(({ model }) => model)).toEqual(EMULATED_MODELS.map(({ code }) => code));
});

describe.each(ROWS)(
	'2.11 $model',
	({
		model,
		ratios,
		sizes,
		defaultSize,
		modes,
		durations,
		defaultDuration,
		images,
		videos,
		audios,
		generatesAudio,
	}) => {
		it('2.11 aspect_ratio', async () => {
			expect((await effective({ model }))['aspect_ratio']).toBe('16:9');
			for (const aspect_ratio of new Set([...ratios, ...RATIOS, ''])) {
				const { status } = await create({ model, aspect_ratio });
				expect([aspect_ratio, status]).toEqual([
					aspect_ratio,
					ratios.includes(aspect_ratio) ? 200 : 400,
				]);
			}
		});

		it('2.11 size', async () => {
			expect((await effective({ model }))['size']).toBe(defaultSize);
			for (const size of new Set([...sizes, ...SIZES, 'HD'])) {
				const isIgnored = sizes.length === 0;
				const { status } = await create({ model, size });
				expect([size, status]).toEqual([
					size,
					isIgnored || sizes.includes(size) ? 200 : 400,
				]);
				if (status === 200) {
					expect(service.tasks.all.at(-1)!.video.size).toBe(
						isIgnored ? defaultSize : size.toUpperCase(),
					);
				}
			}
		});

		it('2.11 mode', async () => {
			for (const mode of ['std', 'pro']) {
				const video = await effective({ model, mode });
				expect([mode, video['size']]).toEqual([mode, modes?.[mode] ?? defaultSize]);
			}
			if (modes) expect((await create({ model, mode: 'best' })).status).toBe(400);
			else expect((await effective({ model, mode: 'best' }))['size']).toBe(defaultSize);
		});

		it('2.11 generate_audio', async () => {
			expect((await effective({ model }))['generate_audio']).toBe(generatesAudio);
			const muted = await effective({ model, generate_audio: false });
			expect(muted['generate_audio']).toBe(false);
		});

		it('2.11 duration', async () => {
			expect((await effective({ model }))['duration']).toBe(defaultDuration);
			for (const [duration, expected] of durations) {
				const { status } = await create({ model, duration });
				const seconds = status === 200 ? service.tasks.all.at(-1)!.video.duration : 0;
				expect([duration, seconds]).toEqual([duration, expected]);
			}
		});

		it('2.11 reference input', async () => {
			for (const [image_mode, expected] of images) {
				const { status } = await create({ model, images: urls('i', 12), image_mode });
				const used = status === 200 ? service.tasks.all.at(-1)!.video.images.length : 0;
				expect([image_mode, used]).toEqual([image_mode, expected]);
			}
			const clip = (index: number) => `${service.url}/cdn/videos/c${index}_720P_16x9_1s.mp4`;
			const clips = [1, 2, 3, 4].map(clip);
			const video = await effective({
				model,
				images: urls('i', 1),
				videos: clips,
				audios: clips,
			});
			expect([video['videos'], video['audios']]).toMatchObject([
				{ length: videos },
				{ length: audios },
			]);
		});
	},
);

it('2.11 video-m5 ignores duration when it edits a video', async () => {
	const videos = [`${service.url}/cdn/videos/x_720P_16x9_8s.mp4`];
	const { duration } = await effective({ model: 'video-m5', videos, duration: 4 });
	expect(duration).toBe(8);
});

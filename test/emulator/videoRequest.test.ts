import { refusal, startService, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const create = (more: Json) =>
	service.createVideo({ prompt: 'A cat in the rain', model: 'video-m1', ...more });

/** What the service made of a request that it accepted. */
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
const ALL_MODELS = Array.from({ length: 8 }, (_, i) => `video-m${i + 1}`);

describe('2.8 video creation request', () => {
	it.each<[string, Json, string]>([
		['prompt: missing', { prompt: undefined }, 'prompt is required'],
		['prompt: empty', { prompt: '' }, 'prompt must not be empty'],
		['prompt: blank', { prompt: ' \n ' }, 'prompt must not be empty'],
		['prompt: type', { prompt: ['x'] }, 'prompt must be of type string'],
		['model: missing', { model: undefined }, 'model is required'],
		['images: no list', { images: 'https://example.com/a' }, 'images must be of type array'],
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
			'audios cannot be used alone: add an image or a video',
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
			'audios: out of reach',
			{ audios: ['https://a.invalid/x'] },
			'audios[0] cannot be reached: a.invalid',
		],
	])('2.8 refuses %s', async (_name, more, message) => {
		const { status, body } = await create(more);
		expect([status, body]).toEqual([400, refusal(message)]);
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

	it('2.8 images, videos and audios are truncated to their caps', async () => {
		const video = await effective({
			images: urls('i', 12),
			videos: urls('v', 4).map((url) => url),
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

	it('2.8 mode counts for video-m5 and video-m6 only; a size given says more', async () => {
		const size = async (more: Json) => (await effective(more))['size'];
		expect(await size({ model: 'video-m5', mode: 'pro' })).toBe('1080P');
		expect(await size({ model: 'video-m5', mode: 'std' })).toBe('720P');
		expect(await size({ model: 'video-m5', size: '4K' })).toBe('720P');
		expect(await size({ model: 'video-m6', mode: 'pro' })).toBe('1080P');
		expect(await size({ model: 'video-m6', mode: 'pro', size: '720p' })).toBe('720P');
		for (const model of ALL_MODELS.filter((code) => !/[56]$/.test(code))) {
			expect(await size({ model, mode: 'pro' })).toBe('720P');
			expect(await size({ model, mode: 'nonsense' })).toBe('720P');
		}
	});

	it('2.8 generate_audio counts for video-m1, video-m2 and video-m5, and not when editing', async () => {
		const audio = async (more: Json) => (await effective(more))['generate_audio'];
		for (const model of ALL_MODELS) {
			expect(await audio({ model })).toBe(/m[125]$/.test(model));
			expect(await audio({ model, generate_audio: false })).toBe(false);
		}
		const videos = urls('v', 1);
		expect(await audio({ model: 'video-m5', videos, generate_audio: true })).toBe(false);
		expect(await audio({ model: 'video-m1', videos })).toBe(true);
	});

	it('2.8 watermark is off unless asked for', async () => {
		expect((await effective({ watermark: true }))['watermark']).toBe(true);
	});

	it('2.8 models without audio input ignore audios', async () => {
		for (const model of ALL_MODELS.slice(2)) {
			expect((await effective({ model, audios: urls('a', 2) }))['audios']).toEqual([]);
		}
	});

	it('2.8 null counts as not given, and unknown fields are ignored', async () => {
		const video = await effective({ images: null, size: null, duration: null, seed: 5 });
		expect(video).toMatchObject({ images: [], size: '720P', duration: 5 });
	});
});

interface ModelRow {
	readonly model: string;
	readonly ratios: readonly string[];
	readonly sizes: readonly string[];
	/** Asked duration and the one delivered; 0 is refused. */
	readonly durations: readonly (readonly [asked: number, given: number])[];
	readonly defaultDuration: number;
	/** Image mode and how many of twelve images are taken; 0 is refused. */
	readonly images: readonly (readonly [mode: string | undefined, most: number])[];
	readonly videos: number;
	readonly audios: number;
}

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
} as const;
const TEXT = { ratios: THREE, sizes: [], videos: 0, audios: 0 } as const;

/** The table of section 2.11, written down once more. */
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
	},
	{
		...TEXT,
		model: 'video-m6',
		sizes: ['720p', '1080p'],
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

describe.each(ROWS)(
	'2.11 $model',
	({ model, ratios, sizes, durations, defaultDuration, images, videos, audios }) => {
		it('2.11 aspect_ratio', async () => {
			expect((await effective({ model }))['aspect_ratio']).toBe('16:9');
			for (const aspect_ratio of ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '']) {
				const { status } = await create({ model, aspect_ratio });
				expect([aspect_ratio, status]).toEqual([
					aspect_ratio,
					ratios.includes(aspect_ratio) ? 200 : 400,
				]);
			}
		});

		it('2.11 size', async () => {
			expect((await effective({ model }))['size']).toBe('720P');
			for (const size of ['480P', '720P', '1080P', '480p', '720p', '1080p', 'HD']) {
				const isIgnored = sizes.length === 0;
				const { status } = await create({ model, size });
				expect([size, status]).toEqual([
					size,
					isIgnored || sizes.includes(size) ? 200 : 400,
				]);
				if (status === 200) {
					expect(service.tasks.all.at(-1)!.video.size).toBe(
						isIgnored ? '720P' : size.toUpperCase(),
					);
				}
			}
		});

		it('2.11 duration', async () => {
			expect((await effective({ model }))['duration']).toBe(defaultDuration);
			for (const [duration, given] of durations) {
				const { status } = await create({ model, duration });
				const seconds = status === 200 ? service.tasks.all.at(-1)!.video.duration : 0;
				expect([duration, seconds]).toEqual([duration, given]);
			}
		});

		it('2.11 reference input', async () => {
			for (const [image_mode, most] of images) {
				const { status } = await create({ model, images: urls('i', 12), image_mode });
				const taken = status === 200 ? service.tasks.all.at(-1)!.video.images.length : 0;
				expect([image_mode, taken]).toEqual([image_mode, most]);
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

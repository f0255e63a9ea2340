import { EMULATED_MODELS } from '../../emulator/video/models';
import { generatedDuration, SPEC_ROWS, SPEC_VIDEO_MODELS } from '../support/specVideoModels';
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
	return service.tasks.all.at(-1)!.video;
}

const urls = (kind: string, count: number) =>
	Array.from({ length: count }, (_, i) => `https://example.com/${kind}${i + 1}`);

describe('2.8 video creation request', () => {
	it.each<[string, Json, string]>([
		['prompt: blank', { prompt: ' \n ' }, 'prompt must not be empty'],
		[
			'size: not of the model',
			{ model: 'video-m2', size: '1080P' },
			'size must be one of 480P, 720P for this model',
		],
		['duration: fraction', { duration: 5.5 }, 'duration must be of type integer'],
		[
			'mode: value',
			{ model: 'video-m5', mode: 'best' },
			'mode must be one of std, pro for this model',
		],
		[
			'image_mode: not of the model',
			{ model: 'video-m3', images: urls('i', 1), image_mode: 'reference' },
			'image_mode must be one of first_last_frame for this model',
		],
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
});

/** Values that every model is tested with, supported or not. */
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', ''];
const SIZES = ['480P', '720P', '1080P', '480p', '720p', '1080p', 'HD'];
const MODES = ['std', 'pro', 'best'];
const DURATIONS = [...Array.from({ length: 16 }, (_, index) => index + 1), 20, 60, 99];
const IMAGE_MODES = ['reference', 'first_last_frame'] as const;

/** Size that the emulator gives a model without `size` and `mode`. */
const SIZE_WITHOUT_PARAMETER = '720P';

/** A reference clip of known length. */
const clip = (name: string, seconds: number) =>
	`${service.url}/cdn/videos/${name}_720P_16x9_${seconds}s.mp4`;

it('2.11 has the models of the specification, in its order', () => {
	expect(EMULATED_MODELS.map(({ code }) => code)).toEqual(
		SPEC_VIDEO_MODELS.map(({ code }) => code),
	);
});

describe.each(SPEC_ROWS)('2.11 %s', (model, spec) => {
	const specModes = Object.keys(spec.modes);
	const defaultSize = (
		spec.defaultSize ??
		spec.modes[specModes[0] ?? ''] ??
		SIZE_WITHOUT_PARAMETER
	).toUpperCase();

	/** A setting of the video, or 'rejected' with status 400. */
	async function settingOf(setting: string, more: Json): Promise<unknown> {
		const { status } = await create({ model, ...more });
		if (status !== 200) {
			expect(status).toBe(400);
			return 'rejected';
		}
		return (service.tasks.all.at(-1)!.video as unknown as Json)[setting];
	}

	const imagesUsed = async (image_mode: string | undefined) => {
		const images = await settingOf('images', { images: urls('i', 12), image_mode });
		return Array.isArray(images) ? images.length : images;
	};

	it.each([...new Set([...spec.ratios, ...RATIOS])])(
		'2.11 aspect_ratio "%s"',
		async (aspect_ratio) => {
			expect(await settingOf('aspect_ratio', { aspect_ratio })).toBe(
				spec.ratios.includes(aspect_ratio) ? aspect_ratio : 'rejected',
			);
		},
	);

	it.each([...new Set([...spec.sizes, ...SIZES])])('2.11 size "%s"', async (size) => {
		const expected = spec.sizes.includes(size) ? size.toUpperCase() : 'rejected';
		expect(await settingOf('size', { size })).toBe(
			spec.sizes.length === 0 ? defaultSize : expected,
		);
	});

	it.each([...new Set([...specModes, ...MODES])])('2.11 mode "%s"', async (mode) => {
		const expected = spec.modes[mode]?.toUpperCase() ?? 'rejected';
		expect(await settingOf('size', { mode })).toBe(
			specModes.length === 0 ? defaultSize : expected,
		);
	});

	it('2.11 generate_audio', async () => {
		expect(await settingOf('generate_audio', {})).toBe(spec.generatesAudio);
		expect(await settingOf('generate_audio', { generate_audio: true })).toBe(
			spec.generatesAudio,
		);
		expect(await settingOf('generate_audio', { generate_audio: false })).toBe(false);
	});

	it.each([...new Set([...spec.durations, ...DURATIONS])])(
		'2.11 duration %i',
		async (duration) => {
			expect(await settingOf('duration', { duration })).toBe(
				generatedDuration(spec, duration) ?? 'rejected',
			);
		},
	);

	it.each(IMAGE_MODES)('2.11 images with mode %s', async (image_mode) => {
		expect(await imagesUsed(image_mode)).toBe(spec.images[image_mode] ?? 'rejected');
	});

	it('2.11 videos and audios, together with an image', async () => {
		const clips = ['c1', 'c2', 'c3', 'c4'].map((name) => clip(name, 1));
		const references = { images: urls('i', 1), videos: clips, audios: clips };
		expect(await settingOf('videos', references)).toHaveLength(spec.videos);
		expect(await settingOf('audios', references)).toHaveLength(spec.audios);
	});
});

describe.each(SPEC_ROWS.filter(([, { videos }]) => videos > 0))(
	'2.8 %s with a reference video',
	(model, { generatesAudio, editsVideos }) => {
		// 7 seconds differ from every default, so that the length of the edited video is recognized.
		const withVideo = (more: Json) =>
			effective({ model, videos: [clip('reference', 7)], ...more });

		it('2.8 generate_audio is false when the video is edited', async () => {
			for (const generate_audio of [undefined, true]) {
				expect((await withVideo({ generate_audio }))['generate_audio']).toBe(
					generatesAudio && !editsVideos,
				);
			}
		});
	},
);

import { generatedDuration, SPEC_ROWS } from '../support/specVideoModels';
import { brightestOf, probe } from './support/probe';
import { errorBody, othersForEach, serviceFor, type Json } from './support/service';

const service = serviceFor('all');
const startOther = othersForEach();

const create = (more: Json = {}) =>
	service.createVideo({ prompt: 'A cat', model: 'video-m1', ...more });

const idOf = async (more: Json = {}) => String((await create(more)).body['task_id']);

/** Effective settings of an accepted request. */
async function effective(more: Json): Promise<Json> {
	expect(await create(more)).toMatchObject({ status: 200 });
	return service.tasks.all.at(-1)!.video;
}

async function completedTask(more: Json): Promise<Json> {
	const id = await idOf(more);
	await service.clock.advance(30_000);
	return (await service.queryTask(id)).body;
}

const urls = (kind: string, count: number) =>
	Array.from({ length: count }, (_, i) => `https://example.com/${kind}${i + 1}`);

/** A reference clip of known length. */
const clip = (name: string, seconds: number) =>
	`${service.url}/cdn/videos/${name}_720P_16x9_${seconds}s.mp4`;

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
			...{ model: 'video-m1', prompt: 'A cat', size: '720P', aspect_ratio: '16:9' },
			...{ duration: 5, image_mode: null, images: [], videos: [], audios: [] },
			...{ generate_audio: true, watermark: false },
		});
	});

	it('2.8 videos and audios together are truncated to 15 seconds', async () => {
		const of = (...seconds: readonly number[]) => seconds.map((each) => clip('x', each));
		// A file of unknown length counts as 5 seconds.
		const video = await effective({ videos: [...of(8), ...urls('v', 1)], audios: of(10, 5) });
		expect([video['videos'], video['audios']]).toEqual([
			[
				{ url: clip('x', 8), seconds: 8 },
				{ url: 'https://example.com/v1', seconds: 5 },
			],
			[{ url: clip('x', 10), seconds: 2 }],
		]);
	});

	it('2.8 generate_audio is false when the video is edited', async () => {
		for (const [model, { videos, generatesAudio, editsVideos }] of SPEC_ROWS) {
			if (videos === 0) continue;
			for (const generate_audio of [undefined, true]) {
				// 7 seconds differ from every default, so that the length of the edited video is recognized.
				const given = { model, videos: [clip('reference', 7)], generate_audio };
				const { generate_audio: made, duration } = await effective(given);
				expect([model, made, duration === 7]).toEqual([
					...[model, generatesAudio && !editsVideos, editsVideos],
				]);
			}
		}
	});
});

describe.each(SPEC_ROWS)('2.11 %s', (model, spec) => {
	const modes = Object.keys(spec.modes);
	/** The emulator gives a model without `size` and `mode` 720P. */
	const size = (spec.defaultSize ?? spec.modes[modes[0] ?? ''] ?? '720P').toUpperCase();

	/** A setting of the video, or 'rejected' with status 400. */
	async function settingOf(setting: string, more: Json): Promise<unknown> {
		const { status } = await create({ model, ...more });
		if (status === 200) return (service.tasks.all.at(-1)!.video as unknown as Json)[setting];
		expect(status).toBe(400);
		return 'rejected';
	}

	/** What each value of a field makes of a setting: those of the model, and others. */
	async function each<T>(
		setting: string,
		field: string,
		values: readonly T[],
		expected: (value: T) => unknown,
	): Promise<void> {
		const made: unknown[] = [];
		for (const value of values)
			made.push([value, await settingOf(setting, { [field]: value })]);
		expect(made).toEqual(values.map((value) => [value, expected(value)]));
	}

	it('2.11 aspect_ratio', async () => {
		const ratios = [...spec.ratios, '4:3', '21:9', ''];
		await each('aspect_ratio', 'aspect_ratio', ratios, (ratio) =>
			spec.ratios.includes(ratio) ? ratio : 'rejected',
		);
	});

	it('2.11 size', async () => {
		const sizes = [...spec.sizes, '480P', '480p', '1080P', '1080p', 'HD'];
		await each('size', 'size', sizes, (value) => {
			if (spec.sizes.length === 0) return size;
			return spec.sizes.includes(value) ? value.toUpperCase() : 'rejected';
		});
	});

	it('2.11 mode', async () => {
		await each('size', 'mode', ['std', 'pro', 'best'], (mode) =>
			modes.length === 0 ? size : (spec.modes[mode]?.toUpperCase() ?? 'rejected'),
		);
	});

	it('2.11 duration', async () => {
		const durations = [...Array.from({ length: 16 }, (_, index) => index + 1), 99];
		await each(
			'duration',
			'duration',
			durations,
			(duration) => generatedDuration(spec, duration) ?? 'rejected',
		);
	});

	it('2.11 generate_audio', async () => {
		await each('generate_audio', 'generate_audio', [undefined, true, false], (value) =>
			value === false ? false : spec.generatesAudio,
		);
	});

	it('2.11 images, videos and audios', async () => {
		for (const image_mode of ['reference', 'first_last_frame'] as const) {
			const images = await settingOf('images', { images: urls('i', 12), image_mode });
			expect(Array.isArray(images) ? images.length : images).toBe(
				spec.images[image_mode] ?? 'rejected',
			);
		}
		const clips = ['c1', 'c2', 'c3', 'c4'].map((name) => clip(name, 1));
		const references = { images: urls('i', 1), videos: clips, audios: clips };
		expect(await settingOf('videos', references)).toHaveLength(spec.videos);
		expect(await settingOf('audios', references)).toHaveLength(spec.audios);
	});
});

describe('2.9 video creation response', () => {
	it('2.9 has the task, its initial status, the model, and created_at null', async () => {
		expect((await create()).body).toEqual({
			task_id: expect.stringMatching(/^task-\w{20}$/) as string,
			status: 'queued',
			model: 'video-m1',
			created_at: null,
		});
	});

	it('2.9 a model without a queue starts in processing', async () => {
		expect((await create({ model: 'video-m2' })).body['status']).toBe('processing');
	});
});

describe('2.10 video task query', () => {
	it('2.10 has only task_id, status and model while unfinished', async () => {
		const id = await idOf();
		for (const ms of [0, 7_500, 9_000]) {
			await service.clock.advance(ms);
			const { body } = await service.queryTask(id);
			expect(Object.keys(body)).toEqual(['task_id', 'status', 'model']);
		}
	});

	it('2.10 has video_url and the extra fields of the model when completed', async () => {
		const added: Json = {};
		for (const model of ['video-m1', 'video-m4', 'video-m5', 'video-m8']) {
			const {
				task_id,
				status,
				model: used,
				video_url,
				...rest
			} = await completedTask({ model });
			expect([status, used]).toEqual(['completed', model]);
			expect(String(video_url)).toMatch(
				new RegExp(`^${service.url}/cdn/videos/${String(task_id)}_.*\\.mp4$`),
			);
			added[model] = Object.keys(rest);
			if ('enhanced_prompt' in rest) expect(rest.enhanced_prompt).toMatch(/^A cat, .+\.$/);
		}
		expect(added).toEqual({
			'video-m1': ['thumbnail_url', 'enhanced_prompt'],
			'video-m4': [],
			'video-m5': ['thumbnail_url'],
			'video-m8': ['enhanced_prompt'],
		});
	});
});

describe('3.1 video task states', () => {
	/** Statuses of a task polled every second of its 30, without repetitions. */
	async function statuses(prompt: string): Promise<readonly unknown[]> {
		const id = await idOf({ prompt });
		const seen: unknown[] = [];
		for (let step = 0; step <= 30; step++) {
			const { status } = (await service.queryTask(id)).body;
			if (status !== seen.at(-1)) seen.push(status);
			await service.clock.advance(1_000);
		}
		return seen;
	}

	it('3.1 a task passes through queued, init, processing and completed', async () => {
		expect(await statuses('A cat')).toEqual(['queued', 'init', 'processing', 'completed']);
	});

	it('3.1 unknown-task passes through unknown', async () => {
		expect(await statuses('unknown-task')).toEqual([
			...['queued', 'unknown', 'processing', 'completed'],
		]);
	});

	it('3.1 fail-task and moderated-task fail after acceptance', async () => {
		for (const prompt of ['fail-task', 'moderated-task'])
			expect(await statuses(prompt)).toEqual(['queued', 'processing', 'failed']);
		const id = service.tasks.all.at(-1)!.id;
		expect((await service.queryTask(id)).body['error_message']).toMatch(
			/^Content moderation failed/,
		);
	});

	it('3.1 generation times vary from 80 to 100 % of --video-seconds', async () => {
		const slow = await startOther({ videoSeconds: 100 });
		const video = { prompt: 'A cat', model: 'video-m1' };
		await Promise.all(Array.from({ length: 20 }, () => slow.createVideo(video)));
		const times = slow.tasks.all.map(({ totalMs }) => totalMs);
		expect(Math.min(...times)).toBeGreaterThanOrEqual(80_000);
		expect(Math.max(...times)).toBeLessThanOrEqual(100_000);
		expect(new Set(times).size).toBeGreaterThan(15);
	});
});

const download = async (url: unknown, headers: Record<string, string> = {}) => {
	const response = await fetch(String(url), { headers });
	return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

/** The smallest that can be drawn. */
const drawn = async (prompt: string, more: Json = {}) => {
	const small = { model: 'video-m1', size: '480P', duration: 4 };
	const { video_url } = await completedTask({ ...small, prompt, ...more });
	return { url: String(video_url), bytes: (await download(video_url)).bytes };
};

describe('2.10 video files', () => {
	it.each<[Json, object]>([
		[
			{ model: 'video-m1', size: '1080P', aspect_ratio: '9:16', duration: 4 },
			{ width: 1080, height: 1920, seconds: 4, shownSeconds: 4, sound: 'aac' },
		],
		[
			{ model: 'video-m5', mode: 'std', aspect_ratio: '4:3', generate_audio: false },
			{ width: 960, height: 720, seconds: 5, sound: undefined },
		],
		[
			{ model: 'video-m7', duration: 11, aspect_ratio: '1:1' },
			{ width: 720, height: 720, seconds: 12, sound: undefined },
		],
	])('2.11 the file of %j has its size, ratio and duration', async (more, shown) => {
		const { response, bytes } = await download((await completedTask(more))['video_url']);
		expect(response.headers.get('content-type')).toBe('video/mp4');
		expect(response.headers.get('content-length')).toBe(String(bytes.length));
		const { sound, ...seen } = await probe(bytes);
		expect({ ...seen, sound }).toMatchObject({ codec: 'h264', ...shown });
	});

	it('2.8 the watermark and reference images are in the picture', async () => {
		const plain = await drawn('A cat');
		const marked = await drawn('A cat', { watermark: true });
		const images = ['https://example.com/red-fox.jpg', 'https://example.com/雪.jpg'];
		const { url, bytes } = await drawn('A cat', { images, image_mode: 'reference' });
		expect(url).toContain('references~red-fox~2');
		for (const [part, file] of [
			['watermark', marked.bytes],
			['references', bytes],
		] as const) {
			expect(await brightestOf(part, file)).toBeGreaterThan(200);
			expect(await brightestOf(part, plain.bytes)).toBeLessThan(100);
		}
	});

	it('equal prompts give the same file, other prompts another one', async () => {
		const boat = 'A paper boat in the rain';
		const [first, same, other] = [await drawn(boat), await drawn(boat), await drawn('A boat')];
		expect(same.url).not.toBe(first.url);
		expect(same.bytes).toEqual(first.bytes);
		expect(other.bytes).not.toEqual(first.bytes);
	});

	it.each([
		['accents and punctuation', 'A café, at 5 o’clock!', 'A-cafe-at-5-o-clock'],
		[
			'many words',
			'A very long prompt '.repeat(30),
			'A-very-long-prompt-A-very-long-prompt-A-very-long-prompt-A',
		],
		['one long word', 'x'.repeat(500), 'x'.repeat(60)],
	])('the path has the first words of the prompt: %s', async (_name, prompt, words) => {
		const { url, bytes } = await drawn(prompt);
		expect(url).toMatch(new RegExp(`_4s_${words}\\.mp4$`));
		expect((await probe(bytes)).seconds).toBe(4);
	});

	it('2.10 files are public and survive a restart; the journal records whether a key was sent', async () => {
		const { url, bytes } = await drawn('A cat');
		const again = await startOther();
		const moved = url.replace(service.url, again.url);
		expect((await download(moved)).bytes).toEqual(bytes);
		await download(moved, { authorization: 'Bearer demo-key' });
		const seen = again.journal.entries.map(({ authorized, identity }) => [
			authorized,
			identity,
		]);
		expect(seen).toEqual([
			[false, 'none'],
			[true, 'demo'],
		]);
	});

	it('2.10 supports range requests', async () => {
		const { url, bytes: whole } = await drawn('A cat');
		const size = whole.length;
		for (const [range, first, last] of [
			['bytes=0-9', 0, 9],
			['bytes=10-', 10, size - 1],
			['bytes=-5', size - 5, size - 1],
			['bytes=5-9999999', 5, size - 1],
		] as const) {
			const { response, bytes } = await download(url, { range });
			expect(response.status).toBe(206);
			expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${size}`);
			expect(bytes).toEqual(whole.subarray(first, last + 1));
		}
		const beyond = await download(url, { range: `bytes=${size}-` });
		expect(beyond.response.status).toBe(416);
		expect(beyond.response.headers.get('content-range')).toBe(`bytes */${size}`);
	});
});

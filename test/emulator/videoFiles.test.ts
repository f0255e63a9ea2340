import { brightestOf, probe } from './support/probe';
import { startService, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

async function completedTask(more: Json): Promise<Json> {
	const { body } = await service.createVideo({ prompt: 'A cat', ...more });
	await service.clock.advance(30_000);
	return (await service.queryTask(body['task_id'])).body;
}

const download = async (url: unknown, headers: Record<string, string> = {}) => {
	const response = await fetch(String(url), { headers });
	return { response, bytes: Buffer.from(await response.arrayBuffer()) };
};

const drawn = async (prompt: string, more: Json = {}) => {
	const { video_url } = await completedTask({ model: 'video-m5', prompt, ...more });
	return { url: String(video_url), bytes: (await download(video_url)).bytes };
};

describe('2.10 video files', () => {
	it.each<[Json, object]>([
		[
			{ model: 'video-m1', size: '1080P', aspect_ratio: '9:16', duration: 4 },
			{ width: 1080, height: 1920, seconds: 4, shownSeconds: 4, sound: 'aac' },
		],
		[
			{ model: 'video-m5', mode: 'pro', aspect_ratio: '4:3', generate_audio: false },
			{ width: 1440, height: 1080, seconds: 5, sound: undefined },
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

	it('2.8 the watermark is in the picture', async () => {
		const [marked, plain] = [await drawn('A cat', { watermark: true }), await drawn('A cat')];
		expect(await brightestOf('watermark', marked.bytes)).toBeGreaterThan(200);
		expect(await brightestOf('watermark', plain.bytes)).toBeLessThan(100);
	});

	it('2.8 reference images are in the picture', async () => {
		const images = ['https://example.com/red-fox.jpg', 'https://example.com/雪.jpg'];
		const { url, bytes } = await drawn('A cat', { images, image_mode: 'reference' });
		expect(url).toContain('references~red-fox~2');
		expect(await brightestOf('references', bytes)).toBeGreaterThan(200);
		expect(await brightestOf('references', (await drawn('A cat')).bytes)).toBeLessThan(100);
	});

	it('equal prompts give the same file, other prompts another one', async () => {
		const first = await drawn('A paper boat in the rain');
		const same = await drawn('A paper boat in the rain');
		const other = await drawn('A paper boat in the wind');
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
		expect(url).toMatch(new RegExp(`_5s_${words}\\.mp4$`));
		expect((await probe(bytes)).seconds).toBe(5);
	});

	it('2.10 files are public and survive a restart; the journal records whether a key was sent', async () => {
		const { video_url } = await completedTask({ model: 'video-m1' });
		const again = await startService();
		const moved = String(video_url).replace(service.url, again.url);
		const { bytes } = await download(moved);
		await download(moved, { authorization: 'Bearer demo-key' });
		const seen = again.journal.entries.map(({ authorized, identity }) => [
			authorized,
			identity,
		]);
		await again.stop();

		expect((await probe(bytes)).seconds).toBe(5);
		expect(seen).toEqual([
			[false, 'none'],
			[true, 'demo'],
		]);
	});

	it('2.10 supports range requests', async () => {
		const url = `${service.url}/cdn/videos/x_720P_16x9_5s.mp4`;
		const { bytes: whole } = await download(url);
		const size = whole.length;
		for (const [range, first, last] of [
			['bytes=0-9', 0, 9],
			['bytes=10-', 10, size - 1],
			['bytes=-5', size - 5, size - 1],
			['bytes=5-999999', 5, size - 1],
		] as const) {
			const { response, bytes } = await download(url, { range });
			expect(response.status).toBe(206);
			expect(response.headers.get('content-range')).toBe(`bytes ${first}-${last}/${size}`);
			expect(bytes).toEqual(whole.subarray(first, last + 1));
		}
		for (const range of ['bytes=0-1,4-5', 'bytes=9-1', 'bytes=-', 'lines=1-2']) {
			const { response, bytes } = await download(url, { range });
			expect([response.status, bytes.length]).toEqual([200, size]);
		}
		const beyond = await download(url, { range: `bytes=${size}-` });
		expect(beyond.response.status).toBe(416);
		expect(beyond.response.headers.get('content-range')).toBe(`bytes */${size}`);

		const head = await fetch(url, { method: 'HEAD' });
		expect([head.status, head.headers.get('content-length')]).toEqual([200, String(size)]);
	});

	it('2.10 tells clients whether the file is the one that they have', async () => {
		const { video_url: url } = await completedTask({ model: 'video-m4' });
		const { response, bytes } = await download(url);
		const [etag, modified] = ['etag', 'last-modified'].map((name) =>
			response.headers.get(name)!,
		);
		expect(etag).toMatch(/^"[0-9a-f]+"$/);
		expect(Date.parse(modified!)).toBeLessThanOrEqual(service.clock.now());

		for (const [headers, status] of [
			[{ 'if-none-match': etag }, 304],
			[{ 'if-none-match': `"other", ${etag}` }, 304],
			[{ 'if-none-match': '"other"', 'if-modified-since': modified }, 200],
			[{ 'if-modified-since': modified }, 304],
			[{ 'if-modified-since': new Date(0).toUTCString() }, 200],
			[{ range: 'bytes=9-', 'if-range': etag }, 206],
			[{ range: 'bytes=9-', 'if-range': modified }, 206],
			[{ range: 'bytes=9-', 'if-range': '"other"' }, 200],
		] as const) {
			const again = await download(url, headers as Record<string, string>);
			expect([headers, again.response.status]).toEqual([headers, status]);
			expect(again.bytes).toEqual(
				{ 200: bytes, 206: bytes.subarray(9), 304: Buffer.alloc(0) }[status],
			);
		}
	});
});

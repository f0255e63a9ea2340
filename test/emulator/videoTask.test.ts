import { startService, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService({ videoSeconds: 100 });
});
afterEach(() => service.stop());

async function create(more: Json = {}): Promise<string> {
	const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1', ...more });
	return body['task_id'] as string;
}

/** Statuses of a task polled every `stepMs`, without repetitions. */
async function statusSequence(
	more: Json,
	stepMs = 1_000,
	steps = 100,
): Promise<readonly unknown[]> {
	const id = await create(more);
	const seen: unknown[] = [];
	for (let step = 0; step <= steps; step++) {
		const { status } = (await service.queryTask(id)).body;
		if (status !== seen.at(-1)) seen.push(status);
		await service.clock.advance(stepMs);
	}
	return seen;
}

describe('2.9 video creation response', () => {
	it('2.9 has the task, its initial status, the model, and created_at null', async () => {
		const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1' });
		expect(body).toEqual({
			task_id: expect.stringMatching(/^task-\w{20}$/) as string,
			status: 'queued',
			model: 'video-m1',
			created_at: null,
		});
	});

	it('2.9 a model without a queue starts in processing', async () => {
		const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m2' });
		expect(body['status']).toBe('processing');
	});
});

describe('2.10 video task query', () => {
	it('2.10 has only task_id, status and model while unfinished', async () => {
		const id = await create();
		for (const ms of [0, 25_000, 30_000]) {
			await service.clock.advance(ms);
			const { body } = await service.queryTask(id);
			expect(Object.keys(body)).toEqual(['task_id', 'status', 'model']);
		}
	});

	it('2.10 has video_url and the extra fields of the model when completed', async () => {
		const added: Json = {};
		for (const model of ['video-m1', 'video-m4', 'video-m5', 'video-m8']) {
			const id = await create({ model });
			await service.clock.advance(100_000);
			const { body } = await service.queryTask(id);
			const { task_id, status, model: used, video_url, ...rest } = body;
			expect([task_id, status, used]).toEqual([id, 'completed', model]);
			expect(String(video_url)).toMatch(
				new RegExp(`^${service.url}/cdn/videos/${id}_.*\\.mp4$`),
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
	it('3.1 a task passes through queued, init, processing and completed', async () => {
		expect(await statusSequence({})).toEqual(['queued', 'init', 'processing', 'completed']);
	});

	it('3.1 unknown-task passes through unknown', async () => {
		expect(await statusSequence({ prompt: 'unknown-task' })).toEqual([
			'queued',
			'unknown',
			'processing',
			'completed',
		]);
	});

	it('3.1 fail-task and moderated-task fail after acceptance', async () => {
		expect(await statusSequence({ prompt: 'fail-task' })).toEqual([
			'queued',
			'processing',
			'failed',
		]);
		expect(await statusSequence({ prompt: 'moderated-task' })).toEqual([
			'queued',
			'processing',
			'failed',
		]);
		const id = service.tasks.all.at(-1)!.id;
		expect((await service.queryTask(id)).body['error_message']).toMatch(
			/^Content moderation failed/,
		);
	});

	it('3.1 generation times vary from 80 to 100 % of --video-seconds', async () => {
		await Promise.all(Array.from({ length: 20 }, () => create()));
		const times = service.tasks.all.map(({ totalMs }) => totalMs);
		expect(Math.min(...times)).toBeGreaterThanOrEqual(80_000);
		expect(Math.max(...times)).toBeLessThanOrEqual(100_000);
		expect(new Set(times).size).toBeGreaterThan(15);
	});
});

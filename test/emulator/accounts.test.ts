import { startService, user, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(async () => {
	await service.stop();
});

const question = { messages: [user('Hi')] };
const asked = { ...question, app_code: 'private-app' };

describe('an application that only its creator may call', () => {
	it('answers the key of its creator, by app_code and by the end of the key', async () => {
		const byCode = await service.chat(asked, 'creator-key');
		const byKey = await service.chat(question, 'creator-key-private-app');
		expect([byCode.status, byKey.status]).toEqual([200, 200]);
	});

	it('responds with 403 to any other key, by app_code and by the end of the key', async () => {
		const byCode = await service.chat(asked, 'demo-key');
		const byKey = await service.chat(question, 'demo-key-private-app');
		expect([byCode.status, byKey.status]).toEqual([403, 403]);
	});

	it('does not keep its creator from public applications', async () => {
		const { status } = await service.chat({ ...question, app_code: 'demo-app' }, 'creator-key');
		expect(status).toBe(200);
	});
});

describe('an API key that ends with an app code', () => {
	it('is overruled by app_code', async () => {
		const both = { ...question, app_code: 'demo-workflow' };
		const { body } = await service.chat(both, 'demo-key-demo-app');
		expect(body.choices[0]!.message.content).toMatch(/^Storyboard/);
	});

	it('creates and queries videos as the key without it', async () => {
		const video = { prompt: 'A lake', model: 'video-m1' };
		const { body } = await service.createVideo(video, 'demo-key-demo-app');
		const { status } = await service.queryTask(body['task_id'], 'demo-key');
		expect(status).toBe(200);
	});
});

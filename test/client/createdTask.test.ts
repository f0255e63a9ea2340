import { createVideo } from '../../nodes/client/video/tasks';
import { answeringPort } from '../support/answeringPort';

const create = async (body: object) =>
	await createVideo(answeringPort(body), { prompt: 'A lake', model: 'video-m1' }, 1_000);
const TASK = { task_id: 't-1', status: 'queued', model: 'video-m2' };

test('the model is the one that the service used, not the one of the request', async () => {
	expect(await create(TASK)).toMatchObject({ model: 'video-m2' });
});

test.each([
	['2026-01-02T03:04:05Z', { ...TASK, created_at: '2026-01-02T03:04:05Z' }],
	[1_767_322_800, { ...TASK, created_at: 1_767_322_800 }],
	[null, TASK],
])('created_at %j is output, null is left out', async (createdAt, task) => {
	expect(await create({ ...TASK, created_at: createdAt })).toStrictEqual(task);
});

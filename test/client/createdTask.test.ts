import { createVideo, queryTask } from '../../nodes/client/video/tasks';
import { answeringPort } from '../support/answeringPort';
import { FAILURE } from '../support/failureTexts';

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

describe('an answer without a task', () => {
	const CREDIT = { message: FAILURE.noCredit, details: { outcomeUnknown: false } };
	const FINAL = { message: FAILURE.noStatus, details: { outcomeUnknown: false } };
	const DOUBT = '; the task may have been created';
	const unknown = (message: string) => ({
		message: `${message}${DOUBT}`,
		details: { outcomeUnknown: true },
	});
	test.each([
		[{ code: 1102, message: 'Account balance not enough', data: null }, CREDIT],
		[{ code: 1102, message: 'No more seats', data: null }, FINAL],
		[{ error: { message: 'No more seats', type: 'seats' } }, FINAL],
		[{ error: { message: 'No', code: 'insufficient_quota' } }, CREDIT],
		[{ success: false, error_code: 'x', error_msg: 'No more seats' }, FINAL],
		[{ error: { message: 'No more seats' } }, unknown(FAILURE.noStatus)],
		[{ error: 'No more seats' }, unknown(FAILURE.noStatus)],
		[{ message: 'No more seats', type: 'notice' }, unknown(FAILURE.noStatus)],
		[{ message: 'Insufficient balance' }, unknown(FAILURE.noCredit)],
		[{ error: { message: 'No', code: 502 } }, unknown(FAILURE.proxy)],
		[{ model: 'video-m2' }, unknown('Unexpected response: this is not the Agent Video API')],
	])('%j', async (body, expected) => {
		await expect(create(body)).rejects.toMatchObject(expected);
		const polled = queryTask(answeringPort(body), 'a', 1_000);
		await expect(polled).rejects.toMatchObject({
			message: expected.message.replace(DOUBT, ''),
			details: { serviceMessage: expect.stringMatching(/\w/) as string },
		});
	});
});

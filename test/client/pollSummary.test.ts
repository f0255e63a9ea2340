import { pollSummary, videoLine } from '../../nodes/client/video/pollResult';
import { startPoll } from '../../nodes/client/video/pollTasks';

const polls = (counts: Readonly<Record<string, number>>) =>
	Object.entries(counts).flatMap(([outcome, count]) =>
		Array.from({ length: count }, (_, index) => ({
			...startPoll(`${outcome}-${index}`, 0),
			...(outcome !== 'open' && { outcome: outcome as 'completed' }),
		})),
	);

test.each([
	[{ completed: 8, failed: 2, timeout: 1 }, '8 finished, 2 failed, 1 not finished in time'],
	[{ completed: 8, refused: 1, open: 2 }, '8 finished, 1 failed, 2 generating'],
	[{ open: 1 }, '0 finished, 1 generating'],
	[{ completed: 3 }, '3 finished'],
])('%j', (counts, words) => {
	expect(pollSummary(polls(counts), 80_000)).toBe(`${words}, after 80 s`);
});

test('a finished video of which nothing comes out has failed; what is late is late', () => {
	const all = polls({ completed: 2, timeout: 1 });
	const lost = new Set(['completed-0', 'timeout-0']);
	expect(pollSummary(all, 0, lost)).toBe(
		'1 finished, 1 failed, 1 not finished in time, after 0 s',
	);
});

test.each([
	[{ status: 'failed' }, 'The video failed'],
	[{ status: 'SUCCEEDED' }, 'The video is completed: task t'],
	[{ status: 'completed', reason: 'timeout' }, 'The video is not finished: task t'],
	[{ status: 'processing' }, 'The video is not finished: task t'],
	[{}, 'The video is not finished: task t'],
])('without a URL the line of %j is %j', (item, line) => {
	expect(videoLine({ task_id: 't', ...item })).toBe(line);
});

import type { IExecuteFunctions } from 'n8n-workflow';

import { applyReport, startPoll } from '../../nodes/client/video/pollTasks';
import { n8nClock } from '../../nodes/shared/engine/context';
import { pollProgress } from '../../nodes/shared/wait/poll';
import { strictRun } from '../support/strictContext';

let nowMs: number;
let texts: string[];
let progress: ReturnType<typeof pollProgress>;

beforeEach(() => {
	nowMs = 1_000_000;
	texts = [];
	jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
	const context = {
		getExecutionCancelSignal: () => undefined,
	} as unknown as IExecuteFunctions;
	const clock = n8nClock(context);
	const run = strictRun({ clock, withoutSecrets: (value) => value, hint: jest.fn() });
	progress = pollProgress(run, (text) => texts.push(text.trim()));
});
afterEach(() => {
	jest.restoreAllMocks();
});

const processing = () =>
	applyReport(
		startPoll('a', nowMs),
		{ task_id: 'a', status: 'processing' },
		{ nowMs, random: 0, timeoutMs: 600_000 },
	);

test('a person in a chat reads the progress every 20 s, also when nothing changes', () => {
	progress.remind();
	progress.update([processing()]);
	for (let second = 1; second <= 60; second++) {
		nowMs += 1_000;
		progress.remind();
	}
	expect(texts).toStrictEqual([
		'0 finished, 1 generating, after 0 s',
		'0 finished, 1 generating, after 20 s',
		'0 finished, 1 generating, after 40 s',
		'0 finished, 1 generating, after 60 s',
	]);
});

test('changes that follow one another at once are one line', () => {
	for (let change = 0; change < 10; change++) progress.update([processing()]);
	expect(texts).toHaveLength(1);
});

test('the end is told once, however long the files take after it', () => {
	const completed = applyReport(
		processing(),
		{ task_id: 'a', status: 'completed', video_url: 'https://files.example/a.mp4' },
		{ nowMs, random: 0, timeoutMs: 600_000 },
	);
	progress.update([completed]);
	// The clock of the machine is set meanwhile.
	jest.spyOn(Date, 'now').mockImplementation(() => 7);
	nowMs += 3_000;
	progress.finish([completed]);
	expect(texts).toStrictEqual(['1 finished, after 0 s']);
	progress.finish([completed], '', new Set(['a']));
	expect(texts.at(-1)).toBe('0 finished, 1 failed, after 3 s');
});

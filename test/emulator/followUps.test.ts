import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const text = { type: 'string' };
function tool(name: string, description: string, properties: Json) {
	const parameters = { type: 'object', properties, required: Object.keys(properties) };
	return { type: 'function', function: { name, description, parameters } };
}

const WAIT = tool('Wait_for_Video', 'Wait until a video is finished', { task_id: text });
const CREATE = tool('Create_Video', 'Start the generation of a video', { prompt: text });
const URL = 'http://127.0.0.1:1/cdn/a.mp4';

/** Runs a conversation with scripted tool results to its end; returns the tool calls and the answer. */
async function runConversation(
	content: string,
	results: Readonly<Record<string, unknown[]>>,
	tools: Json[],
) {
	const messages: unknown[] = [user(content)];
	const calls: [string, unknown][] = [];
	for (;;) {
		const { body } = await service.chat({ messages, tools });
		const { message } = body.choices[0]!;
		if (!message.tool_calls) return { calls, answer: message.content };
		messages.push(message);
		for (const { id, function: called } of message.tool_calls) {
			calls.push([called.name, JSON.parse(called.arguments)]);
			const result = JSON.stringify(results[called.name]!.shift());
			messages.push({ role: 'tool', tool_call_id: id, content: result });
		}
	}
}

it.each([
	['Wait for Video first in the list', [WAIT, CREATE]],
	['Create Video first in the list', [CREATE, WAIT]],
])('creates a video, waits for it and returns its link: %s', async (_name, tools) => {
	const { calls, answer } = await runConversation(
		'Please make a video of a lighthouse at dawn',
		{
			Create_Video: [[{ task_id: 'task-1', status: 'queued' }]],
			Wait_for_Video: [[{ task_id: 'task-1', status: 'completed', video_url: URL }]],
		},
		tools,
	);
	expect(calls).toEqual([
		['Create_Video', { prompt: 'a lighthouse at dawn' }],
		['Wait_for_Video', { task_id: 'task-1' }],
	]);
	expect(answer).toBe(`A lighthouse at dawn: [the video](${URL}).`);
});

it('waits once for each of several videos, and reports a failed one', async () => {
	const { calls, answer } = await runConversation(
		'Make a video of a tram and a video of a boat',
		{
			Create_Video: [
				{ task_id: 't1', status: 'queued' },
				{ task_id: 't2', status: 'init' },
			],
			Wait_for_Video: [
				{ task_id: 't1', status: 'failed', error_message: 'Too dark' },
				{ task_id: 't2', status: 'processing', reason: 'timeout' },
			],
		},
		[CREATE, WAIT],
	);
	expect(calls.slice(2)).toEqual([
		['Wait_for_Video', { task_id: 't1' }],
		['Wait_for_Video', { task_id: 't2' }],
	]);
	expect(answer).toBe(
		'Here is what I found.\nA tram: task id: t1, status: failed, error message: Too dark.\nA boat: task id: t2, status: processing, reason: timeout.',
	);
});

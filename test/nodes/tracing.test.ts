import { randomUUID } from 'node:crypto';

import { modelCallerNode, packageNode, runNode, runWorkflow } from '../support/engine';
import { json, serverForEach, type Script } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
});

/** The attributes that n8n puts on the span of the node. */
async function spanOf(name: string, parameters: object, items: number) {
	const { run } = await runNode(name, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		parameters: { ...parameters },
		items: Array.from({ length: items }, () => ({ task_id: randomUUID() })),
	});
	const runs = run.data.resultData.runData['Tested'] ?? [];
	return runs.map(({ metadata }) => metadata?.tracing);
}

const reply = (model: string) => ({
	model,
	choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
	usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
});

test('a chat names its models and sums its tokens and retries', async () => {
	const answers = [
		[429, { error: { message: 'no' } }],
		[200, reply('m-1')],
		[200, reply('m-2')],
		[200, reply('m-1')],
	] as const;
	script = (response, _request, index) => {
		const [status, body] = answers[index]!;
		json(response, status, body, { 'retry-after': '0' });
	};
	const parameters = { prompt: 'Hi', streaming: 'off', options: { concurrency: 1 } };
	expect(await spanOf('chatCompletion', parameters, 3)).toEqual([
		{
			'gen_ai.usage.input_tokens': 21,
			'gen_ai.usage.output_tokens': 6,
			'gen_ai.response.model': 'm-1, m-2',
			'http.request.resend_count': 1,
		},
	]);
});

test('a chat model counts its retries on the span of its chain, and nothing else', async () => {
	script = (response, _request, index) => {
		if (index === 0) json(response, 429, { error: { message: 'no' } }, { 'retry-after': '0' });
		else json(response, 200, reply('m-1'));
	};
	const { run } = await runWorkflow(
		[
			packageNode('Model', 'agentVideoChatModel', {}),
			modelCallerNode('Chain', { stream: false }),
		],
		{},
		'Chain',
		{
			credential: { baseUrl: server.url, apiKey: 'k' },
			model: { name: 'Model', of: 'Chain' },
		},
	);
	const { runData, metadata: labels } = run.data.resultData;
	expect(runData['Chain']!.map(({ metadata }) => metadata?.tracing)).toEqual([
		{ 'http.request.resend_count': 1 },
	]);
	expect(labels).toBeUndefined();
});

test('a creation of videos names its tasks and sums seconds and cost', async () => {
	script = (response, _request, index) => {
		json(response, 200, { task_id: `t-${index}`, status: 'queued', model: 'video-m1' });
	};
	const parameters = { prompt: 'A lake', options: { pricePerSecond: 0.5 } };
	expect(await spanOf('createVideo', parameters, 2)).toEqual([
		{
			'gen_ai.response.model': 'video-m1',
			'agent_video.task_ids': 't-0, t-1',
			'agent_video.video_seconds': 10,
			'agent_video.estimated_cost': 5,
		},
	]);
});

test('a wait counts its tasks', async () => {
	script = (response, { body }) => {
		const { task_id } = body as { task_id: string };
		json(response, 200, { task_id, status: 'failed', error_message: 'no' });
	};
	const parameters = { taskId: '={{ $json.task_id }}', options: { onFailed: 'output' } };
	expect(await spanOf('waitForVideo', parameters, 2)).toEqual([
		expect.objectContaining({ 'agent_video.tasks': 2 }),
	]);
});

import { runNode, type RunOptions } from '../support/engine';
import {
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';

const FILE = Buffer.from('not really a film');

let server: ScriptedServer;
let script: Script;

beforeEach(async () => {
	server = await startScriptedServer((response, request, index) => {
		if (!request.path.startsWith('/cdn/')) {
			script(response, request, index);
			return;
		}
		response.writeHead(request.path.endsWith('gone.mp4') ? 404 : 200, {
			'content-type': 'video/mp4',
		});
		response.end(FILE);
	});
});
afterEach(async () => {
	await server.stop();
});

const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });

async function wait(more: Partial<RunOptions> = {}) {
	return await runNode('waitForVideo', { credential: credential(), ...more });
}

const taskOf = (body: unknown) => (body as { task_id: string }).task_id;

test('a finished video comes with its file; the key stays with the service', async () => {
	script = (response, { body }) => {
		json(response, 200, {
			task_id: taskOf(body),
			status: 'completed',
			model: 'video-m1',
			video_url: `${server.url}/cdn/a.mp4`,
			thumbnail_url: `${server.url}/cdn/a.jpg`,
			enhanced_prompt: 'A quiet lake',
		});
	};
	const { outputs } = await wait({ items: [{ task_id: 'task-1' }] });
	expect(server.requests[0]).toMatchObject({
		method: 'POST',
		path: '/v1/videos/tasks',
		headers: { authorization: 'Bearer k-secret' },
		body: { task_id: 'task-1' },
	});
	const [item] = outputs[0]!;
	expect(item!.json).toStrictEqual({
		task_id: 'task-1',
		status: 'completed',
		model: 'video-m1',
		video_url: `${server.url}/cdn/a.mp4`,
		thumbnail_url: `${server.url}/cdn/a.jpg`,
		enhanced_prompt: 'A quiet lake',
		waited_seconds: expect.any(Number) as number,
		history: [{ status: 'completed', at_seconds: expect.any(Number) as number }],
	});
	expect(item!.pairedItem).toStrictEqual({ item: 0 });
	expect(item!.binary!['video']).toMatchObject({
		mimeType: 'video/mp4',
		fileName: 'task-1.mp4',
		data: FILE.toString('base64'),
	});
	const download = server.requests.find(({ path }) => path === '/cdn/a.mp4');
	expect(download!.headers.authorization).toBeUndefined();
	expect(outputs[1]).toStrictEqual([]);
});

test('failed videos leave through Failed, with their reason and without an error key', async () => {
	script = (response, { body }) => {
		json(response, 200, {
			task_id: taskOf(body),
			status: 'failed',
			model: 'video-m1',
			error_message: 'moderation',
		});
	};
	const { status, outputs } = await wait({ items: [{ task_id: 'task-1' }] });
	expect(status).toBe('success');
	expect(outputs[0]).toStrictEqual([]);
	expect(outputs[1]).toMatchObject([
		{
			json: {
				task_id: 'task-1',
				status: 'failed',
				reason: 'failed',
				error_message: 'moderation',
			},
		},
	]);
	expect(outputs[1]![0]!.json).not.toHaveProperty('error');
});

test('the same task in two items is asked for once and comes out twice', async () => {
	script = (response, { body }) => {
		json(response, 200, { task_id: taskOf(body), status: 'completed', video_url: 'x' });
	};
	const { outputs } = await wait({
		parameters: { download: false },
		items: [{ task_id: 'a' }, { task_id: 'b' }, { task_id: 'a' }],
	});
	expect(outputs[0]!.map(({ json: fields }) => fields['task_id'])).toStrictEqual(['a', 'b', 'a']);
	expect(server.requests.map(({ body }) => taskOf(body)).sort()).toStrictEqual(['a', 'b']);
});

test('an empty task id stops the node before the first query', async () => {
	script = (response) => {
		json(response, 200, { status: 'completed' });
	};
	const { error } = await wait({ items: [{ task_id: 'a' }, {}] });
	expect(error).toMatchObject({ name: 'NodeOperationError', message: 'Task ID is empty' });
	expect(server.requests).toHaveLength(0);
});

test('with Continue On Fail an empty task id fails only its own item', async () => {
	script = (response, { body }) => {
		json(response, 200, { task_id: taskOf(body), status: 'completed', video_url: 'x' });
	};
	const { outputs } = await wait({
		parameters: { download: false },
		items: [{ task_id: 'a' }, { other: 1 }],
		onError: 'continueErrorOutput',
	});
	expect(outputs[0]).toHaveLength(1);
	expect(outputs[2]).toMatchObject([{ json: { error: 'Task ID is empty' } }]);
});

test('a download that fails names the task and the address of the video', async () => {
	script = (response, { body }) => {
		json(response, 200, {
			task_id: taskOf(body),
			status: 'completed',
			video_url: `${server.url}/cdn/gone.mp4`,
		});
	};
	const items = [{ task_id: 'task-1' }];
	const stopped = await wait({ items });
	expect(stopped.error).toMatchObject({
		name: 'NodeApiError',
		message: 'The finished file could not be downloaded',
		httpCode: '404',
	});
	expect(stopped.error!.description).toContain('task_id: task-1');

	const { outputs } = await wait({ items, onError: 'continueErrorOutput' });
	expect(outputs[2]![0]!.json['details']).toMatchObject({
		status: 404,
		task_id: 'task-1',
		video_url: `${server.url}/cdn/gone.mp4`,
	});
});

test('a wrong key is an error of the node, and names the task', async () => {
	script = (response) => {
		json(response, 401, { error: { message: 'bad key', type: 'invalid_request_error' } });
	};
	const { error } = await wait({ items: [{ task_id: 'task-1' }] });
	expect(error).toMatchObject({
		name: 'NodeApiError',
		httpCode: '401',
		message: 'The service did not accept the API key',
	});
	expect(error!.description).toContain('task_id: task-1');
	expect(JSON.stringify(error)).not.toContain('k-secret');
});

test('cancelling the execution stops the wait', async () => {
	let cancel: () => void = () => undefined;
	script = (response, { body }) => {
		json(response, 200, { task_id: taskOf(body), status: 'processing' });
		// The node is about to sleep for five seconds.
		response.on('close', () => {
			setImmediate(() => {
				cancel();
			});
		});
	};
	const startedMs = Date.now();
	const { status } = await wait({
		items: [{ task_id: 'task-1' }],
		onStart: (stop) => {
			cancel = stop;
		},
	});
	expect(status).toBe('canceled');
	expect(Date.now() - startedMs).toBeLessThan(4_000);
	expect(server.requests).toHaveLength(1);
});

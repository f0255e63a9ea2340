import { startService, type TestService } from '../emulator/support/service';
import { events, json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { CHAT_CALLS, VIDEO_CALLS, type ExampleCall } from './exampleCalls';
import type { Ran } from './nodeRuns';

const CALLS = [...CHAT_CALLS, ...VIDEO_CALLS];
const ROWS = CALLS.flatMap((call) =>
	Object.entries(call.by).map(([node, run]) => ({ node, name: call.name, call, run })),
);

let server: ScriptedServer;
let call: ExampleCall;
beforeAll(async () => {
	server = await startScriptedServer((response, { body }, index) => {
		const answer = call.answers?.[index] ?? { role: 'assistant', content: '{"ok":true}' };
		if (!('role' in answer)) {
			json(response, 200, answer);
			return;
		}
		const reason = 'tool_calls' in answer ? 'tool_calls' : 'stop';
		if ((body as { stream?: boolean }).stream === true) {
			const choices = [{ index: 0, delta: answer, finish_reason: reason }];
			events(response, [{ choices }, '[DONE]']);
			return;
		}
		json(response, 200, { choices: [{ index: 0, message: answer, finish_reason: reason }] });
	});
});
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

test.each(ROWS)('$node sends the example call: $name', async ({ call: example, run }) => {
	call = example;
	const ran = (await run(server)) as Ran | undefined;
	expect(ran?.error?.message).toBeUndefined();
	expect(server.requests.map(({ body }) => body)).toStrictEqual(example.bodies);
	for (const { method, path, headers } of server.requests) {
		expect([method, path]).toStrictEqual(['POST', example.path]);
		expect(headers.authorization).toBe('Bearer demo-key');
		expect(headers['content-type']).toMatch(/^application\/json/);
	}
});

describe('the emulator', () => {
	let service: TestService;
	beforeAll(async () => {
		service = await startService();
	});
	afterAll(async () => {
		await service.stop();
	});

	// All but the status of a task, which it would not know.
	test.each(CALLS.filter(({ path }) => path !== '/v1/videos/tasks'))(
		'accepts the example call: $name',
		async ({ path, bodies }) => {
			for (const body of bodies) {
				const stream = { ...body, stream: false };
				const sent = path === '/v1/chat/completions' ? stream : body;
				expect(await service.post(path, sent)).toMatchObject({ status: 200 });
			}
		},
	);
});

// @seconds 15
import axios from 'axios';

import { failureOf, outputItems } from '../../lab/n8n/execution';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { drawn, node, withSubNodes, workflow } from './support/buildWorkflow';
import { createAtOnce, keyedWorkflow } from './support/keyedVideos';
import { LEDGER } from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const CREATE = 'n8n-nodes-agent-video.createVideo';
const PATH = '/v1/videos/generations';

let session: Session;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	for (const name of ['Emulator', EXAMPLE_CREDENTIAL])
		await session.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
		});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

beforeEach(() => {
	session.emulator.journal.clear();
	session.emulator.faults.clear();
});

const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);

it(
	'sends an image from binary data as a URL that needs no sign-in',
	async () => {
		const { client, emulator } = session;
		const ref = await client.importWorkflow(
			workflow('Pictures', [
				start,
				node('Text', 'n8n-nodes-base.set', 3.4, {
					parameters: { mode: 'raw', jsonOutput: '{ "text": "picture of a lake" }' },
				}),
				node('File', 'n8n-nodes-base.convertToFile', 1.1, {
					parameters: { operation: 'toText', mode: 'each', sourceProperty: 'text' },
				}),
				node('Create', CREATE, 1, {
					parameters: {
						model: { __rl: true, mode: 'list', value: 'video-m3' },
						prompt: 'A lake',
						references: {
							file: [{ kind: 'image', source: 'binary', binaryProperty: 'data' }],
						},
					},
					credential: 'Emulator',
				}),
			]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		expect(failureOf(execution)).toBe('');
		const [request] = emulator.journal.of(PATH);
		const { images, ...fields } = request!.body as { images: string[] };
		expect(fields).toStrictEqual({
			model: 'video-m3',
			prompt: 'A lake',
			aspect_ratio: '16:9',
			duration: 5,
			size: '720P',
			image_mode: 'first_last_frame',
			watermark: false,
		});
		const file = await axios.get<string>(images[0]!, { proxy: false, responseType: 'text' });
		expect(file.data).toBe('picture of a lake');
		const [, claims = ''] = new URL(images[0]!).searchParams.get('token')!.split('.');
		const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
			iat: number;
			exp: number;
		};
		expect(exp - iat).toBe(3_600);
		expect(emulator.tasks.all.at(-1)!.video.images).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

it(
	'20 rows with a moderated, a failed and a lost one, and a file that is gone: one Retry brings all others, nothing twice',
	async () => {
		const { client, emulator } = session;
		const list = Array.from({ length: 20 }, (_, index) => `lake ${index + 1} of the night.`);
		list[11] = 'a fail-task';
		const at = (index: number) => ({ path: PATH, contains: list[index]! });
		const moderated = { kind: 'status', status: 409, ...at(6) } as const;
		emulator.faults.add(
			moderated,
			{ kind: 'reset', ...at(13) },
			{ kind: 'status', status: 410, path: '/cdn/', skip: 1 },
		);
		const ref = await client.importWorkflow(
			workflow('Night', [
				start,
				node('Rows', 'n8n-nodes-base.code', 2, {
					parameters: {
						jsCode: `return ${JSON.stringify(list.map((prompt) => ({ json: { prompt } })))};`,
					},
				}),
				node('Create', CREATE, 1, {
					parameters: { prompt: '={{ $json.prompt }}', options: { concurrency: 5 } },
					credential: 'Emulator',
				}),
				node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: 'Emulator' }),
				node('Next', 'n8n-nodes-base.noOp', 1),
			]),
		);
		const failed = await client.waitForExecution(await client.run(ref, 'Start'));
		emulator.faults.clear();
		emulator.faults.add(moderated);
		expect(failureOf(failed)).toMatch(
			/Create: 2 of 20 videos failed: item 6 \(Content moderation .*\), item 13 \(The connection .*\)\. \d were not sent\. 1\d have gone on: .*Retry creates only what is missing, and pays only for that/,
		);
		expect(failureOf(failed)).toMatch(/Wait: 2 of 1\d videos failed: task-\w+ /);

		const retried = await client.waitForExecution(await client.retry(failed.id));
		const files = outputItems(retried, 'Next').filter(({ binary }) => binary?.['data']);
		expect(files).toHaveLength(17);
		expect(failureOf(retried)).toMatch(/Create: 2 of \d videos failed: item 6 .*item 13 /);
		const sent = emulator.journal
			.of(PATH)
			.map(({ body }) => (body as { prompt: string }).prompt);
		expect(sent.toSorted()).toStrictEqual([...list, list[6]].toSorted());
	},
	RUN_LIMIT_MS,
);

it(
	'10 executions at the same moment create one video for one key, and all get its task',
	async () => {
		const { client, emulator, n8n } = session;
		const ref = await client.importWorkflow(keyedWorkflow('keyed'));
		await client.activate(ref);
		const key = 'one order';
		const items = await createAtOnce(session, ref, `${n8n.url}/webhook/keyed`, {
			key,
			count: 10,
		});
		const [task, ...others] = emulator.tasks.all.filter(({ video }) =>
			video.prompt.includes(key),
		);
		expect(others).toStrictEqual([]);
		expect(items.map(({ task_id: id }) => id)).toStrictEqual(Array(10).fill(task!.id));
		expect(items.filter(({ reused }) => reused === true)).toHaveLength(9);
		const rows = (await client.dataTableRows(LEDGER))!.filter(
			(row) => row['idempotency_key'] === key,
		);
		expect(rows).toMatchObject([{ task_id: task!.id, status: 'open' }]);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'as the only tool of an AI Agent it waits, and gives the model the address of the video',
	async () => {
		const agent = node('AI Agent', '@n8n/n8n-nodes-langchain.agent', 3.1, {
			parameters: { promptType: 'define', text: 'Make a video of a lighthouse' },
		});
		const model = node('Model', 'n8n-nodes-agent-video.agentVideoChatModel', 1, {
			credential: 'Emulator',
			parameters: { model: { __rl: true, mode: 'id', value: 'chat-m1' } },
		});
		const tool = node('Create Video', 'n8n-nodes-agent-video.createVideoTool', 1, {
			credential: 'Emulator',
			parameters: {
				prompt: "={{ $fromAI('prompt', `What the video shows`, 'string') }}",
				waitUntilFinished: true,
			},
		});
		const base = drawn('Agent', [start, agent], { Start: [['AI Agent']] });
		const asking = withSubNodes(base, 'AI Agent', [
			[model, 'ai_languageModel'],
			[tool, 'ai_tool'],
		]);
		const ref = await session.client.importWorkflow(asking);
		const execution = await session.client.waitForExecution(
			await session.client.run(ref, 'Start'),
		);
		expect(failureOf(execution)).toBe('');
		const chats = session.emulator.journal.of('/v1/chat/completions').map(({ body }) => body);
		const { messages } = chats.at(-1) as { messages: { role: string; content: string }[] };
		const results = messages.filter(({ role }) => role === 'tool');
		expect(results.map(({ content }) => JSON.parse(content) as unknown)).toMatchObject([
			[{ status: 'completed', video_url: expect.stringContaining('.mp4') as string }],
		]);
		expect(session.emulator.journal.of(PATH)).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

// @seconds 220
import axios from 'axios';
import type { INode } from 'n8n-workflow';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import { drawn, node, workflow } from './support/buildWorkflow';
import { draw } from './support/drawAgent';
import { POLLS, until } from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const CREATE = 'n8n-nodes-agent-video.createVideo';
const PATH = '/v1/videos/generations';
const PROMPTS = ['first lake', 'second lake', 'third lake'];

let session: Session;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	await session.client.createCredential({
		name: 'Emulator',
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

const modelOf = (value: string) => ({ __rl: true, mode: 'list', value });

/** A trigger, then one item per prompt, each with a file. */
const items = [
	node('Start', 'n8n-nodes-base.manualTrigger', 1),
	node('Prompts', 'n8n-nodes-base.code', 2, {
		parameters: {
			jsCode: `return ${JSON.stringify(PROMPTS)}.map((prompt) => ({ json: { prompt, text: 'picture of the ' + prompt } }));`,
		},
	}),
	node('File', 'n8n-nodes-base.convertToFile', 1.1, {
		parameters: { operation: 'toText', mode: 'each', sourceProperty: 'text' },
	}),
];

const fromPictures = (more: object = {}): INode => ({
	...node('Create', CREATE, 1, {
		parameters: {
			model: modelOf('video-m3'),
			prompt: '={{ $("Prompts").all()[$itemIndex].json.prompt }}',
			references: {
				file: [{ kind: 'image', source: 'binary', binaryProperty: 'data' }],
			},
		},
		credential: 'Emulator',
	}),
	...more,
});

async function run(name: string, create: INode) {
	const { client } = session;
	const ref = await client.importWorkflow(workflow(name, [...items, create]));
	return await client.waitForExecution(await client.run(ref, 'Start'));
}

/** The creation requests to the emulator: prompt, and status or fault. */
const creationRequests = () =>
	session.emulator.journal
		.of(PATH)
		.map(({ body, status, fault }): [string, number | string | undefined] => [
			(body as { prompt: string }).prompt,
			fault ?? status,
		]);

const fault = (kind: object) => {
	session.emulator.faults.add({ ...kind, path: PATH, contains: 'third' } as never);
};

it(
	'sends an image from binary data as a URL that needs no sign-in',
	async () => {
		const execution = await run('Pictures', fromPictures());
		expect(failureOf(execution)).toBe('');
		const [request] = session.emulator.journal.of(PATH);
		const { images, ...fields } = request!.body as { images: string[] };
		expect(fields).toStrictEqual({
			model: 'video-m3',
			prompt: expect.stringMatching(/ lake$/) as string,
			aspect_ratio: '16:9',
			duration: 5,
			size: '720P',
			image_mode: 'first_last_frame',
			watermark: false,
		});
		const file = await axios.get<string>(images[0]!, { proxy: false, responseType: 'text' });
		expect(PROMPTS.map((prompt) => `picture of the ${prompt}`)).toContain(file.data);
		const [, claims = ''] = new URL(images[0]!).searchParams.get('token')!.split('.');
		const { iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as {
			iat: number;
			exp: number;
		};
		expect(exp - iat).toBe(3_600);
		expect(session.emulator.tasks.all.at(-1)!.video.images).toHaveLength(1);
	},
	RUN_LIMIT_MS,
);

describe('Retry On Fail when the third creation fails', () => {
	const retrying = { retryOnFail: true, waitBetweenTries: 100 };

	it(
		'creates each video once if the service rejected the request',
		async () => {
			fault({ kind: 'rateLimit', retryAfterSeconds: 1 });
			const before = session.emulator.tasks.all.length;
			const execution = await run('Refused', fromPictures(retrying));
			expect(failureOf(execution)).toBe('');
			expect(creationRequests().sort()).toStrictEqual([
				['first lake', 200],
				['second lake', 200],
				['third lake', 200],
				['third lake', 'rateLimit'],
			]);
			const made = session.emulator.tasks.all.slice(before);
			expect(made.map(({ video }) => video.prompt).sort()).toStrictEqual(PROMPTS);
			const ids = outputItems(execution, 'Create').map(({ json }) => json['task_id']);
			expect([...ids].sort()).toStrictEqual(made.map(({ id }) => id).sort());
		},
		RUN_LIMIT_MS,
	);

	it(
		'does not send a request again if its outcome is unknown, not even in a manual retry',
		async () => {
			const { client } = session;
			fault({ kind: 'reset' });
			const execution = await run('Lost connection', fromPictures(retrying));
			const once = [
				['first lake', 200],
				['second lake', 200],
				['third lake', 'reset'],
			];
			expect(creationRequests().sort()).toStrictEqual(once);
			const failure =
				/^Create: 1 of 3 videos failed: item 2 \(The connection to the service was lost; the task may have been created\)\. None has gone on/;
			expect(failureOf(execution)).toMatch(failure);
			expect(failureOf(execution)).toMatch(
				/Tasks created before this error, still generating: task-\w+, task-\w+\. Without a task: item 2: /,
			);

			const retried = await client.waitForExecution(await client.retry(execution.id));
			expect(failureOf(retried)).toMatch(failure);
			expect(creationRequests().sort()).toStrictEqual(once);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'a manual retry keeps the videos that were created',
	async () => {
		const { client } = session;
		fault({ kind: 'status', status: 406 });
		const execution = await run('By hand', fromPictures());
		expect(failureOf(execution)).toMatch(
			/^Create: 1 of 3 videos failed: item 2 \(Insufficient credit\)\. None has gone on/,
		);

		const retried = await client.waitForExecution(await client.retry(execution.id));
		expect(failureOf(retried)).toBe('');
		expect(outputItems(retried, 'Create')).toHaveLength(3);
		expect(
			creationRequests()
				.sort()
				.map(([prompt]) => prompt),
		).toStrictEqual([...PROMPTS, 'third lake']);
	},
	RUN_LIMIT_MS,
);

const createNode = (parameters: object = {}): INode =>
	node('Create', CREATE, 1, {
		parameters: { prompt: 'A lake', ...parameters },
		credential: 'Emulator',
	});

describe('a run whose video nothing waits for', () => {
	const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
	const wait = node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: 'Emulator' });
	const UNATTENDED =
		'1 video is generating, and nothing in this workflow waits. Connect Wait for Video, or switch on Wait Until Finished';

	it.each<[string, Workflow, string | undefined, boolean?]>([
		['nothing follows', workflow('Alone', [start, createNode()]), UNATTENDED],
		[
			'Wait for Video is not connected to it',
			drawn('Beside', [start, createNode(), wait], { Start: [['Create', 'Wait']] }),
			UNATTENDED,
		],
		[
			'Wait for Video is deactivated',
			workflow('Off', [start, createNode(), { ...wait, disabled: true }]),
			UNATTENDED,
		],
		[
			'an agent gets its task',
			draw('Branch', {
				tools: ['weather'],
				nodes: [createNode()],
				wires: { Agent: [['Answers'], [], ['Create']], Create: [['Agent']] },
				questions: ['How is the weather in Rome?'],
				credential: 'Emulator',
				parameters: { model: modelOf('chat-m1') },
			}),
			UNATTENDED,
		],
		['Wait for Video follows', workflow('Followed', [start, createNode(), wait]), undefined],
		[
			'it waits itself',
			workflow('Itself', [start, createNode({ waitUntilFinished: true })]),
			undefined,
		],
		[
			'nothing is created',
			workflow('Dry', [start, createNode({ options: { dryRun: true } })]),
			undefined,
		],
		['only this step is executed', workflow('Step', [start, createNode()]), UNATTENDED, true],
		[
			'only this step is executed, and Wait for Video follows',
			workflow('Followed step', [start, createNode(), wait]),
			undefined,
			true,
		],
	])(
		'says so where %s',
		async (_where, drawing, expected, isStep = false) => {
			const { client } = session;
			const ref = await client.importWorkflow(drawing);
			const step = isStep ? 'Create' : undefined;
			const execution = await client.waitForExecution(await client.run(ref, 'Start', step));
			const [run] = execution.data.resultData.runData['Create']!;
			const said = (run!.hints ?? []).map(({ message }) => message);
			expect(
				said.filter((message) => message.includes('nothing in this workflow')),
			).toStrictEqual([expected].filter(Boolean));
		},
		RUN_LIMIT_MS,
	);
});

describe('a batch of which some fail, with default settings', () => {
	const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
	const next = node('Next', 'n8n-nodes-base.noOp', 1);
	const wait = node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: 'Emulator' });
	const rows = (list: readonly object[]) =>
		node('Rows', 'n8n-nodes-base.code', 2, {
			parameters: { jsCode: `return ${JSON.stringify(list.map((json) => ({ json })))};` },
		});
	const lakes = PROMPTS.map((prompt) => ({ prompt }));
	const fromRow = { prompt: '={{ $json.prompt }}' };
	const creating = (parameters: object = {}) => createNode({ ...fromRow, ...parameters });

	async function runAll(drawing: Workflow) {
		const { client } = session;
		const ref = await client.importWorkflow(drawing);
		return await client.waitForExecution(await client.run(ref, 'Start'));
	}

	const files = (execution: Execution, name: string) =>
		outputItems(execution, name).filter(({ binary }) => binary?.['data'] !== undefined);

	it(
		'the created ones go on to their files, then the node fails; a retry creates only what is missing',
		async () => {
			fault({ kind: 'status', status: 406 });
			const drawing = workflow('Part', [start, rows(lakes), creating(), wait, next]);
			const execution = await runAll(drawing);
			expect(failureOf(execution)).toMatch(
				/^Create: 1 of 3 videos failed: item 2 \(Insufficient credit\)\. 2 have gone on: .*\. Retry creates only .* – The service said: "Fault: 406"\..*Top up/,
			);
			expect(files(execution, 'Next')).toHaveLength(2);

			const { client } = session;
			const retried = await client.waitForExecution(await client.retry(execution.id));
			expect(failureOf(retried)).toBe('');
			expect(files(retried, 'Next')).toHaveLength(3);
			expect(creationRequests().map(([prompt]) => prompt)).toStrictEqual([
				...PROMPTS,
				'third lake',
			]);
		},
		RUN_LIMIT_MS,
	);

	it.each([1, 5])(
		'20 rows with a moderated, a failed, a slow and a lost one: one Retry brings all others, nothing twice (Concurrency %d)',
		async (concurrency) => {
			const list = Array.from(
				{ length: 20 },
				(_, index) => `lake ${index + 1} of night ${concurrency}.`,
			);
			list[11] = 'a fail-task';
			const at = (index: number) => ({ path: PATH, contains: list[index]! });
			const faults = session.emulator.faults;
			faults.add({ kind: 'status', status: 409, ...at(6) });
			faults.add({ kind: 'reset', ...at(13) });
			const options = { concurrency };
			const listed = rows(list.map((prompt) => ({ prompt })));
			const drawing = workflow(`Night ${concurrency}`, [
				...[start, listed, creating({ options })],
				...[{ ...wait, parameters: { options: { maximumWait: 1 } } }, next],
			]);
			const { client, emulator } = session;
			const running = runAll(drawing);
			// One takes longer than Maximum Wait.
			const slow = () => emulator.tasks.all.find(({ video }) => video.prompt === list[1]);
			await until(() => slow() !== undefined);
			const contains = slow()!.id;
			const fields = { status: 'processing', video_url: '' };
			faults.add({ kind: 'set', path: POLLS, contains, fields, count: 99 });
			const failed = await running;
			faults.clear();
			faults.add({ kind: 'status', status: 409, ...at(6) });
			expect(failureOf(failed)).toMatch(
				/Create: 2 of 20 videos failed: item 6 \(Content moderation .*\), item 13 \(The connection .*\)\. \d were not sent\. 1\d have gone on: .*Retry creates only what is missing, and pays only for that/,
			);
			expect(failureOf(failed)).toMatch(/Wait: 2 of 1\d videos failed: task-\w+ /);
			const retried = await client.waitForExecution(await client.retry(failed.id));
			expect(files(retried, 'Next')).toHaveLength(17);
			expect(failureOf(retried)).toMatch(/Create: 2 of \d videos failed: item 6 .*item 13 /);
			const sent = creationRequests().map(([prompt]) => prompt);
			expect(sent.toSorted()).toStrictEqual([...list, list[6]].toSorted());
		},
		RUN_LIMIT_MS,
	);

	it(
		'the finished ones come out of a node that waits itself, then it fails',
		async () => {
			const list = ['a kite', 'a fail-task', 'a boat'].map((prompt) => ({ prompt }));
			const waiting = creating({ waitUntilFinished: true });
			const execution = await runAll(workflow('Waits', [start, rows(list), waiting, next]));
			expect(files(execution, 'Next')).toHaveLength(2);
			expect(failureOf(execution)).toMatch(
				/^Create: 1 of 3 videos failed: task-\w+ .* – To go on without them.*Tasks failed: task-\w+: [^.]+\. [^.]+\.$/,
			);
		},
		RUN_LIMIT_MS,
	);

	it(
		'known tasks come out beside a key in conflict, nothing is sent, and the node fails',
		async () => {
			const keyed = creating({ options: { idempotencyKey: '={{ $json.id }}' } });
			const first = [
				{ id: 'key-a', prompt: 'first' },
				{ id: 'key-b', prompt: 'second' },
			];
			const { client } = session;
			const ref = await client.importWorkflow(
				workflow('Keys', [
					node('Start', 'n8n-nodes-base.webhook', 2.1, {
						parameters: { httpMethod: 'POST', path: 'keys-in-conflict' },
						webhookId: 'keys-in-conflict',
					}),
					node('Rows', 'n8n-nodes-base.splitOut', 1, {
						parameters: { fieldToSplitOut: 'body.rows' },
					}),
					keyed,
					next,
				]),
			);
			await client.activate(ref);
			const post = async (list: readonly object[]) => {
				await postWebhook(`${session.n8n.url}/webhook/keys-in-conflict`, { rows: list });
				return await client.lastExecution(ref);
			};
			expect(failureOf(await post(first))).toBe('');
			session.emulator.journal.clear();

			const execution = await post([
				{ id: 'key-new', prompt: 'third' },
				{ id: 'key-b', prompt: 'another' },
				{ id: 'key-a', prompt: 'first' },
			]);
			expect(outputItems(execution, 'Next').map(({ json }) => json)).toMatchObject([
				{ reused: true, request: { prompt: 'first' } },
			]);
			expect(failureOf(execution)).toMatch(
				/^Create: 2 of 3 videos failed: .*Idempotency Key key-b/,
			);
			expect(creationRequests()).toStrictEqual([]);
		},
		RUN_LIMIT_MS,
	);

	it(
		'in a loop nothing more is paid for after the batch that failed',
		async () => {
			const list = [...lakes, { prompt: 'fourth lake' }, { prompt: 'fifth lake' }];
			fault({ kind: 'status', status: 406 });
			const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, {
				parameters: { batchSize: 3 },
			});
			const drawing = drawn('Loop', [start, rows(list), loop, creating(), next], {
				Start: [['Rows']],
				Rows: [['Loop']],
				Loop: [[], ['Create']],
				Create: [['Next']],
				Next: [['Loop']],
			});
			const execution = await runAll(drawing);
			expect(failureOf(execution)).toMatch(
				/^Create: .*Insufficient credit.*None has gone on/,
			);
			expect(outputItems(execution, 'Next')).toHaveLength(0);
			expect(creationRequests().map(([prompt]) => prompt)).toStrictEqual(PROMPTS);
		},
		RUN_LIMIT_MS,
	);
});

describe('a prompt in which n8n evaluates no expression', () => {
	const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
	const runWith = async (name: string, tested: INode) => {
		const { client } = session;
		const ref = await client.importWorkflow(workflow(name, [start, tested]));
		return await client.waitForExecution(await client.run(ref, 'Start'));
	};

	it.each([
		['Fixed', '{{ $json.prompt }}', /Prompt has the text .*Switch the field from Fixed to Exp/],
		['Braces', "={{ 'a lighthouse' }} }}", /Prompt has }} outside of its expression/],
	])(
		'%s: is rejected before it is paid for',
		async (name, prompt, expected) => {
			const execution = await runWith(name, createNode({ prompt }));
			expect(failureOf(execution)).toMatch(expected);
			expect(creationRequests()).toStrictEqual([]);
		},
		RUN_LIMIT_MS,
	);

	it.each(['{"scene":{"price":"$5"}}', '={"scene":{"number":{{ 1 }}}}', 'a {{name}} tag'])(
		'%s is one that may be meant',
		async (prompt) => {
			const execution = await runWith('Meant', createNode({ prompt }));
			expect(failureOf(execution)).toBe('');
			expect(creationRequests()).toHaveLength(1);
		},
		RUN_LIMIT_MS,
	);

	it.each([
		['chatCompletion', { prompt: 'Hello {{ $json.name }}' }],
		['superAssistant', { appCode: 'demo-assistant', message: 'Hello {{ $json.name }}' }],
	])(
		'is a hint in %s',
		async (type, parameters) => {
			const asked = node('Asked', `n8n-nodes-agent-video.${type}`, 1, {
				parameters,
				credential: 'Emulator',
			});
			const execution = await runWith(type, asked);
			const [run] = execution.data.resultData.runData['Asked']!;
			expect((run!.hints ?? []).map(({ message }) => message)).toContainEqual(
				expect.stringMatching(
					/has the text {{ \$json.name }}, which n8n does not.*Expression/,
				),
			);
		},
		RUN_LIMIT_MS,
	);
});

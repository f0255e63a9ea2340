import axios from 'axios';
import type { INode } from 'n8n-workflow';

import { failureOf, outputItems } from '../../lab/n8n/execution';
import { node, workflow } from './support/buildWorkflow';
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

/** A trigger, an item for each prompt, and a file in each item. */
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

/** What the emulator was asked to create: the prompt and how it answered. */
const asked = () =>
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
	'a picture in binary data becomes an address that opens without a login, and a video',
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

describe('Retry On Fail, the third creation failing', () => {
	const retrying = { retryOnFail: true, waitBetweenTries: 100 };

	it(
		'each video is created once where the failure was a refusal',
		async () => {
			fault({ kind: 'rateLimit', retryAfterSeconds: 1 });
			const before = session.emulator.tasks.all.length;
			const execution = await run('Refused', fromPictures(retrying));
			expect(failureOf(execution)).toBe('');
			expect(asked().sort()).toStrictEqual([
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
		'nothing is sent again where the task may exist, in a retry by hand neither',
		async () => {
			const { client } = session;
			fault({ kind: 'reset' });
			const execution = await run('Unclear', fromPictures(retrying));
			const once = [
				['first lake', 200],
				['second lake', 200],
				['third lake', 'reset'],
			];
			expect(asked().sort()).toStrictEqual(once);
			const failure =
				/^Create: The connection to the service broke; the task may have been created/;
			expect(failureOf(execution)).toMatch(failure);
			expect(failureOf(execution)).toMatch(
				/Tasks that were created before this and go on: task-\w+, task-\w+$/,
			);

			const retried = await client.waitForExecution(await client.retry(execution.id));
			expect(failureOf(retried)).toMatch(failure);
			expect(asked().sort()).toStrictEqual(once);
		},
		RUN_LIMIT_MS,
	);
});

it(
	'a retry by hand goes on with the videos that exist',
	async () => {
		const { client } = session;
		fault({ kind: 'status', status: 406 });
		const execution = await run('By hand', fromPictures());
		expect(failureOf(execution)).toMatch(/^Create: The account has not enough credit/);

		const retried = await client.waitForExecution(await client.retry(execution.id));
		expect(failureOf(retried)).toBe('');
		expect(outputItems(retried, 'Create')).toHaveLength(3);
		expect(
			asked()
				.sort()
				.map(([prompt]) => prompt),
		).toStrictEqual([...PROMPTS, 'third lake']);
	},
	RUN_LIMIT_MS,
);

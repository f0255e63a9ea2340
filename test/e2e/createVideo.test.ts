// @seconds 15
import axios from 'axios';

import { failureOf, outputItems } from '../../lab/n8n/execution';
import { node, workflow } from './support/buildWorkflow';
import { items, noOp, set, start } from './support/drawAgent';
import { createAtOnce, keyedWorkflow } from './support/keyedVideos';
import { LEDGER } from './support/ledger';
import { RUN_LIMIT_MS } from './support/session';
import { useSession } from './support/useSession';

const CREATE = 'n8n-nodes-agent-video.createVideo';
const PATH = '/v1/videos/generations';

const session = useSession({ videoSeconds: 0.01 });

it(
	'sends an image from binary data as a URL that needs no sign-in, to a service that can reach this n8n',
	async () => {
		const { emulator } = session;
		const create = async (credential: string) => {
			const pictures = workflow(`Pictures, ${credential}`, [
				start,
				set('Text', '{ "text": "picture of a lake" }'),
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
					credential,
				}),
			]);
			return failureOf(await session.execute(pictures));
		};
		await session.credential('On the internet', 'https://api.example.com');
		expect(await create('On the internet')).toMatch(
			/^Create: .* would be published at http:\/\/127\.0\.0\.1:\d+, which the service cannot reach/,
		);
		expect(await create('Emulator')).toBe('');
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
		const failed = await session.execute(
			workflow('Night', [
				start,
				items('Rows', ...list.map((prompt) => ({ prompt }))),
				node('Create', CREATE, 1, {
					parameters: { prompt: '={{ $json.prompt }}', options: { concurrency: 5 } },
					credential: 'Emulator',
				}),
				node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: 'Emulator' }),
				noOp('Next'),
			]),
		);
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
		const ref = await session.publish(keyedWorkflow('keyed'));
		const key = 'one order';
		const found = await createAtOnce(session, ref, `${n8n.url}/webhook/keyed`, {
			key,
			count: 10,
		});
		const [task, ...others] = emulator.tasks.all.filter(({ video }) =>
			video.prompt.includes(key),
		);
		expect(others).toStrictEqual([]);
		expect(found.map(({ task_id: id }) => id)).toStrictEqual(Array(10).fill(task!.id));
		expect(found.filter(({ reused }) => reused === true)).toHaveLength(9);
		const rows = (await client.dataTableRows(LEDGER))!.filter(
			(row) => row['idempotency_key'] === key,
		);
		expect(rows).toMatchObject([{ task_id: task!.id, status: 'open' }]);
	},
	2 * RUN_LIMIT_MS,
);

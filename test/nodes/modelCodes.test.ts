import { NodeHelpers } from 'n8n-workflow';

import { SPEC_ROWS, SPEC_VIDEO_MODELS } from '../support/specVideoModels';
import { AgentVideoChatModel } from '../../nodes/AgentVideoChatModel/AgentVideoChatModel.node';
import { ChatCompletion } from '../../nodes/ChatCompletion/ChatCompletion.node';
import { CreateVideo } from '../../nodes/CreateVideo/CreateVideo.node';
import { FunctionCallingAgent } from '../../nodes/FunctionCallingAgent/FunctionCallingAgent.node';
import { runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const server = serverForEach((response, { body }) => {
	const { model } = body as { model: string };
	json(response, 200, { task_id: 'task-1', status: 'queued', model });
});

const OWN = [
	{ code: 'acme-pro', like: 'video-m5' },
	{ code: ' acme=2 ', like: 'video-m7' },
	// An account's code may be the name of another row.
	{ code: 'video-m1', like: 'video-m8' },
];

async function create(
	model: { readonly mode: string; readonly value: string },
	parameters: RunOptions['parameters'] = {},
	{ rows = OWN, ...more }: Partial<RunOptions> & { readonly rows?: readonly object[] } = {},
) {
	const credential = {
		baseUrl: server.url,
		apiKey: 'k-secret',
		videoModels: { model: rows },
	};
	return await runNode('createVideo', {
		credential,
		parameters: { model: { __rl: true, ...model }, prompt: 'A lake', ...parameters },
		...more,
	});
}

const PRO_DEFAULTS = {
	prompt: 'A lake',
	model: 'acme-pro',
	aspect_ratio: '16:9',
	duration: 5,
	mode: 'std',
	generate_audio: true,
	watermark: false,
};

test('a model chosen from the list has the form of its row, and the request has its code', async () => {
	const { outputs } = await create({ mode: 'list', value: 'video-m5=acme-pro' });
	expect(server.requests[0]!.body).toStrictEqual(PRO_DEFAULTS);
	expect(outputs[0]![0]!.json).toStrictEqual({
		task_id: 'task-1',
		status: 'queued',
		model: 'acme-pro',
		request: PRO_DEFAULTS,
		output: 'The video is not finished: task task-1',
	});
});

test.each([
	['a code of the credential', 'id', 'acme=2', 'acme=2'],
	['a code of the credential by expression', 'id', '={{ $json.code }}', 'acme=2'],
	['a pair with the row first', 'id', 'video-m7=acme-new', 'acme-new'],
	['a pair by expression', 'list', '={{ "video-m7=" + $json.code }}', 'acme=2'],
])('%s behaves like its row: checks, adjustments and price', async (_name, mode, value, code) => {
	const { outputs } = await create(
		{ mode, value },
		{ duration: 9, options: { pricePerSecond: 0.5 } },
		{ items: [{ code: 'acme=2' }] },
	);
	// A pair with the row first has the list fields of the row, in which nobody enters 9.
	expect(server.requests[0]!.body).toMatchObject({ model: code, duration: 8 });
	expect(outputs[0]![0]!.json).toMatchObject({
		model: code,
		estimated_cost: 4,
		adjustments: expect.arrayContaining([
			{
				field: 'duration',
				from: 9,
				to: 8,
				reason: `${code} supports Duration 4, 8 or 12`,
			},
		]) as unknown,
	});
});

test('a code with an equals sign, and one that is the name of another row, are found in the credential', async () => {
	await create({ mode: 'id', value: 'acme=2' }, { duration: 7 });
	const { error } = await create({ mode: 'id', value: 'video-m1' }, { duration: 5 });
	expect(error?.message).toBe('Duration is 5. video-m1 supports Duration 8');
	await create({ mode: 'list', value: 'video-m8=video-m1' });
	expect(server.requests.map(({ body }) => body)).toMatchObject([
		{ model: 'acme=2', duration: 8 },
		{ model: 'video-m1', duration: 8 },
	]);
});

test.each(['acme-x', 'acme-pro=video-of-mine', 'video-of-mine=acme-pro'])(
	'%s behaves like no model of the table: what is entered is sent',
	async (value) => {
		await create({ mode: 'id', value }, { duration: 7, size: '4K' });
		expect(server.requests[0]!.body).toStrictEqual({
			prompt: 'A lake',
			model: value,
			duration: 7,
			size: '4K',
		});
	},
);

/** Wrong rows of a list, with the beginning of the error. */
const WRONG_ROWS: readonly (readonly [readonly object[], string])[] = [
	[[{ code: ' ', like: 'video-m1' }], 'row 1 has no code'],
	[[...OWN, {}], 'row 4 has no code'],
	[
		[...OWN, { code: 'acme-pro ', like: 'video-m1' }],
		'row 4 has the code acme-pro, as row 1 has',
	],
];

test.each(WRONG_ROWS)('%j: nothing is sent, and the error names the row', async (rows, problem) => {
	const { status, error } = await create({ mode: 'id', value: 'video-m1' }, {}, { rows });
	expect(status).toBe('error');
	expect(error).toMatchObject({ message: `Video Models in the credential: ${problem}` });
	expect(server.requests).toHaveLength(0);
});

/** The values of a list of a node, with the credential's lists. */
async function listedBy(
	search: (
		this: never,
		filter?: string,
	) => Promise<{ results: { name: string; value: unknown }[] }>,
	lists: object,
	filter?: string,
) {
	const context = { getCredentials: () => Promise.resolve(lists) };
	const { results } = await search.call(context as never, filter);
	return results.map(({ name, value }) => [name, value]);
}

test('the list of Create Video has the models of the account, or else those of the specification', async () => {
	const { listSearch } = new CreateVideo().methods;
	const search = async function (this: never, filter?: string) {
		return await listSearch.searchVideoModels.call(this, filter);
	};
	const own = { videoModels: { model: OWN } };
	expect(await listedBy(search, own)).toStrictEqual([
		['acme-pro: Text, images, or a video to edit; with sound', 'video-m5=acme-pro'],
		['acme=2: Text, or reference images', 'video-m7=acme=2'],
		['video-m1: Text, or reference images', 'video-m8=video-m1'],
	]);
	expect(await listedBy(search, own, 'EDIT')).toHaveLength(1);
	const same = { videoModels: { model: [{ code: 'video-m3', like: 'video-m3' }] } };
	expect(await listedBy(search, same)).toStrictEqual([
		['video-m3: Text, or first and last frame', 'video-m3'],
	]);
	for (const none of [{}, { videoModels: {} }])
		expect((await listedBy(search, none)).map(([, value]) => value)).toStrictEqual(
			SPEC_VIDEO_MODELS.map(({ code }) => code),
		);
});

test.each([new ChatCompletion(), new FunctionCallingAgent(), new AgentVideoChatModel()])(
	'the list of $description.displayName has the default and the chat models of the account',
	async ({ methods }) => {
		const search = methods.listSearch['searchModel']!;
		const chatModels = { model: [{ code: 'acme-c1', name: 'Acme' }, { code: 'acme-c2' }] };
		const first = ['Default Model', ''];
		expect(await listedBy(search, {})).toStrictEqual([first]);
		expect(await listedBy(search, { chatModels })).toStrictEqual([
			first,
			['Acme', 'acme-c1'],
			['acme-c2', 'acme-c2'],
		]);
		await expect(listedBy(search, { chatModels: { model: [{}] } })).rejects.toThrow(
			'Chat Models in the credential: row 1 has no code',
		);
	},
);

test.each(SPEC_ROWS)('%s: the form of a pair is the form of the row', (code) => {
	const { description } = new CreateVideo();
	const shown = (value: string) =>
		description.properties.filter((property) =>
			NodeHelpers.displayParameter(
				{ model: { __rl: true, mode: 'list', value } },
				property,
				null,
				description,
			),
		);
	for (const own of ['acme', '0', 'video-m1', '~', 'ä'])
		expect(shown(`${code}=${own}`)).toStrictEqual(shown(code));
	for (const other of [`${code}0`, `${code}~`, `x${code}`, `${code}-pro`, ''])
		expect(shown(other)).toStrictEqual(shown('acme'));
});

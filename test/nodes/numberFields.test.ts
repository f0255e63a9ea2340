import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { NODE_TYPES, runNode, type RunResult } from '../support/engine';
import { dataTables } from '../support/dataTables';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED } from '../support/waitOutputs';

// Every number of every form, found in the descriptions: a new field is tested without another line here.

const REPLY = { choices: [{ message: { content: '{}' }, finish_reason: 'stop' }] };
const TASK_DONE = { status: 'completed', video_url: 'https://cdn.example/x.mp4', model: 'm' };
const server = serverForEach((response, { path, body }) => {
	const task = { task_id: 't', ...TASK_DONE, ...(body as object) };
	json(response, 200, path === '/v1/chat/completions' ? REPLY : task);
});

const PREFIX = 'n8n-nodes-agent-video.';
const TYPES = Object.entries(NODE_TYPES).filter(([name]) => name.startsWith(PREFIX));

/** The parameters with which each node makes a call. */
const PARAMETERS: Readonly<Record<string, IDataObject>> = {
	agentVideoChatModel: {},
	// Replies in JSON, for the number of attempts to repair them.
	functionCallingAgent: { prompt: 'Hi', streaming: 'off', responseFormat: 'json' },
	chatCompletion: { prompt: 'Hi', streaming: 'off', responseFormat: 'json' },
	createVideo: { prompt: 'Hi', waitUntilFinished: true, download: false },
	superAssistant: { appCode: 'a', message: 'Hi', streaming: 'off', responseFormat: 'json' },
	waitForVideo: { taskId: 't', download: false },
};
/** Parameters that others need to be set to be read, by the name of the field. */
const TOGETHER: Readonly<Record<string, IDataObject>> = {
	maximumCost: { options: { pricePerSecond: 1 } },
	maximumFileSize: { options: { downloadMedia: true } },
	memoryMessages: { memory: 'key', memoryKey: 'k' },
	// A number for a model that is not in the list.
	duration: { model: { __rl: true, mode: 'id', value: 'video-x9' } },
};

/** A number of a form, with the path to it. */
interface NumberFieldOf {
	readonly node: string;
	readonly path: readonly string[];
	readonly property: INodeProperties;
}

function numbersIn(
	node: string,
	properties: readonly INodeProperties[],
	path: readonly string[] = [],
): NumberFieldOf[] {
	return properties.flatMap((property) => {
		const here = [...path, property.name];
		if (property.type === 'number') return [{ node, path: here, property }];
		const nested = (property.options ?? []) as readonly (INodeProperties & {
			readonly values?: INodeProperties[];
		})[];
		return nested.flatMap((each) => {
			if (each.values !== undefined)
				return numbersIn(node, each.values, [...here, each.name]);
			return 'type' in each ? numbersIn(node, [each], here) : [];
		});
	});
}

/** Numbers that only tools have, or only another mode than these tests run. */
const isOther = ({ property: { displayOptions } }: NumberFieldOf) =>
	displayOptions?.show?.['@tool'] !== undefined ||
	displayOptions?.show?.['/tasks']?.[0] === 'ledger';

const FIELDS = TYPES.flatMap(([name, { description }]) =>
	numbersIn(name.slice(PREFIX.length), description.properties),
).filter((field) => !isOther(field));

/** Limits of the spending: an empty one is an error, or it would be no limit. */
const LIMITS: readonly string[] = ['Maximum Videos', 'Maximum Cost'];

/** Message and description of the error; a sub-node has both in the description, after a message of n8n. */
const lineOf = ({ error }: RunResult) =>
	error &&
	`${error.message}. ${error.description ?? ''}`.replace(/^Error in sub-node Model\. /, '');

/** Runs the node with this value; returns its error. */
async function run({ node, path }: NumberFieldOf, value: unknown) {
	const name = path.at(-1)!;
	// The video nodes download without a switch among the options.
	const needsMore = name !== 'maximumFileSize' || !node.includes('Video');
	const { options: more, ...together } = (needsMore ? TOGETHER[name] : undefined) ?? {};
	const field = { [name]: value } as IDataObject;
	const parameters = {
		...PARAMETERS[node],
		...together,
		...(path[0] === 'options' ? { options: { ...(more as IDataObject), ...field } } : field),
	};
	const credential = { baseUrl: server.url, apiKey: 'k' };
	return lineOf(await runNode(node, { credential, tables: dataTables(), parameters }));
}

const named = (fields: readonly NumberFieldOf[]) =>
	fields.map((field) => [`${field.node}: ${field.property.displayName}`, field] as const);

test('the forms have numbers, each with its range in the editor', () => {
	expect(FIELDS.length).toBeGreaterThan(30);
	const without = FIELDS.filter(({ property }) => property.typeOptions?.minValue === undefined);
	expect(without).toStrictEqual([]);
});

describe.each(named(FIELDS))('%s', (_name, field) => {
	const { typeOptions: { minValue = 0, maxValue } = {} } = field.property;
	const label = field.property.displayName.replace(/ \([^)]*\)$/, '');

	test.each<readonly [string, unknown]>([
		['abc', '={{ "abc" }}'],
		[String(minValue - 1), minValue - 1],
		...(maxValue === undefined ? [] : [[String(maxValue + 1), maxValue + 1] as const]),
	])('%s is an error that names it, before anything is sent', async (shown, value) => {
		const [what, ...remedy] = `${await run(field, value)}`.split('. ');
		expect(what).toBe(`${label} is ${shown}`);
		expect(remedy.join('. ')).toMatch(/^Enter a (whole )?number (of at least|from) /);
		expect(server.requests).toHaveLength(0);
	});

	const whenEmpty = LIMITS.includes(label) ? `${label} is empty` : undefined;

	test('an empty cell means the default, and a text with a number that number', async () => {
		/** The error of a run with the value, and all that it has sent. */
		const runWith = async (value?: unknown) => {
			server.requests.length = 0;
			const what = (await run(field, value))?.split('. ')[0];
			return [what, ...server.requests.map(({ body }) => body)];
		};
		const [, ...byDefault] = whenEmpty === undefined ? await runWith() : [];
		for (const value of ['={{ null }}', '={{ " " }}'])
			expect(await runWith(value)).toStrictEqual([whenEmpty, ...byDefault]);
		const number = [maxValue ?? 7, minValue].find((each) => each !== field.property.default);
		const [, ...sent] = await runWith(number);
		expect(await runWith(`={{ "${number}" }}`)).toStrictEqual([undefined, ...sent]);
	});
});

test.each(['NaN', 'true', '[]'])('%s is no number', async (value) => {
	const [field] = FIELDS.filter(({ property }) => property.name === 'temperature');
	expect(await run(field!, `={{ ${value} }}`)).toMatch(`Temperature is ${value}`);
	expect(server.requests).toHaveLength(0);
});

describe('a number above 2^53, which is rounded before a node gets it: it is the ID of something else', () => {
	const TASK = { taskId: '={{ $json.id }}', download: false };
	const IN_TEXT = { taskId: '=task-{{ $json.id }}', download: false };
	const KEY = { prompt: 'Hi', options: { idempotencyKey: '=order {{ $json.id }}' } };
	const byKey = (memoryKey: string) => ({ prompt: 'Hi', memory: 'key', memoryKey });
	const OF_CHAT = { prompt: 'Hi', memory: 'chat' };
	const ASSIST = { session: 'chat', appCode: 'a', message: 'Hi' };
	const SESSION = { ...ASSIST, session: 'key', sessionKey: '={{ $json.id }}' };
	const BY_ID = { ...ASSIST, session: 'id', sessionId: '={{ $json.id }}' };
	// As JSON, or a sheet, has it.
	const LONG = JSON.parse('12345678901234567891') as number;

	/** Runs a node for the items of these IDs. */
	const runFor = async (name: string, parameters: IDataObject, ...ids: IDataObject['x'][]) =>
		await runNode(name, {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: ids.map((id) => ({ id, sessionId: id })),
			parameters,
			tables: dataTables(),
			...(ids.length === 3 ? { onError: 'continueErrorOutput' as const } : {}),
		});

	test.each<[string, IDataObject, number, string]>([
		['waitForVideo', TASK, LONG, 'Task ID is 12345678901234567000'],
		['waitForVideo', TASK, 2 ** 53, 'Task ID is 9007199254740992'],
		['waitForVideo', TASK, 1e21, 'Task ID is 1e+21'],
		['waitForVideo', IN_TEXT, LONG, 'Task ID is task-12345678901234567000'],
		['createVideo', KEY, LONG, 'Idempotency Key is order 12345678901234567000'],
		['chatCompletion', byKey('={{ $json.id }}'), LONG, 'Key is 12345678901234567000'],
		['functionCallingAgent', byKey('=c {{ $json.id }}'), LONG, 'Key is c 12345678901234567000'],
		['superAssistant', SESSION, LONG, 'Key is 12345678901234567000'],
		['superAssistant', BY_ID, LONG, 'Session ID is 12345678901234567000'],
		['chatCompletion', OF_CHAT, LONG, 'sessionId is 12345678901234567000'],
		['superAssistant', ASSIST, LONG, 'sessionId is 12345678901234567000'],
	])('%s with %j and %d sends nothing', async (name, parameters, id, message) => {
		// The chat nodes send one item after another.
		const before = name.endsWith('Video') ? [7] : [];
		const { error } = await runFor(name, parameters, ...before, id);
		expect(error!.message).toContain(`${message}: a number above 9007199254740991 is rounded`);
		expect(error!.description).toMatch(/^Pass it on as text/);
		expect(error).toMatchObject({ context: { itemIndex: before.length } });
		expect(server.requests).toHaveLength(0);
	});

	test.each<[IDataObject, IDataObject[string]]>([
		[TASK, '12345678901234567000'],
		[IN_TEXT, '12345678901234567891'],
		[TASK, 2 ** 53 - 1],
	])('%j takes %j', async (parameters, id) => {
		const { outputs } = await runFor('waitForVideo', parameters, 7, id);
		expect(outputs[COMPLETED]).toHaveLength(2);
	});

	test('fails its item alone with On Error: Continue', async () => {
		const { outputs } = await runFor('waitForVideo', TASK, 7, LONG, 8);
		expect(outputs[COMPLETED]).toHaveLength(2);
		expect(server.requests).toHaveLength(2);
	});
});

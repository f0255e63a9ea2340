/** What Retry On Fail and the Retry of an execution know of the calls: what n8n has saved with the execution. */
import type { IDataObject } from 'n8n-workflow';

import { dataTables, type DataTables } from '../support/dataTables';
import { packageNode, runWorkflow, type EnvironmentOptions } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';

const FIRST = { id: '1', token: 't' };
const RETRY = { id: '2', token: 't', isRetry: true };

const answer: Script = (response, { body }) => {
	const choice = { index: 0, delta: { content: `Re: ${textOf(body)}` }, finish_reason: 'stop' };
	events(response, [{ session_id: 's-1', choices: [choice] }, '[DONE]']);
};
const rejectCall: Script = (response) => {
	json(response, 406, { error: { message: 'top up' } });
};
const moderate: Script = (response) => {
	json(response, 409, { error: { message: 'sensitive' } });
};
const breakOff: Script = (response) => {
	events(response, [{ session_id: 's-1', choices: [{ index: 0, delta: { content: 'Ha' } }] }]);
};

/** A reply in one piece, which is no stream. */
const says =
	(message: object, finish_reason = 'stop'): Script =>
	(response) => {
		json(response, 200, { session_id: 's-1', choices: [{ index: 0, message, finish_reason }] });
	};

let tables: DataTables;
/** The answers to a message, one for each request; then it is answered well. */
let answers: Record<string, Script[]>;

const server = serverForEach((response, request, index) => {
	const text = textOf(request.body);
	// For JSON the node adds what to answer with.
	const script = (answers[text] ?? answers[text.split('\n')[0]!])?.shift() ?? answer;
	script(response, request, index);
});

beforeEach(() => {
	tables = dataTables();
	answers = {};
});

const textOf = (body: unknown) => (body as { messages: [{ content: string }] }).messages[0].content;
const sent = () => server.requests.map(({ body }) => textOf(body));

/** A workflow of one node that asks an item after another. */
function drawn(parameters: IDataObject = {}) {
	return packageNode('Tested', 'superAssistant', {
		parameters: {
			appCode: 'demo-assistant',
			message: '={{ $json.text }}',
			session: 'new',
			options: { concurrency: 1, retries: 0 },
			...parameters,
		},
	});
}

async function begin(
	texts: readonly string[],
	node = drawn(),
	more: Partial<EnvironmentOptions> = {},
) {
	return await runWorkflow([node], {}, 'Tested', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: texts.map((text) => ({ text })),
		execution: FIRST,
		tables,
		...more,
	});
}

test('a retry of the saved execution asks only for what has no reply', async () => {
	answers = { two: [rejectCall] };
	const first = await begin(['one', 'two', 'three']);
	expect(first.status).toBe('error');
	const { status, outputs } = await first.resume(RETRY);
	expect(status).toBe('success');
	expect(outputs[0]!.map(({ json: { output } }) => output)).toStrictEqual([
		'Re: one',
		'Re: two',
		'Re: three',
	]);
	expect(sent()).toStrictEqual(['one', 'two', 'two', 'three']);
});

test('an item that is rejected stops none of the others, and the text says what a retry costs', async () => {
	answers = { two: [moderate, moderate] };
	const first = await begin(['one', 'two', 'three']);
	expect(first.error!.message).toBe(FAILURE.moderated);
	expect(first.error!.description).toContain('Retry asks only what is missing, and pays only');
	expect(sent()).toStrictEqual(['one', 'two', 'three']);
	await first.resume(RETRY);
	expect(sent().slice(3)).toStrictEqual(['two']);
});

test('a retry gets past an item whose outcome is unknown', async () => {
	answers = { two: [breakOff] };
	const first = await begin(['one', 'two', 'three']);
	expect(sent()).toStrictEqual(['one', 'two']);
	expect(first.error!.description).toContain('Retry asks only what is missing, and pays only');
	const second = await first.resume(RETRY);
	expect(second.status).toBe('error');
	expect(sent()).toStrictEqual(['one', 'two', 'three']);
});

test.each([
	['the assistant', { appCode: 'other' }],
	['the message', { message: 'Hi' }],
	['the session', { session: 'id', sessionId: 's-9' }],
	['the images', { images: { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] } }],
])('an item is refused in a retry when it asks with another value of %s', async (_name, change) => {
	answers = { two: [rejectCall] };
	const node = drawn();
	const first = await begin(['one', 'two'], node);
	Object.assign(node.parameters, change);
	const { error } = await first.resume(RETRY);
	expect(error!.message).toContain('in the earlier try of the execution, which has paid for it');
	expect(sent()).toStrictEqual(['one', 'two']);
});

test('a call with unknown outcome is sent again in a retry by the option only', async () => {
	answers = { one: [breakOff] };
	const node = drawn();
	const first = await begin(['one'], node);
	const second = await first.resume(RETRY);
	expect(second.error!.description).toContain('so the call is not sent again');
	expect(sent()).toStrictEqual(['one']);

	node.parameters = drawn({ options: { retryOutcomeUnknown: true } }).parameters;
	const third = await first.resume({ ...RETRY, id: '3' });
	expect(third.outputs[0]![0]!.json['output']).toBe('Re: one');
	expect(sent()).toStrictEqual(['one', 'one']);
});

test('a call that was stopped is one with unknown outcome, and the error says how to send it again', async () => {
	let cancel: (() => void) | undefined;
	answers = {
		one: [
			() => {
				cancel!();
			},
		],
	};
	const onStart = (stop: () => void) => {
		cancel = stop;
	};
	const first = await begin(['one'], drawn(), { onStart });
	const { error } = await first.resume(RETRY);
	expect(error!.message).toBe('An earlier try was stopped after it had sent this call');
	expect(error!.description).toMatch(
		/without the option Retry If Outcome Is Unknown.*switch on/s,
	);
	expect(sent()).toStrictEqual(['one']);
});

test.each([
	['rejected', rejectCall],
	['moderated', moderate],
])('a retry pays for no reply again whose repair was %s', async (_name, script) => {
	answers = {
		'The reply is not valid JSON. Answer with JSON only, without any text around it.': [script],
	};
	const options = { repairAttempts: 1, concurrency: 1, retries: 0 };
	const node = drawn({ responseFormat: 'json', options });
	const first = await begin(['one'], node);
	expect(first.error!.description).toContain('so the call is not sent again');
	const { error } = await first.resume(RETRY);
	expect(error!.message).toBe(first.error!.message);
	expect(JSON.stringify(error)).toContain('Re: one');
	expect(sent()).toHaveLength(2);
});

describe('a reply that is no answer is paid for:', () => {
	const IN_JSON = { responseFormat: 'json' };
	const AGAIN = { concurrency: 1, retries: 0, retryOutcomeUnknown: true };
	const good = says({ content: '{"a":1}' });

	test.each<[string, Script, IDataObject, string]>([
		['nothing', says({ content: '' }), {}, 'neither an answer nor a tool call'],
		['a refusal', says({ refusal: 'I cannot' }), {}, 'The model refused to answer'],
		['a failure', says({ content: 'Ha' }, 'error'), {}, 'reported an error during the reply'],
		['no JSON', says({ content: 'Ha' }), IN_JSON, 'The reply is not valid JSON'],
	])('%s is asked for again in a retry by the option only', async (...row) => {
		const [, script, parameters, message] = row;
		answers = { one: [script, good] };
		const node = drawn(parameters);
		const first = await begin(['one'], node);
		const second = await first.resume(RETRY);
		for (const { error } of [first, second]) {
			expect(error!.message).toContain(message);
			expect(error!.description).toContain(
				'so the call is not sent again without the option',
			);
			expect(error).toMatchObject({ context: { data: { outcome_unknown: true } } });
			expect(error).toHaveProperty('context.data.partial.session_id', 's-1');
		}
		expect(sent()).toHaveLength(1);

		node.parameters = drawn({ ...parameters, options: AGAIN }).parameters;
		const third = await first.resume({ ...RETRY, id: '3' });
		expect(third.outputs[0]![0]!.json['output']).toBe('{"a":1}');
		expect(sent()).toHaveLength(2);
	});

	test.each([
		[{}, ['one', 'two']],
		[{ options: AGAIN }, ['one', 'two', 'one', 'one']],
	])('with Retry On Fail and On Error: Continue, %j', async (parameters, expected) => {
		answers = { one: Array.from({ length: 3 }, () => says({ content: '' })) };
		const node = drawn(parameters);
		Object.assign(node, { retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
		const { outputs } = await begin(['one', 'two'], {
			...node,
			onError: 'continueRegularOutput',
		});
		expect(outputs[0]!.map(({ json: { output } }) => output)).toStrictEqual([
			undefined,
			'Re: two',
		]);
		expect(outputs[0]![0]!.json).toMatchObject({
			details: {
				outcome_unknown: true,
				partial: { choices: [{ message: { content: '' } }] },
			},
		});
		expect(sent()).toStrictEqual(expected);
	});

	test.each([
		['nothing', says({ content: '' })],
		['what breaks off', breakOff],
	])('neither Retry On Fail nor the model of an agent repeats %s', async (_name, script) => {
		answers = { one: [script] };
		const { parameters } = drawn();
		const tool = packageNode('Tested', 'superAssistantTool', { parameters });
		await begin(['one'], { ...tool, retryOnFail: true, maxTries: 3, waitBetweenTries: 1 });
		expect(sent()).toStrictEqual(['one']);
	});

	test('a retry reads it by the schema that is there by then', async () => {
		const draw = (type: string) => {
			const jsonSchema = JSON.stringify({ properties: { a: { type } } });
			return drawn({ responseFormat: 'schema', defineSchema: 'schema', jsonSchema });
		};
		answers = { one: [good], two: [good] };
		const node = draw('string');
		const first = await begin(['one', 'two'], node);
		expect(first.error!.message).toContain('The reply');
		const second = await first.resume(RETRY);
		expect(second.error!.message).toBe(first.error!.message);
		node.parameters = draw('number').parameters;
		const third = await second.resume({ ...RETRY, id: '3' });
		expect(third.outputs[0]!.map(({ json: fields }) => fields['json'])).toStrictEqual([
			{ a: 1 },
			{ a: 1 },
		]);
		expect(sent()).toHaveLength(2);
	});
});

test('after a kill, of which n8n has saved nothing, a retry asks again', async () => {
	await begin(['one']);
	await begin(['one'], drawn(), { execution: RETRY });
	expect(sent()).toStrictEqual(['one', 'one']);
});

test('no call is written into a data table', async () => {
	await begin(['one']);
	expect(tables.calls).toBe(0);
});

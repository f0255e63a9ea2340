import type { IDataObject } from 'n8n-workflow';

import { delta } from '../support/chatPieces';
import { bodyOf, STOP } from '../support/chatReplies';
import { runNode, type RunResult } from '../support/engine';
import { events, json, serverForEach } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

/** Codes that the service rejects, and the status, and code, it rejects them with; the others answer. */
let rejected: Readonly<Record<string, number | readonly [status: number, code: string]>>;
/** Whether a super assistant answers. */
let isAssistant: boolean;

const server = serverForEach((response, { body }) => {
	const { app_code: app, model = 'none' } = body as { app_code?: string; model?: string };
	const rejection = rejected[app ?? model];
	const [status, code] = typeof rejection === 'number' ? [rejection] : (rejection ?? []);
	if (status === 0) {
		response.destroy();
	} else if (status === -1) {
		events(response, [delta({ reasoning_content: 'Hm' })]);
	} else if (status === -2) {
		events(response, [delta({ content: 'Half' })]);
	} else if (status !== undefined) {
		const error = { message: 'no', code };
		json(response, status, { session_id: 's-1', error }, { 'retry-after': '0' });
	} else {
		const more = { model, ...(isAssistant && { session_id: 's-1' }) };
		json(response, 200, bodyOf({ content: `This is ${app ?? model}` }, STOP, more));
	}
});

beforeEach(() => {
	rejected = {};
	isAssistant = false;
});

const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const APP = { answeredBy: 'app', appCode: 'first' };

async function ask(
	node: string,
	{ options = {}, ...more }: IDataObject,
	hasApp = false,
	streaming = false,
): Promise<RunResult> {
	const credential = {
		...{ baseUrl: server.url, apiKey: hasApp ? 'k-demo-app' : 'k' },
		keyIncludesApp: hasApp,
	};
	return await runNode(node, {
		credential,
		streaming,
		parameters: {
			...{ model: byId('first'), prompt: 'Hi' },
			...more,
			options: { fallbacks: 'second, ,third ', retries: 0, ...(options as object) },
		},
	});
}

const sent = () =>
	server.requests.map(({ body }) => {
		const { app_code: app, model } = body as IDataObject;
		return app === undefined ? model : { app, model };
	});
const outputOf = ({ outputs }: RunResult) => outputs.flat()[0]?.json;

describe.each(['chatCompletion', 'functionCallingAgent'])('%s, Fallbacks', (node) => {
	const isChat = node === 'chatCompletion';

	const UNFIT = [200, 500, 503].flatMap((status) =>
		['model_not_found', 'context_length_exceeded'].map((code) => [status, code] as const),
	);
	// 0: no answer.
	test.each(isChat ? [400, 402, 403, 404, 429, 500, 502, 503, 0, ...UNFIT] : [400, 0])(
		'after status %j the next model answers, and the output says so',
		async (status) => {
			rejected = { first: status };
			const result = await ask(node, {});
			expect(sent()).toStrictEqual(['first', 'second']);
			expect(outputOf(result)).toMatchObject({
				output: 'This is second',
				fallback: { answered_by: 'second', failed: [{ code: 'first' }] },
			});
			expect(result.hints.join()).toContain('second has answered instead of first');
		},
	);

	const REJECTED = isChat ? [401, 406, 409, [503, 'insufficient_quota'] as const] : [401];
	test.each([
		// The account or the question is at fault.
		...REJECTED.map((status) => [status, {}] as const),
		// It may have been carried out.
		...[500, 503, 0, ...UNFIT].map((status) => [status, { ...APP, model: '' }] as const),
	])('after status %j no other code is asked: %j', async (status, parameters) => {
		rejected = { first: status };
		const { error } = await ask(node, parameters);
		expect(error).toBeDefined();
		expect(sent()).toHaveLength(1);
	});

	test.each([
		[503, ['first']],
		[429, ['first', 'second']],
	])(
		'after status %i the application at the end of the key is asked: %j',
		async (status, expected) => {
			rejected = { first: status };
			await ask(node, {}, true);
			expect(sent()).toStrictEqual(expected);
		},
	);

	const NEXT = [{}, ['first', 'second'], 'second'] as const;
	const BY_EXPRESSION = '={{ ["second", null, $json.none, "", "third"] }}';
	const [FIRST, SECOND] = ['first', 'second'].map((app) => ({ app, model: 'chat-m2' }));

	test.each<[string, typeof rejected, IDataObject, readonly unknown[], string]>([
		['the first one answers: nothing is said', {}, {}, ['first'], 'first'],
		['a stream that breaks before anything is shown: the next one', { first: -1 }, ...NEXT],
		['a stream that breaks after text that nobody watches: the same', { first: -2 }, ...NEXT],
		[
			'a list from an expression is the same as codes with commas, without what is empty',
			{ first: 400, second: 400 },
			{ options: { fallbacks: BY_EXPRESSION } },
			['first', 'second', 'third'],
			'third',
		],
		[
			'retries come before the next code',
			{ first: 429 },
			{ options: { retries: 1 } },
			['first', 'first', 'second'],
			'second',
		],
		[
			'an application is followed by applications, with the same model',
			{ first: 403 },
			{ ...APP, model: byId('chat-m2') },
			[FIRST, SECOND],
			'second',
		],
	])('%s', async (_name, statuses, parameters, expected, answered_by) => {
		rejected = statuses;
		const output = outputOf(await ask(node, parameters));
		expect(sent()).toStrictEqual(expected);
		expect(output).toMatchObject({ output: `This is ${answered_by}` });
		if (answered_by === 'first') expect(output).not.toHaveProperty('fallback');
		else expect(output).toMatchObject({ fallback: { answered_by } });
	});

	test('a stream that breaks after a visitor has read of it: no other model is asked', async () => {
		rejected = { first: -2 };
		const { error, chunks } = await ask(node, {}, false, true);
		expect(JSON.stringify(chunks)).toContain('Half');
		expect(error).toBeDefined();
		expect(sent()).toStrictEqual(['first']);
	});

	test('that it has answered hides no other hint of the same run, nor is it hidden', async () => {
		rejected = { first: 400 };
		isAssistant = true;
		expect((await ask(node, {})).hints).toStrictEqual([
			expect.stringContaining('second has answered instead of first'),
			expect.stringContaining('A super assistant has answered'),
		]);
	});

	test('each is asked once; the error is that of the last one', async () => {
		rejected = { first: 429, second: 403, third: 402 };
		const { error } = await ask(node, {});
		expect(sent()).toStrictEqual(['first', 'second', 'third']);
		expect(error!.message).toBe(FAILURE.notPaid);
	});

	test('application codes beside a key that ends with one are an error, before anything is sent', async () => {
		const { error } = await ask(node, { ...APP, appCode: '' }, true);
		expect(error).toMatchObject({
			message:
				'Fallbacks is entered, but the API Key of the credential ends with an app code as well',
			description: 'Leave Fallbacks empty, or use a credential whose key has none',
		});
		expect(server.requests).toStrictEqual([]);
	});
});

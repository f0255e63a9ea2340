/** The table of verdicts: each form of a reply, as a body and as a stream, for each of the four nodes that take replies. */
import { FORMS, type Form } from '../../nodes/client/chat/verdict';
import { askThrough, CHAT_NODE_NAMES, type ChatNodeName } from '../support/fourNodes';
import { eventsOf, serverForEach } from '../support/scriptedServer';

let answer: readonly [type: string, text: string];
const server = serverForEach((response) => {
	const [type, text] = answer;
	response.writeHead(200, { 'content-type': type }).end(text);
});

const SESSION = { session_id: 's-1' };
const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
const CUT_CALL = { ...CALL, function: { name: 'look', arguments: '{"ci' } };
const RUN = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c1', content: 'Rain' }] };
const PICTURE = { type: 'image_url', image_url: { url: 'https://cdn.example/1.png' } };

/** Each text of a message in two fragments, and what is a list in one. */
function toDeltas({ ...message }: Record<string, unknown>): object[] {
	return Object.entries(message).flatMap(([name, value]) => {
		if (name === 'tool_calls')
			return [{ tool_calls: (value as object[]).map((call, index) => ({ index, ...call })) }];
		if (typeof value !== 'string' || value.length < 2) return [{ [name]: value }];
		return [{ [name]: value.slice(0, 2) }, { [name]: value.slice(2) }];
	});
}

function toAnswer(message: Record<string, unknown>, finish_reason: unknown, stream: boolean) {
	const choice = { index: 0, finish_reason };
	if (!stream) {
		const body = { ...SESSION, choices: [{ ...choice, message }] };
		return ['application/json', JSON.stringify(body)] as const;
	}
	const chunks = toDeltas(message).map((delta) => ({ choices: [{ index: 0, delta }] }));
	const end = { ...SESSION, choices: [{ ...choice, delta: {} }] };
	return ['text/event-stream', eventsOf([...chunks, end, '[DONE]'])] as const;
}

const NOTHING = 'The model replied with neither an answer nor a tool call';
const CUT = 'The reply was cut off';
const WRITTEN = 'The model has written a tool call as text';
const IN_CALL = 'The reply was cut off in a tool call';
const REFUSED = 'The model refused to answer: I cannot';
const FAILED = 'The service reported an error during the reply';
const HAS_RUN = 'The service has run tools';
const WORK = 'Done without an answer: look';

/** What comes out: a text is the output; with an error its message. */
type Expected = { readonly output: unknown } | { readonly error: string };
type Row = readonly [
	form: Form,
	message: Record<string, unknown>,
	finish: unknown,
	expected: Partial<Record<ChatNodeName, Expected>> | Expected,
];

const MESSAGES: Readonly<Partial<Record<Form, string>>> = {
	nothing: NOTHING,
	refusal: REFUSED,
	'cut call': IN_CALL,
	'written call': WRITTEN,
	failure: FAILED,
};
const fails = (form: Form, message: object, finish: unknown): Row => [
	form,
	{ ...message },
	finish,
	{ error: MESSAGES[form]! },
];

/** The output of those that show a reply as it is. */
const own = (output: string) => ({ reply: { output }, assistant: { output }, agent: { output } });

const ROWS: readonly Row[] = [
	...[null, '', ' \n'].map((content) => fails('nothing', { content }, 'stop')),
	...['length', null].map((finish) => fails('nothing', { content: '' }, finish)),
	fails('nothing', { content: '', reasoning_content: 'I think so' }, 'stop'),
	fails('nothing', {}, 'stop'),
	fails('nothing', { content: '<think>I think so</think>' }, 'stop'),
	fails('nothing', { content: ' <think>I think' }, 'stop'),
	fails('nothing', { content: '<think>Like https://a.example/1.png?</think>' }, 'stop'),
	fails('nothing', { content: '\u200B\u2060' }, 'stop'),
	fails('nothing', { content: [{ type: 'reasoning', text: 'I think so' }] }, 'stop'),
	fails('refusal', { content: null, refusal: 'I cannot' }, 'stop'),
	fails('refusal', { content: 'Well.', refusal: 'I cannot' }, 'stop'),
	fails('refusal', { content: [{ type: 'refusal', refusal: 'I cannot' }] }, 'stop'),
	...[
		...['length', 'content_filter', 'odd'].map((finish) => [finish, CUT_CALL] as const),
		// Calls that are announced, and missing.
		...['tool_calls', 'function_call'].map((finish) => [finish] as const),
	].map(([finish, ...calls]): Row => [
		'cut call',
		{ content: 'Let me see', tool_calls: calls },
		finish,
		{
			...{ reply: { error: IN_CALL }, agent: { error: IN_CALL }, model: { error: IN_CALL } },
			// All calls of an assistant have run.
			assistant: { output: 'Let me see' },
		},
	]),
	...['<tool_call>{}</tool_call>', '<think>Hm</think>\n[TOOL_CALLS][{}]'].map((content): Row => [
		'written call',
		{ content },
		'stop',
		// The chain has declared no tools.
		{ ...own(content), agent: { error: WRITTEN } },
	]),
	...['error', 'network_error'].map((finish) => fails('failure', { content: 'Half' }, finish)),
	...['length', 'content_filter', 'MAX_TOKENS', 'model_length', 'odd', 'incomplete'].map(
		(finish): Row => [
			'cut',
			{ content: 'Half' },
			finish,
			{ ...own('Half'), model: { error: CUT } },
		],
	),
	['work', { content: '', ...RUN }, 'stop', { ...own(WORK), model: { error: HAS_RUN } }],
	['answer', { content: 'All' }, 'stop', { output: 'All' }],
	[
		'answer',
		{ content: '<think>Hm</think>All' },
		'stop',
		{ ...own('<think>Hm</think>All'), model: { output: 'All' } },
	],
	['answer', { content: 'All', refusal: '' }, 'stop', { output: 'All' }],
	['answer', { content: 'All' }, null, { output: 'All' }],
	...['COMPLETE', 'end_turn'].map((finish): Row => [
		'answer',
		{ content: 'All' },
		finish,
		{ output: 'All' },
	]),
	['answer', { content: [PICTURE] }, 'stop', { output: 'https://cdn.example/1.png' }],
	...[
		...[{ title: 'A', score: 5 }, [{ title: 'A', url: 'b' }], [1, null], ['a', 'b'], [['a']]],
		...[{ profile: 'A' }, { image_count: 2 }, { images: ['a'] }, { data: { a: 1 }, index: 0 }],
		...[{ summary: 'A', detail: 'B' }, { type: 'a' }, [{ type: 'a' }, { type: 'b', n: 1 }]],
		{ type: 'invoice', number: 7, link: 'https://shop.example/7' },
	].map((content): Row => ['answer', { content }, 'stop', { output: JSON.stringify(content) }]),
	...[
		...[['All'], [{ text: 'All', annotations: [] }], { type: 'a', text: 'All', id: '1' }],
		[{ type: 'reasoning', data: 'x' }, 'All'],
	].map((content): Row => ['answer', { content }, 'stop', { output: 'All' }]),
	...['tool_calls', 'tool_use', 'STOP', 'tool-call', 'odd'].map((finish): Row => [
		'calls',
		{ content: null, tool_calls: [CALL] },
		finish,
		{ reply: { output: null } },
	]),
];

/** The text that a node puts out; a chat model's in pieces. */
function textOf({ output, said, message }: Record<string, unknown>): unknown {
	const pieces = (said ?? (message as { content?: unknown } | undefined)?.content) as
		readonly { delta?: string; text?: string }[] | undefined;
	return pieces === undefined
		? output
		: pieces.map(({ delta = '', text = '' }) => delta + text).join('');
}

test('every form has a row', () => {
	const forms = new Set<string>(ROWS.map(([form]) => form));
	expect(Object.keys(FORMS).filter((form) => !forms.has(form))).toStrictEqual([]);
});

/** What a node puts out for a row; undefined where it has no say. */
const expectedOf = ([, , , all]: Row, node: ChatNodeName): Expected | undefined =>
	'output' in all || 'error' in all ? all : all[node];

/** Every row for one node; for the others, which share its verdict, the first one of each form, content and ending. */
function rowsOf(node: ChatNodeName): readonly Row[] {
	const own = ROWS.filter((row) => expectedOf(row, node) !== undefined);
	if (node === 'reply') return own;
	const kindOf = (row: Row) => {
		const { content } = row[1];
		const kind = Array.isArray(content)
			? 'parts'
			: String(content)
					.match(/<.?think>/g)
					?.join();
		return `${row[0]} ${kind} ${Object.keys(expectedOf(row, node)!).join()}`;
	};
	return own.filter(
		(row, index) => own.findIndex((each) => kindOf(each) === kindOf(row)) === index,
	);
}

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	describe.each([
		['as a body', false],
		['as a stream', true],
	])('%s', (_form, stream) => {
		test.each(rowsOf(node))('%s: %j, finish %s', async (...row) => {
			const [form, message, finish] = row;
			const expected = expectedOf(row, node)!;
			answer = toAnswer(message, finish, stream);
			const { json, error, hints } = await askThrough(node, stream, server.url);
			if ('error' in expected) {
				const { content, reasoning_content: thought } = message;
				expect(error).toContain(expected.error);
				expect(error).toContain(`the finish reason ${String(finish)}`);
				// Paid for, and not lost.
				expect(error).toContain('session_id: s-1');
				for (const kept of [content, thought])
					if (typeof kept === 'string' && kept.trim() !== '')
						expect(error).toContain(kept);
				return;
			}
			expect(error).toBe('');
			expect('finish_reason' in json).toBe(node !== 'model' && finish !== null);
			const text = String(textOf(json)).replace(/^\s*!\[image\]\((.*)\)$/, '$1');
			expect(text).toBe(String(expected.output));
			const isPart = form === 'cut' || form === 'work';
			expect(hints.join()).toContain(
				isPart && node !== 'model' ? (form === 'cut' ? CUT : 'has run') : '',
			);
		});
	});
});

test.each([true, false])(
	'an application may answer nothing on purpose, streamed: %s',
	async (stream) => {
		answer = toAnswer({ content: '' }, 'stop', stream);
		const app = { answeredBy: 'app', appCode: 'a', options: { emptyReply: 'output' } };
		const { json, error } = await askThrough('reply', stream, server.url, app);
		expect(error).toBe('');
		expect(json).toMatchObject({ output: '', finish_reason: 'stop' });
		const options = { ...app.options, repairAttempts: 2 };
		const format = { ...app, responseFormat: 'json', options };
		const inJson = await askThrough('reply', stream, server.url, format);
		expect(inJson).toMatchObject({ error: '', json });
		expect(inJson.json).not.toHaveProperty('json');
		expect(server.requests).toHaveLength(2);
	},
);

describe.each(['reply', 'assistant', 'agent'] as const)('%s', (node) => {
	test.each([
		['length', 'Ask for a shorter reply'],
		['content_filter', 'Rephrase the question'],
		['sensitive', 'Rephrase the question'],
		['odd', 'Ask again'],
	])('below a text that ended with %s stands what helps: %s', async (finish, advice) => {
		answer = toAnswer({ content: 'Half' }, finish, false);
		const { hints } = await askThrough(node, false, server.url);
		expect(hints.join()).toContain(`${CUT} (finish_reason tells why). ${advice}`);
	});

	test.each<[object, string]>([
		[{ content: null, refusal: 'I cannot' }, 'stop'],
		[{ content: '{"a' }, 'length'],
		[{ content: '{"a' }, 'content_filter'],
		[{ content: '{"a' }, 'error'],
		[{ content: 'Let me see', tool_calls: [CUT_CALL] }, 'odd'],
	])('pays for no repair of %j, finish %s', async (message, finish) => {
		answer = toAnswer({ ...message }, finish, false);
		const options = { repairAttempts: 2 };
		const format = { responseFormat: 'json', options };
		const { error } = await askThrough(node, false, server.url, format);
		expect(error).not.toBe('');
		expect(server.requests).toHaveLength(1);
	});
});

import { liveText } from '../../nodes/client/chat/liveText';
import { findMedia } from '../../nodes/client/chat/media';
import { toChatResult } from '../../nodes/client/chat/result';
import type { ChatCompletion } from '../../nodes/client/chat/types';

const reply = (
	content: string | null,
	more: object = {},
	message: object = {},
): ChatCompletion => ({
	choices: [
		{ index: 0, message: { role: 'assistant', content, ...message }, finish_reason: 'stop' },
	],
	...more,
});

test('contains every field of the service, omits absent ones (spec 2.4 to 2.6)', () => {
	const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
	const full = reply(
		'See ![it](https://cdn.example/pic?id=1)',
		{
			id: 'c-1',
			object: 'chat.completion',
			created: 1,
			model: 'chat-m1',
			usage,
			session_id: 's-1',
			knowledge_base: { search_hit: true, first_similarity: 0.8 },
			suggested_questions: ['Why?'],
			agent: { status: 'done', chain: [], need_show_plugin: false },
			trace_id: 't-1',
		},
		{ reasoning_content: 'hm' },
	);
	expect(toChatResult(full, { json: false })).toStrictEqual({
		content: 'See ![it](https://cdn.example/pic?id=1)',
		reasoning_content: 'hm',
		media: [{ kind: 'image', url: 'https://cdn.example/pic?id=1' }],
		finish_reason: 'stop',
		usage,
		model: 'chat-m1',
		session_id: 's-1',
		knowledge_base: { search_hit: true, first_similarity: 0.8 },
		suggested_questions: ['Why?'],
		agent: { status: 'done', chain: [], need_show_plugin: false },
		trace_id: 't-1',
	});
	expect(toChatResult(reply('Hi', { session_id: null }), { json: false })).toStrictEqual({
		content: 'Hi',
		finish_reason: 'stop',
	});
});

test('usage is read from the top level or from the choice (spec 2.4, 2.5)', () => {
	const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
	const inChoice = reply('Hi');
	inChoice.choices[0]!.usage = usage;
	expect(toChatResult(inChoice, { json: false })['usage']).toStrictEqual(usage);
	expect(toChatResult(reply('Hi', { usage }), { json: false })['usage']).toStrictEqual(usage);
});

describe('JSON mode', () => {
	test.each([
		['{"a": 1}', { a: 1 }],
		[' [1, 2] ', [1, 2]],
		['```json\n{"a": 1}\n```', { a: 1 }],
		['```\n{"a": 1}```', { a: 1 }],
		['null', null],
	])('%j is parsed', (content, value) => {
		expect(toChatResult(reply(content), { json: true })).toMatchObject({
			content,
			json: value,
		});
	});

	test('__proto__ keys of the reply are removed', () => {
		const result = toChatResult(reply('{"__proto__": {"polluted": true}}'), { json: true });
		expect(Object.getPrototypeOf(result['json'])).toBe(Object.prototype);
		expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
	});

	test('a reply with tool calls is not parsed', () => {
		const calls = reply(null, {}, { tool_calls: [{ id: 'a' }] });
		expect(toChatResult(calls, { json: true })).not.toHaveProperty('json');
	});

	test.each([
		['Sure! {"a": 1}', 'stop', 'Ask for JSON in the prompt, and describe the fields'],
		['{"a": ', 'length', 'The reply was cut off at its maximum length: ask for a shorter one'],
	])('%j is an error with the text in its details', (content, finishReason, hint) => {
		const completion = reply(content);
		completion.choices[0]!.finish_reason = finishReason;
		expect(() => toChatResult(completion, { json: true })).toThrow(
			expect.objectContaining({
				message: 'The reply is not valid JSON',
				hint,
				details: expect.objectContaining({ serviceMessage: content.trim() }) as object,
			}) as Error,
		);
	});
});

describe('media in a reply', () => {
	test.each([
		['no links at all', []],
		['a page: https://example.com/about', []],
		['https://cdn.example/a.png.', [['image', 'https://cdn.example/a.png']]],
		['(https://cdn.example/a.JPG?x=1&y=2)', [['image', 'https://cdn.example/a.JPG?x=1&y=2']]],
		['[clip](https://cdn.example/a.mp4), done', [['video', 'https://cdn.example/a.mp4']]],
		['**https://cdn.example/a.mp3**', [['audio', 'https://cdn.example/a.mp3']]],
		['<https://cdn.example/a.pdf>', [['file', 'https://cdn.example/a.pdf']]],
		['![pic](https://cdn.example/render/77)', [['image', 'https://cdn.example/render/77']]],
		['![clip](https://cdn.example/a.mp4)', [['video', 'https://cdn.example/a.mp4']]],
		[
			'https://cdn.example/b.png https://cdn.example/a.png https://cdn.example/b.png',
			[
				['image', 'https://cdn.example/b.png'],
				['image', 'https://cdn.example/a.png'],
			],
		],
	])('%s', (text, expected) => {
		expect(findMedia(text).map(({ kind, url }) => [kind, url])).toStrictEqual(expected);
	});
});

describe('live text', () => {
	const deltas = [
		{ reasoning: 'Let me ', content: '' },
		{ reasoning: 'think.', content: '' },
		{ reasoning: '', content: 'The ' },
		{ reasoning: '', content: 'sea.' },
	];

	test('is the answer only', () => {
		const toText = liveText({ withReasoning: false });
		expect(deltas.map(toText)).toStrictEqual(['', '', 'The ', 'sea.']);
	});

	test('optionally starts with the reasoning and an empty line', () => {
		const toText = liveText({ withReasoning: true });
		expect(deltas.map(toText)).toStrictEqual(['Let me ', 'think.', '\n\nThe ', 'sea.']);
	});
});

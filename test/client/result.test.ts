import { findMedia, toChatResult } from '../../nodes/client/chat/result';
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

test('contains every field of the service by its visibility, omits absent ones (spec 2.4 to 2.6)', () => {
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
	const shown = {
		output: 'See ![it](https://cdn.example/pic?id=1)',
		media: [{ kind: 'image', url: 'https://cdn.example/pic?id=1' }],
		suggested_questions: ['Why?'],
		finish_reason: 'stop',
		usage,
		model: 'chat-m1',
		knowledge_base: { search_hit: true, first_similarity: 0.8 },
		trace_id: 't-1',
	};
	expect(toChatResult(full)).toStrictEqual(shown);
	expect(toChatResult(full, { details: true })).toStrictEqual({
		...shown,
		reasoning_content: 'hm',
		session_id: 's-1',
		agent: { status: 'done', chain: [], need_show_plugin: false },
		id: 'c-1',
		object: 'chat.completion',
		created: 1,
	});
	const empty = reply('Hi', { session_id: null });
	expect(toChatResult(empty, { details: true })).toStrictEqual({
		output: 'Hi',
		finish_reason: 'stop',
	});
});

test('usage is read from the top level or from the choice (spec 2.4, 2.5)', () => {
	const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
	const inChoice = reply('Hi');
	inChoice.choices[0]!.usage = usage;
	expect(toChatResult(inChoice)['usage']).toStrictEqual(usage);
	expect(toChatResult(reply('Hi', { usage }))['usage']).toStrictEqual(usage);
	expect(toChatResult(reply('Hi', { usage: 'many' }))).not.toHaveProperty('usage');
});

test.each([
	['texts', { prompt_tokens: '5', completion_tokens: '6', total_tokens: '11' }, [5, 6, 11]],
	['without a sum', { prompt_tokens: 5, completion_tokens: 6 }, [5, 6, 11]],
	['one count only', { prompt_tokens: 5, completion_tokens: null }, [5, 0, 5]],
	['no counts', {}, undefined],
	['a text', 'none', undefined],
])('counts of tokens are numbers, where a server sends %s', (_case, usage, counts) => {
	const names = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
	const read = counts && Object.fromEntries(names.map((name, at) => [name, counts[at]]));
	expect(toChatResult(reply('Hi', { usage }))['usage']).toStrictEqual(read);
});

test('the value of a JSON reply is beside its text', () => {
	for (const json of [{ a: 1 }, null])
		expect(toChatResult(reply('x'), { json })).toMatchObject({ output: 'x', json });
	expect(toChatResult(reply('x'))).not.toHaveProperty('json');
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
		['![pic](https://cdn.example/a_(1).png)', [['image', 'https://cdn.example/a_(1).png']]],
		['![pic](https://cdn.example/r?(7))', [['image', 'https://cdn.example/r?(7)']]],
		['(see https://cdn.example/a(1).mp4).', [['video', 'https://cdn.example/a(1).mp4']]],
		['![clip](https://cdn.example/a.mp4)', [['video', 'https://cdn.example/a.mp4']]],
		['![pic](https://cdn.example/7?sig=a_)', [['image', 'https://cdn.example/7?sig=a_']]],
		["![a](https://cdn.example/7?f=''a&s=1)", [['image', "https://cdn.example/7?f=''a&s=1"]]],
		['[a](https://cdn.example/a.pdf?s=a_)', [['file', 'https://cdn.example/a.pdf?s=a_']]],
		['_https://cdn.example/a.mp4_', [['video', 'https://cdn.example/a.mp4']]],
		['![a](https://cdn.example/a.png "A _b_")', [['image', 'https://cdn.example/a.png']]],
		['![a](data:image/png;base64,AAAA)', [['image', 'data:image/png;base64,AAAA']]],
		['<think>From https://cdn.example/a.png?</think>No', []],
		[
			'https://cdn.example/b.png https://cdn.example/a.png https://cdn.example/b.png',
			[
				['image', 'https://cdn.example/b.png'],
				['image', 'https://cdn.example/a.png'],
			],
		],
	])('%s', (text, expected) => {
		expect(findMedia(reply(text)).map(({ kind, url }) => [kind, url])).toStrictEqual(expected);
	});
});

test('a reply of a thought and a file has the link as its output; with details the thought', () => {
	const url = 'https://cdn.example/a.png';
	const parts = [{ type: 'image_url', image_url: { url } }];
	const drawn = reply('<think>Hm</think>', {}, { parts });
	expect(toChatResult(drawn)['output']).toBe(url);
	expect(toChatResult(drawn, { details: true })['output']).toBe('<think>Hm</think>');
});

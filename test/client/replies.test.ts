import { completeChat } from '../../nodes/client/chat/completeChat';
import { readMessage } from '../../nodes/client/chat/replyMessage';
import { checkTools } from '../../nodes/client/chat/requestFields';
import { findMedia, toChatResult, usageOf } from '../../nodes/client/chat/result';
import {
	readFunction,
	readToolCall,
	readToolCalls,
	splitCalls,
	toolCall,
} from '../../nodes/client/chat/toolCalls';
import type { ReplyMessage } from '../../nodes/client/chat/types';
import { formOf } from '../../nodes/client/chat/verdict';
import type { JsonObject } from '../../nodes/client/json';
import { answeringPort } from '../support/answeringPort';
import { replyOf } from '../support/chatPieces';
import { RECORDED, type Recorded } from '../support/recordedReplies';
import { thorough } from '../support/thorough';

/** As many values as the bounds of a body allow. */
const MANY = 200_000;
const reply = (content: string, more: object = {}, message: Partial<ReplyMessage> = {}) => ({
	...replyOf(content, message),
	...more,
});

/** The replies of test/fixtures/replies, streamed and not, with what is expected beside each. */
describe.each(RECORDED)('$file', (recorded) => {
	const { content, reasoning, calls = [], form, shown, live, ...more } = recorded.expected;

	async function read({ text, type }: Recorded, bytes: number) {
		const all = Buffer.from(text);
		let seen = '';
		const starts = Array.from({ length: Math.ceil(all.length / bytes) }, (_, at) => at * bytes);
		const pieces = starts.map((at) => all.subarray(at, at + bytes));
		const completion = await completeChat(
			answeringPort(pieces, type),
			{ messages: [{ role: 'user', content: 'Hi' }] },
			{ stream: true, idleTimeoutMs: 1_000, onDelta: (delta) => (seen += delta.content) },
		);
		return { completion, seen };
	}

	test.each([7, 100_000])('is read in pieces of %i bytes', async (bytes) => {
		const { completion, seen } = await read(recorded, bytes);
		const { message, finish_reason: finish } = completion.choices[0]!;
		expect(message.content ?? '').toBe(content ?? '');
		expect(message.reasoning_content).toBe(reasoning);
		expect(formOf(completion, 'agent')).toBe(form);
		if (form === 'answer' || form === 'cut')
			expect(toChatResult(completion)['output']).toBe(shown ?? content);
		if (form === 'calls')
			expect(
				splitCalls(message).asked.map(({ function: { name, arguments: args } }) => ({
					name,
					arguments: JSON.parse(args) as unknown,
				})),
			).toStrictEqual(calls);
		// The choice of an earlier event may have been shown.
		if (!recorded.file.startsWith('choice')) expect(seen).toBe(live ?? shown ?? content ?? '');
		if ('finish' in more) expect(finish).toBe(more.finish);
		if ('usage' in more) expect(usageOf(completion) ?? null).toStrictEqual(more.usage);
	});
});

describe('content in parts', () => {
	const PICTURE = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
	type Row = [string, unknown, object, object[], object?];
	test.each<Row>([
		['one text part alone', { type: 'text', text: 'Hi' }, { content: 'Hi' }, []],
		['one picture alone', PICTURE, { content: '' }, [PICTURE]],
		['text and refusal', [{ text: 'A' }, { refusal: 'B' }], { content: 'A', refusal: 'B' }, []],
		['a refusal alone', [{ refusal: 'I cannot.' }], { content: '', refusal: 'I cannot.' }, []],
		[
			'a call in the old field beside an empty list',
			'Hi',
			{ content: 'Hi', tool_calls: [{ function: { name: 'f' } }] },
			[],
			{ tool_calls: [], function_call: { name: 'f' } },
		],
		['null among parts', [{ text: 'a' }, null, 'b'], { content: 'ab' }, []],
		...[{ text: 'Hm' }, { reasoning: 'Hm' }, { summary: [], content: 'Hm' }].map(
			(words): Row => {
				const more = { reasoning_details: [{ type: 'reasoning', ...words }] };
				const said = { content: 'Hi', reasoning_content: 'Hm', ...more };
				return [`a thought in ${JSON.stringify(words)}`, 'Hi', said, [], more];
			},
		),
	])('%s', (_name, content, said, parts, more: object = {}) => {
		expect(readMessage({ content, ...more })).toStrictEqual({ said, parts });
	});
});

describe('the output of a reply', () => {
	const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

	test('contains every field of the service by its visibility, omits absent ones (spec 2.4 to 2.6)', () => {
		const text = 'See ![it](https://cdn.example/pic?id=1)';
		const open = {
			...{ usage, model: 'chat-m1', trace_id: 't-1', suggested_questions: ['Why?'] },
			knowledge_base: { search_hit: true, first_similarity: 0.8 },
		};
		const detailed = {
			...{ id: 'c-1', object: 'chat.completion', created: 1, session_id: 's-1' },
			agent: { status: 'done', chain: [], need_show_plugin: false },
		};
		const thought = { reasoning_content: 'hm' };
		const shown = {
			...{ output: text, finish_reason: 'stop', ...open },
			media: [{ kind: 'image', url: 'https://cdn.example/pic?id=1' }],
		};
		const full = reply(text, { ...open, ...detailed }, thought);
		expect(toChatResult(full)).toStrictEqual(shown);
		const all = { ...shown, ...detailed, ...thought };
		expect(toChatResult(full, { details: true })).toStrictEqual(all);
		const empty = reply('Hi', { session_id: null });
		expect(toChatResult(empty, { details: true })).toStrictEqual({
			output: 'Hi',
			finish_reason: 'stop',
		});
	});

	test('usage is read from the top level or from the choice (spec 2.4, 2.5)', () => {
		const inChoice = reply('Hi');
		inChoice.choices[0]!.usage = usage;
		expect(toChatResult(inChoice)['usage']).toStrictEqual(usage);
		expect(toChatResult(reply('Hi', { usage }))['usage']).toStrictEqual(usage);
	});

	test.each([
		['texts', { prompt_tokens: '5', completion_tokens: '6', total_tokens: '11' }, [5, 6, 11]],
		['without a sum', { prompt_tokens: 5, completion_tokens: 6 }, [5, 6, 11]],
		['one count only', { prompt_tokens: 5, completion_tokens: null }, [5, 0, 5]],
		['no counts', {}, undefined],
		['a text', 'none', undefined],
	])('counts of tokens are numbers, where a server sends %s', (_case, sent, counts) => {
		const names = Object.keys(usage);
		const read = counts && Object.fromEntries(names.map((name, at) => [name, counts[at]]));
		expect(toChatResult(reply('Hi', { usage: sent }))['usage']).toStrictEqual(read);
	});

	test('the value of a JSON reply is beside its text', () => {
		for (const json of [{ a: 1 }, null])
			expect(toChatResult(reply('x'), { json })).toMatchObject({ output: 'x', json });
		expect(toChatResult(reply('x'))).not.toHaveProperty('json');
	});

	test('of a thought and a file is the link; with details the thought', () => {
		const url = 'https://cdn.example/a.png';
		const parts = [{ type: 'image_url', image_url: { url } }];
		const drawn = reply('<think>Hm</think>', {}, { parts });
		expect(toChatResult(drawn)['output']).toBe(url);
		expect(toChatResult(drawn, { details: true })['output']).toBe('<think>Hm</think>');
	});
});

describe('media in a reply', () => {
	const at = (path: string) => `https://cdn.example/${path}`;
	/** A text in which `@` is the host of the files, and each file in it: its kind and its path. */
	test.each<[string, ...string[]]>([
		['no links at all'],
		['a page: @about'],
		['@a.png.', 'image a.png'],
		['(@a.JPG?x=1&y=2)', 'image a.JPG?x=1&y=2'],
		['[clip](@a.mp4), done', 'video a.mp4'],
		['**@a.mp3**', 'audio a.mp3'],
		['<@a.pdf>', 'file a.pdf'],
		['![pic](@render/77)', 'image render/77'],
		['![pic]( @render/77)', 'image render/77'],
		['[pic](@render/77)'],
		['![pic] @render/77'],
		['![pic](x) [b](@render/77)'],
		['![see @1](@2)', 'image 2'],
		['![![a](@1)', 'image 1'],
		['![pic](@a_(1).png)', 'image a_(1).png'],
		['![pic](@r?(7))', 'image r?(7)'],
		['(see @a(1).mp4).', 'video a(1).mp4'],
		['![clip](@a.mp4)', 'video a.mp4'],
		['![pic](@7?sig=a_)', 'image 7?sig=a_'],
		["![a](@7?f=''a&s=1)", "image 7?f=''a&s=1"],
		['[a](@a.pdf?s=a_)', 'file a.pdf?s=a_'],
		['_@a.mp4_', 'video a.mp4'],
		['![a](@a.png "A _b_")', 'image a.png'],
		['<think>From @a.png?</think>No'],
		['@b.png @a.png @b.png', 'image b.png', 'image a.png'],
		['@1.mp4。@2.mp4，（@3.mp4）、「@4.mp4」', ...[1, 2, 3, 4].map((n) => `video ${n}.mp4`)],
	])('%s', (text, ...files) => {
		const found = findMedia(reply(text.replaceAll('@', at(''))));
		expect(found.map(({ kind, url }) => `${kind} ${url}`)).toStrictEqual(
			files.map((file) => file.replace(' ', ` ${at('')}`)),
		);
	});

	test('a file in its URL is an image', () => {
		const url = 'data:image/png;base64,AAAA';
		expect(findMedia(reply(`![a](${url})`))).toMatchObject([{ kind: 'image', url }]);
	});

	test('the first 1,000 different links of a reply count', () => {
		const urls = Array.from({ length: thorough(MANY / 4, MANY) }, (_, index) =>
			at(`${index}.png`),
		);
		const found = findMedia(reply([urls[0], ...urls].join(' ')));
		expect(found.map(({ url }) => url)).toStrictEqual(urls.slice(0, 1_000));
	});
});

describe('tool calls of a model', () => {
	test('have a name that is cut above the length of any declared one, and no ID that is too long', () => {
		const { name } = readFunction({ name: 'f'.repeat(MANY), arguments: '{}' });
		expect(name).toHaveLength(100);
		const call = toolCall('c'.repeat(MANY), name, '');
		expect(readToolCalls({ content: null, tool_calls: [call] })[0]!.call.id).toBe('call_1');
	});

	const city = { type: 'string' };
	const unit = { type: ['string', 'null'] };
	const properties = { city, days: { type: 'integer' }, unit };
	const object = { type: 'object', properties };
	const constructor = { type: 'object', required: ['constructor'] };
	test.each<[string, JsonObject, string, object | undefined]>([
		[
			'null of an argument that is optional is left out, twice',
			{ ...object, required: ['city'] },
			'{"city":"Rome","days":null,"unit":null}',
			{ city: 'Rome' },
		],
		[
			'null of one that may be null stays',
			{ ...object, required: ['city'] },
			'{"city":"Rome","unit":null}',
			{ city: 'Rome', unit: null },
		],
		[
			'null of one that is required is a problem',
			{ ...object, required: ['city'] },
			'{"city":null}',
			undefined,
		],
		[
			'one that is named like a property of all objects',
			constructor,
			'{"constructor":"a"}',
			{ constructor: 'a' },
		],
		['such a one that is missing', constructor, '{}', undefined],
		[
			'an integer that a number rounds, as JavaScript reads it',
			{ type: 'object' },
			'{"id":1094820394820394821}',
			{ id: Number('1094820394820394821') },
		],
	])('%s', (_name, parameters, args, expected) => {
		const tools = [{ type: 'function', function: { name: 'f', parameters } }] as const;
		const read = readToolCall(toolCall('1', 'f', args), tools);
		if (expected === undefined) expect(read).toHaveProperty('problem');
		else expect(read).toStrictEqual({ arguments: expected });
	});

	test.each([
		['get weather!', 'Use letters, digits, _ and -, at most 64 characters'],
		['__init__', undefined],
		['f'.repeat(64), undefined],
		['f'.repeat(65), 'Use letters, digits, _ and -, at most 64 characters'],
		['!!!', 'Use letters, digits, _ and -, at most 64 characters'],
	])('the hint for the tool name %j is %j', (name, hint) => {
		const check = () => checkTools([{ type: 'function', function: { name } }], 'Tools');
		if (hint === undefined) expect(check()).toHaveLength(1);
		else expect(check).toThrow(expect.objectContaining({ hint }) as Error);
	});
});

import { checkMessages, checkOrder, userMessage } from '../../nodes/client/chat/messages';
import type { ChatMessage } from '../../nodes/client/chat/types';
import type { JsonValue } from '../../nodes/client/json';

const user = { role: 'user', content: 'Hi' } as const;
const call = (id: string) => ({
	id,
	type: 'function' as const,
	function: { name: 'weather', arguments: '{}' },
});
const asks = (...ids: string[]): ChatMessage => ({
	role: 'assistant',
	content: null,
	tool_calls: ids.map(call),
});
const result = (id: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content: 'ok' });

test('the images of a user message come after its text', () => {
	const [first, second] = ['https://example.com/a.png', 'https://example.com/b.png'];
	const image = (url: string) => ({ type: 'image_url', image_url: { url } });
	expect(userMessage('What is this?', [first, second])).toStrictEqual({
		role: 'user',
		content: [{ type: 'text', text: 'What is this?' }, image(first), image(second)],
	});
});

describe('messages (spec 2.2)', () => {
	const check = (value: unknown, allowPrivate = false) =>
		checkMessages(value as JsonValue, 'Messages', { allowPrivate });

	test.each([
		[[user]],
		[[{ role: 'system', content: 'x' }, user]],
		[[{ role: 'user', content: [{ type: 'text', text: 'x' }] }]],
		[
			[
				{
					role: 'user',
					content: [{ type: 'image_url', image_url: { url: 'https://a.example/x' } }],
				},
			],
		],
		[[{ role: 'assistant', content: null, tool_calls: [call('1')], reasoning_content: 'r' }]],
		[[{ role: 'assistant', content: '', tool_calls: [call('1')] }]],
		[[{ role: 'assistant', content: ' \n', tool_calls: [call('1')] }]],
		[[{ role: 'user', content: 'Hi', tool_calls: null }]],
		[[result('1')]],
	])('%j is returned unchanged', (messages) => {
		expect(check(messages)).toStrictEqual(messages);
	});

	test.each([
		['Hello', 'Messages is not a list'],
		[{ role: 'user' }, 'Messages is not a list'],
		[['Hello'], 'Messages: entry 1 has an unknown role'],
		[[user, { role: 'bot', content: 'x' }], 'Messages: entry 2 has an unknown role'],
		[[{ role: 'user', content: '' }], 'Messages: entry 1 has no content'],
		[[{ role: 'user', content: ' ' }], 'Messages: entry 1 has no content'],
		[[{ role: 'user', content: [] }], 'Messages: entry 1 has no content'],
		[[{ role: 'user', content: null }], 'Messages: entry 1 has no content'],
		[[{ role: 'assistant', content: null }], 'Messages: entry 1 has no content'],
		[
			[{ role: 'assistant', content: null, tool_calls: [] }],
			'Messages: entry 1 has no content',
		],
		[
			[{ role: 'assistant', content: 'Hi', tool_calls: 'x' }],
			'Messages: entry 1 has tool_calls',
		],
		[
			[{ role: 'assistant', content: 'Hi', tool_calls: [1] }],
			'Messages: entry 1 has tool_calls',
		],
		[
			[{ role: 'user', content: [{ type: 'text', text: '' }] }],
			'Messages: entry 1 has no content',
		],
		[[{ role: 'user', content: [{ type: 'audio' }] }], 'Messages: entry 1 has a part'],
		[
			[
				{
					role: 'user',
					content: [
						{ type: 'image_url', image_url: { url: 'data:image/png;base64,xx' } },
					],
				},
			],
			'Messages: entry 1, image is a data: URL',
		],
		[
			[
				{
					role: 'user',
					content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } }],
				},
			],
			'Messages: entry 1, image points to a private network',
		],
	])('%j is rejected: %s', (messages, message) => {
		expect(() => check(messages)).toThrow(message);
	});

	test('an image on a private network is valid if the service is on a private network', () => {
		const messages = [
			{
				role: 'user',
				content: [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } }],
			},
		];
		expect(check(messages, true)).toStrictEqual(messages);
	});
});

describe('order of messages (spec 2.2, 4)', () => {
	test.each([
		[[user]],
		[[{ role: 'system' as const, content: 'x' }, user]],
		[[user, asks('a', 'b'), result('b'), result('a')]],
		[[user, asks('a'), result('a'), { role: 'assistant' as const, content: 'x' }, user]],
	])('%j is valid', (messages) => {
		expect(() => {
			checkOrder(messages, 'Messages');
		}).not.toThrow();
	});

	test.each([
		[[], 'Messages is empty'],
		[
			[{ role: 'system' as const, content: 'x' }],
			'Messages: the last entry has the role system',
		],
		[
			[user, { role: 'assistant' as const, content: 'x' }],
			'Messages: the last entry has the role assistant',
		],
		[[user, result('a')], 'Messages: entry 2 is a tool result without a matching tool call'],
		[
			[user, asks('a'), result('b')],
			'Messages: entry 3 is a tool result without a matching tool call',
		],
		[
			[user, asks('a'), result('a'), result('a')],
			'Messages: entry 4 is a tool result without a matching',
		],
		[[user, asks('a'), user], 'Messages: entry 3 comes before the result of the tool call a'],
		[[user, asks('a', 'b'), result('a')], 'Messages has no result for the tool call b'],
		[[user, asks('a')], 'Messages has no result for the tool call a'],
	])('%j is rejected: %s', (messages, message) => {
		expect(() => {
			checkOrder(messages, 'Messages');
		}).toThrow(message);
	});
});

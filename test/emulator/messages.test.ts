import { errorBody, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const call = (id: string) => ({
	id,
	type: 'function',
	function: { name: 'look', arguments: '{}' },
});
const assistantCalling = (...ids: string[]) => ({
	role: 'assistant',
	content: null,
	tool_calls: ids.map(call),
});
const toolMessage = (id: string, content: unknown = 'done') => ({
	role: 'tool',
	tool_call_id: id,
	content,
});
const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const base64 = 'must be a public URL; base64 is not supported';

describe('2.2 message', () => {
	it.each<[string, readonly Json[], string]>([
		[
			'role: unknown',
			[{ role: 'developer', content: 'Hi' }],
			'messages[0].role must be one of system, user, assistant, tool',
		],
		['content: blank', [user(' \n')], 'messages[0].content must not be empty'],
		[
			'content: null in an assistant message without calls',
			[user('Hi'), { role: 'assistant', content: null }],
			'messages[1].content must not be empty',
		],
		[
			'part: unknown',
			[user([{ type: 'video_url', video_url: {} }])],
			'messages[0].content[0].type is missing or unknown',
		],
		[
			'image: data URL',
			[user([image('data:image/png;base64,AAAA')])],
			`messages[0].content[0].image_url.url ${base64}`,
		],
		[
			'image: unreachable',
			[user([image('https://pictures.invalid/a.png')])],
			'messages[0].content[0].image_url.url cannot be reached: pictures.invalid',
		],
		[
			'tool_calls: on a user message',
			[{ ...user('Hi'), tool_calls: [call('a')] }],
			'messages[0].tool_calls is allowed in assistant messages only',
		],
		[
			'tool_call_id: unknown',
			[user('Hi'), assistantCalling('a'), toolMessage('b')],
			'messages[2].tool_call_id does not match an open tool call of the preceding assistant message',
		],
		[
			'tool_call_id: answered twice',
			[user('Hi'), assistantCalling('a'), toolMessage('a'), toolMessage('a')],
			'messages[3].tool_call_id does not match an open tool call of the preceding assistant message',
		],
		[
			'tool call: no tool message',
			[user('Hi'), assistantCalling('a', 'b'), toolMessage('a')],
			'messages: there is no tool message for the tool call b',
		],
	])('2.2 rejects %s', async (_name, messages, message) => {
		const { status, body } = await service.chat({ messages });
		expect([status, body]).toEqual([400, errorBody(message)]);
	});

	it('2.2 accepts text parts, an empty tool result, and null content with tool calls', async () => {
		for (const messages of [
			[user([{ type: 'text', text: 'Hello' }])],
			[user('Hi'), assistantCalling('a', 'b'), toolMessage('b', ''), toolMessage('a')],
			[user('Hi'), { ...assistantCalling('a'), content: '' }, toolMessage('a'), user('And?')],
			[
				{ role: 'system', content: 'Be brief.' },
				user('Hi'),
				{ role: 'assistant', content: 'Yes?' },
			],
		]) {
			expect((await service.chat({ messages })).status).toBe(200);
		}
	});

	const fox = [
		{ type: 'text', text: 'What is this?' },
		image('https://example.com/red-fox_2.jpg'),
	];

	it('2.2 without the plugin the model replies that it cannot see the image', async () => {
		expect((await service.say(fox)).content).toMatch(/^I cannot see the image red fox 2\./);
	});

	it('2.2 image editing returns the URL of the generated image', async () => {
		const edit = [
			{ type: 'text', text: 'Make the fox blue' },
			image('https://example.com/fox.jpg'),
		];
		const { content } = await service.say(edit, { app_code: 'demo-app' });
		const url = /\((http[^)]+\.jpg)\)/.exec(content!)![1]!;

		expect(url.startsWith(`${service.url}/cdn/images/`)).toBe(true);
		expect((await fetch(url)).headers.get('content-type')).toBe('image/jpeg');
	});
});

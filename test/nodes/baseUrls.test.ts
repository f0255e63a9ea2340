/** Where the chat nodes send their requests, by the Base URL of the credential. */
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { json, serverForEach } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const server = serverForEach((response) => {
	json(response, 200, {
		choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }],
	});
});

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	test.each([
		['', '/v1/chat/completions'],
		['/v1/', '/v1/chat/completions'],
		['/api/v3', '/api/v3/chat/completions'],
		['/openai/v1//', '/openai/v1/chat/completions'],
		['/agents', '/agents/v1/chat/completions'],
		['/api/v3/chat/completions', '/api/v3/chat/completions'],
		// Shortened, it would become another one.
		['/inference/chat/completions', '/inference/chat/completions'],
	])('with the path %j asks %s', async (path, asked) => {
		const { error } = await askThrough(node, false, server.url + path);
		expect(error).toBe('');
		expect(server.requests.map(({ path: sent }) => sent)).toStrictEqual([asked]);
	});
});

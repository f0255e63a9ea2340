import { normalizeBaseUrl } from '../../nodes/client/http/publicUrl';

test.each([
	['https://api.example.com'],
	['https://api.example.com/'],
	['https://api.example.com//'],
	['https://api.example.com/v1'],
	['https://api.example.com/v1/'],
	['  https://API.example.com/v1  '],
	['https://api.example.com/v1/chat/completions'],
	['https://api.example.com/v1/videos/tasks/'],
])('%j is normalized', (text) => {
	expect(normalizeBaseUrl(text)).toBe('https://api.example.com/v1');
});

test.each([
	['http://127.0.0.1:8787/agents/v1/', 'http://127.0.0.1:8787/agents/v1'],
	['http://127.0.0.1:8787/agents', 'http://127.0.0.1:8787/agents/v1'],
	['https://ark.example/api/v3', 'https://ark.example/api/v3'],
	['https://ark.example/api/v3/chat/completions', 'https://ark.example/api/v3'],
	// A whole address is used as it is.
	['https://a.example/inference/chat/completions', 'https://a.example/inference'],
	['https://a.example/chat/completions/', 'https://a.example'],
	['https://a.example/videos/generations', 'https://a.example'],
	['https://a.example/openai/v1//', 'https://a.example/openai/v1'],
	['https://a.example/v1beta/openai/', 'https://a.example/v1beta/openai'],
	['https://a.example/v2/agents/v1', 'https://a.example/v2/agents/v1'],
	['https://a.example/vip', 'https://a.example/vip/v1'],
])('the path and the version of %j are kept', (text, normalized) => {
	expect(normalizeBaseUrl(text)).toBe(normalized);
});

test.each([
	[undefined, 'Base URL is empty'],
	['   ', 'Base URL is empty'],
	['api.example.com', 'Base URL is not a valid URL'],
	['ftp://api.example.com', 'Base URL is not a valid URL'],
	['http://', 'Base URL is not a valid URL'],
	[`https://api.example.com/${'a'.repeat(2_000)}`, 'Base URL is not a valid URL'],
	['https://me:pw@api.example.com', 'Base URL contains a user name, a query or a fragment'],
	['https://me@api.example.com', 'Base URL contains a user name, a query or a fragment'],
	['https://api.example.com/?x=1', 'Base URL contains a user name, a query or a fragment'],
	['https://api.example.com/#x', 'Base URL contains a user name, a query or a fragment'],
])('%j is rejected: %s', (text, message) => {
	expect(() => normalizeBaseUrl(text)).toThrow(message);
});

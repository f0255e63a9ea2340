import { normalizeBaseUrl } from '../../nodes/client/http/publicUrl';

test.each([
	['https://api.example.com'],
	['https://api.example.com/'],
	['https://api.example.com//'],
	['https://api.example.com/v1'],
	['https://api.example.com/v1/'],
	['  https://API.example.com/v1  '],
])('%j is normalized', (text) => {
	expect(normalizeBaseUrl(text)).toBe('https://api.example.com');
});

test('a path before /v1 and a port are kept', () => {
	expect(normalizeBaseUrl('http://127.0.0.1:8787/agents/v1/')).toBe(
		'http://127.0.0.1:8787/agents',
	);
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

import { checkPublicUrl, isPrivateUrl } from '../../nodes/client/http/publicUrl';

test.each([
	'http://localhost/a',
	'http://localhost../a',
	'http://localhost..example.com/a',
	'http://127.0.0.1../a',
	'http://LOCALHOST./a',
	'http://files.localhost/a',
	'http://127.0.0.1/a',
	'http://127.1/a',
	'http://2130706433/a',
	'http://0x7f000001/a',
	'http://10.1.2.3/a',
	'http://172.16.0.1/a',
	'http://192.168.1.1:8080/a',
	'http://169.254.169.254/latest/meta-data',
	'http://100.64.0.1/a',
	'http://0.0.0.0/a',
	'http://[::1]/a',
	'http://[::ffff:10.0.0.1]/a',
	'http://[fd00::1]/a',
	'http://[fe80::1]/a',
	'http://intranet/a',
	'http://nas.local/a',
	'http://db.internal/a',
	'http://x.invalid/a',
	'http://[::127.0.0.1]/a',
	'http://[64:ff9b::7f00:1]/a',
	'http://[2002:7f00:1::]/a',
	'http://localhost.localdomain/a',
	'http://vault.default.svc/a',
	'http://wiki.corp/a',
	'http://nas.home.arpa/a',
])('%s is private', (url) => {
	expect(isPrivateUrl(url)).toBe(true);
});

test.each([
	'https://example.com/a',
	'https://8.8.8.8/a',
	'http://172.32.0.1/a',
	'https://[2606:4700::1111]/a',
	'https://[::ffff:8.8.8.8]/a',
	'https://localhost.example.com/a',
	'https://mylocal.net/a',
	'https://mycorp.net/a',
	'https://[64:ff9b::808:808]/a',
])('%s is public', (url) => {
	expect(isPrivateUrl(url)).toBe(false);
});

const field = 'Images: entry 1';

test('white space around a URL is trimmed', () => {
	expect(checkPublicUrl(' https://example.com/a b.png ', { field, allowPrivate: false })).toBe(
		'https://example.com/a b.png',
	);
});

test.each([
	['data:image/png;base64,AAAA', 'Images: entry 1 is a data: URL'],
	['ftp://example.com/a.png', 'Images: entry 1 is not a valid URL'],
	['file:///etc/passwd', 'Images: entry 1 is not a valid URL'],
	['javascript:alert(1)', 'Images: entry 1 is not a valid URL'],
	['view-source:https://example.com/a.png', 'Images: entry 1 is not a valid URL'],
	['example.com/a.png', 'Images: entry 1 is not a valid URL'],
	['', 'Images: entry 1 has no URL'],
	['https://example.com\\@10.0.0.1/a.png', 'Images: entry 1 is not a valid URL'],
	['https:\\\\example.com/a.png', 'Images: entry 1 is not a valid URL'],
	['https:example.com/a.png', 'Images: entry 1 is not a valid URL'],
	['http://192.168.1.1/a.png', 'Images: entry 1 points to a private network'],
])('%j is rejected: %s', (url, message) => {
	expect(() => checkPublicUrl(url, { field, allowPrivate: false })).toThrow(message);
});

test('allowPrivate accepts private addresses, but no other schemes', () => {
	const allowPrivate = true;
	expect(checkPublicUrl('http://127.0.0.1:5678/a.png', { field, allowPrivate })).toBe(
		'http://127.0.0.1:5678/a.png',
	);
	expect(() => checkPublicUrl('file:///a.png', { field, allowPrivate })).toThrow(
		'not a valid URL',
	);
});

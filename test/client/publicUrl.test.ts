import {
	checkPublicUrl,
	isPrivateUrl,
	knownHosts,
	normalizeBaseUrl,
} from '../../nodes/client/http/publicUrl';
import { imagesAsLinks, imagesInStream } from '../../nodes/client/imagesAsLinks';

describe('the Base URL', () => {
	const USUAL = 'https://api.example.com/v1';
	test.each([
		['https://api.example.com', USUAL],
		['https://api.example.com//', USUAL],
		['https://api.example.com/v1/', USUAL],
		['  https://API.example.com/v1  ', USUAL],
		['https://api.example.com/v1/chat/completions', USUAL],
		['https://api.example.com/v1/videos/tasks/', USUAL],
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
		['https://a.example/a//b/', 'https://a.example/a//b/v1'],
	])('%j is %j', (text, normalized) => {
		expect(normalizeBaseUrl(text)).toBe(normalized);
	});

	const NO_URL = 'Base URL is not a valid URL';
	const MORE = 'Base URL contains a user name, a query or a fragment';
	test.each([
		[undefined, 'Base URL is empty'],
		['   ', 'Base URL is empty'],
		['api.example.com', NO_URL],
		['ftp://api.example.com', NO_URL],
		['http://', NO_URL],
		[`https://api.example.com/${'a'.repeat(2_000)}`, NO_URL],
		['https://me:pw@api.example.com', MORE],
		['https://me@api.example.com', MORE],
		['https://api.example.com/?x=1', MORE],
		['https://api.example.com/#x', MORE],
	])('%j is rejected: %s', (text, message) => {
		expect(() => normalizeBaseUrl(text)).toThrow(message);
	});
});

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
	'http://0177.0.0.1/a',
	'http://user:pass@127.0.0.1/a',
	'http://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/a',
	'http://%6c%6f%63%61%6c%68%6f%73%74/a',
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

const check = (url: string, allowPrivate = false) =>
	checkPublicUrl(url, { field: 'Images: entry 1', allowPrivate });

test.each([
	['white space around it', ' https://example.com/a b.png ', false],
	['a private address where those are allowed', 'http://127.0.0.1:5678/a.png', true],
])('a URL is taken with %s', (_what, url, allowPrivate) => {
	expect(check(url, allowPrivate)).toBe(url.trim());
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
	expect(() => check(url)).toThrow(message);
});

test('where private addresses are allowed, other schemes are not', () => {
	expect(() => check('file:///a.png', true)).toThrow('not a valid URL');
});

describe('images of known hosts', () => {
	const isKnown = knownHosts('https://api.example.com/v1', [
		'files.example.com',
		'*.cdn.example.com',
	]);

	test.each([
		['https://api.example.com/a.png', true],
		['https://api.example.com:444/a.png', false],
		['http://api.example.com/a.png', false],
		['https://files.example.com/a.png', true],
		['http://files.example.com:8080/a.png', true],
		['https://eu.cdn.example.com/a.png', true],
		['https://cdn.example.com/a.png', false],
		['https://evilcdn.example.com/a.png', false],
		['https://evilfiles.example.com/a.png', false],
		['https://example.net&sol;.cdn.example.com/a.png', false],
		['https://eu.cdn.example.com/a.png?b&c', true],
		['https://files.example.com.example.net/a.png', false],
		['ftp://files.example.com/a.png', false],
		['/a.png', false],
	])('the image %s stays: %s', (url, stays) => {
		expect(imagesAsLinks(`![a](${url})`, isKnown)).toBe(`${stays ? '!' : ''}[a](${url})`);
	});

	test.each([
		['files.example.com:8080', 'http://files.example.com:8080/a', true],
		['files.example.com:8080', 'http://files.example.com/a', false],
		['files.example.com:443', 'https://files.example.com/a', true],
		['files.example.com:443', 'https://files.example.com:443/a', true],
		['files.example.com:443', 'http://files.example.com/a', false],
		['files.example.com:80', 'http://files.example.com/a', true],
	])('the host %s with its port has %s: %s', (name, url, isOfPort) => {
		expect(knownHosts('https://api.example.com', [name])(url)).toBe(isOfPort);
	});

	test('a stream holds back what may begin an image, and what begins one to the end of its paragraph', () => {
		const next = imagesInStream(isKnown);
		const pieces = 'Hello|!| Look <|b>|!|[a](|https://files.example.com/a|)'.split('|');
		const shown = ['Hello', '', '! Look ', '<b>', '', '', '', ''];
		expect(pieces.map((piece) => next(piece))).toStrictEqual(shown);
		expect([next(' or\n'), next('\nno'), next('ne ![', false), next('', true)]).toStrictEqual([
			...['', '![a](https://files.example.com/a) or\n\nno', 'ne ', '['],
		]);
	});

	test.each(['![a](https://evil.example/', '!!!![a', '<img alt="', '!\\u005bx](', '\\u0021[x]('])(
		'of %j a paragraph in a stream leaves no image behind it',
		(begun) => {
			const next = imagesInStream(isKnown);
			const end = '\n\n" src=https://evil.example/>)';
			const shown = Array.from(begun + end, (piece) => next(piece)).join('');
			expect(shown + next('', true)).not.toMatch(/!+\[|<im|\\u0021/);
		},
	);

	test('a long file in its URL stays whole, and is read once', () => {
		const next = imagesInStream(isKnown);
		const piece = 'A'.repeat(64 * 1024);
		expect(next('![a](data:image/png;base64,')).toBe('');
		for (let pieces = 0; pieces < 100; pieces += 1) expect(next(piece)).toBe('');
		const whole = `![a](data:image/png;base64,${piece.repeat(100)})`;
		expect(next(')\n\n') === `${whole}\n\n`).toBe(true);
	});

	test.each([
		['a file', `![a](data:image/png;base64,${'A'.repeat(2e6)})`, ''],
		['a URL', `![a](https://files.example.com/${'a'.repeat(2e6)})`, '!'],
		['a text', `![${'a'.repeat(2e6)}](https://files.example.com/a)`, '!'],
		['a tag', `<img ${'a'.repeat(2e6)}>`, '<'],
		['exclamation', '!'.repeat(2e6), ''],
	])('%s of 2 MB in one piece', (_name, image, replaced) => {
		const next = imagesInStream(isKnown);
		for (const shown of [imagesAsLinks(image, isKnown), next(image) + next('', true)])
			expect(shown === image.replace(replaced, replaced === '<' ? '&lt;' : '')).toBe(true);
	});
});

import { imagesAsLinks, imagesInStream } from '../../nodes/client/imagesAsLinks';
import { knownHosts } from '../../nodes/client/http/publicUrl';

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
	const pieces = ['Hello', '!', ' Look <', 'b>', '!', '[a](', 'https://files.example.com/a', ')'];
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
	['a file', `![a](data:image/png;base64,${'A'.repeat(2e7)})`, ''],
	['a URL', `![a](https://files.example.com/${'a'.repeat(2e7)})`, '!'],
	['a text', `![${'a'.repeat(2e7)}](https://files.example.com/a)`, '!'],
	['a tag', `<img ${'a'.repeat(2e7)}>`, '<'],
	['exclamation', '!'.repeat(2e7), ''],
])('%s of 20 MB in one piece', (_name, image, replaced) => {
	const next = imagesInStream(isKnown);
	for (const shown of [imagesAsLinks(image, isKnown), next(image) + next('', true)])
		expect(shown === image.replace(replaced, replaced === '<' ? '&lt;' : '')).toBe(true);
});

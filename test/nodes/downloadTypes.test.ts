// cspell:ignore ftyp ftypjp ftypmif heim heis heix hevx notxt
import { SAMPLE_TYPES, sampleFile } from '../support/sampleFiles';
import { answer, choose, downloads, HINT } from '../support/downloads';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { fieldsOf, ids } from '../support/waitRuns';

type Bytes = Buffer | string;
type Declared = string | undefined;

const scene = downloads();

const PAGE = '<!DOCTYPE html>\n<html><body>Please\tsign in</body></html>';
const EXPIRED = '{"error":"expired"}';
const CSV = 'name,age\nAda,36\n';
const MP4 = sampleFile('video/mp4');
const PNG = sampleFile('image/png');
const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** A host of these files: the last number in the path of a request says which one it wants. */
function serve(files: readonly (readonly [declared: Declared, body: Bytes])[]): void {
	scene.host = choose((_index, path) => {
		const [number] = /\d+(?=\D*$)/.exec(path.replace(/\/[^/]*$/, '')) ?? ['0'];
		return answer(...files[Number(number)]!);
	});
}

/** Lets Wait for Video download each of these files in one run. */
async function waitFor(files: Parameters<typeof serve>[0]) {
	serve(files);
	return await scene.wait({}, { items: ids(...files.map((_file, index) => `${index}/video`)) });
}

const PACKET = `G@\0\x10${'\0'.repeat(184)}`;
/** The first bytes of videos whose host often declares no type. */
const CONTAINERS: readonly (readonly [type: string, extension: string, head: string])[] = [
	['video/mp2t', 'ts', PACKET.repeat(4)],
	// Of a camera.
	['video/mp2t', 'ts', `\0\0\0\x01${PACKET}`.repeat(4)],
	// MPEG-PS, and MPEG video.
	['video/mpeg', 'mpg', '\0\0\x01\xba\x44\0\x04\0'],
	['video/mpeg', 'mpg', '\0\0\x01\xb3\x14\0\xf0\x13'],
	['video/x-flv', 'flv', 'FLV\x01\x05\0\0\0\x09'],
	['video/x-ms-wmv', 'wmv', '0&\xb2u\x8ef\xcf\x11\xa6\xd9\0\xaa\0b\xcel'],
	['video/ogg', 'ogv', `OggS\0\x02${'\0'.repeat(20)}\x01\x2a\x80theora\x03\x02`],
];
const VIDEO_TYPES = SAMPLE_TYPES.filter((type) => type.startsWith('video/'));

test.each([undefined, 'application/octet-stream', 'text/html', 'video/mp4'])(
	'a video is recognized by its bytes, whatever its declared type: %s',
	async (declared) => {
		const extensions = ['mp4', 'mov', 'webm', 'mkv', 'avi'];
		const files = [
			...VIDEO_TYPES.map((type) => sampleFile(type, Buffer.from([0, 1, 2, 3]))),
			...CONTAINERS.map(([, , head]) => latin1(head)),
		];
		const { outputs } = await waitFor(files.map((file) => [declared, file] as const));
		const expected = [
			...VIDEO_TYPES.map((type, index) => [type, extensions[index]!]),
			...CONTAINERS.map(([type, extension]) => [type, extension]),
		];
		expect(
			outputs[COMPLETED]!.map(({ binary }) => {
				const { mimeType, fileName, fileExtension, data } = binary!['data']!;
				return [mimeType, fileName, fileExtension, data];
			}),
		).toStrictEqual(
			expected.map(([type, extension], index) => [
				type,
				`${index}-video.${extension}`,
				extension,
				files[index]!.toString('base64'),
			]),
		);
	},
);

describe('what is no video', () => {
	const LONG = `First line [1m red ${'word '.repeat(400)}`;
	const UNKNOWN = 'bytes that are declared as video/mp4';

	test.each<[string, Declared, Bytes, string]>([
		['a login page', 'text/html; charset=utf-8', PAGE, 'text/html: Please sign in'],
		['a login page', 'video/mp4', PAGE, 'text/html: Please sign in'],
		['a page with a mark', 'video/mp4', `\ufeff${PAGE}`, 'text/html: Please sign in'],
		['a UTF-16 page', 'video/mp4', Buffer.from(`\ufeff${PAGE}`, 'utf16le'), UNKNOWN],
		['a JSON error', 'video/mp4', EXPIRED, `application/json: ${EXPIRED}`],
		[
			'an XML error',
			'application/xml',
			'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
			'application/xml: AccessDenied',
		],
		[
			'a text that begins like the name of a format',
			'application/octet-stream',
			'Gateway timeout',
			'text/plain: Gateway timeout',
		],
		[
			'text with a G at the right places',
			'video/mp4',
			'G'.padEnd(188).repeat(2),
			'text/plain: G G',
		],
		[
			'a long text, cut to one short line without control characters',
			'text/plain',
			`First line\r\n\u001b[1m red\u202e ${'word '.repeat(400)}`,
			`text/plain: ${LONG.slice(0, 200)}…`,
		],
		['an error with a control character', 'video/mp4', 'Access denied\x01', UNKNOWN],
		['a picture', 'video/mp4', PNG, 'image/png'],
		['gzip', 'video/mp4', latin1('\x1f\x8b\x08\0\0\0\0\0'), 'application/gzip'],
		[
			'JPEG 2000',
			'video/mp4',
			latin1('\0\0\0\x0cjP  \x0d\x0a\x87\x0a\0\0\0\x14ftypjp2 '),
			UNKNOWN,
		],
		['ICO', 'video/mp4', latin1('\0\0\x01\0\x01\0\x10\x10\0\0\x01\0'), UNKNOWN],
		['zeros', 'video/mp4', '\0'.repeat(5_000), UNKNOWN],
		[
			'a container that is not in the table',
			'video/x-new',
			Buffer.from([6, 0x0e, 0x2b, 0x34, 2]),
			'bytes that are declared as video/x-new',
		],
		[
			'bytes of an unknown kind that nobody calls a video',
			'application/octet-stream',
			Buffer.from([1, 2, 3, 4, 5]),
			'bytes that are declared as application/octet-stream',
		],
	])(
		'leaves through Failed, and keeps its URL: %s, declared as %s',
		async (_name, declared, body, words) => {
			scene.host = answer(declared, body);
			const { status, outputs, file, fields, error } = await scene.wait();
			expect(status).toBe('success');
			expect(outputs[COMPLETED]).toStrictEqual([]);
			expect(fields).toMatchObject({
				task_id: 'task-1',
				reason: 'download',
				video_url: `${scene.url}/cdn/task-1.mp4`,
			});
			expect(error).toBe(`The host did not send a video, but ${words}. ${HINT}`);
			expect(file).toBeUndefined();
			// Another attempt would bring the same.
			expect(scene.files()).toHaveLength(1);
		},
	);

	test('a picture of a general container, by each of its brands', async () => {
		const heic = ['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'mif1', 'msf1'].map(
			(brand) => `\0\0\0\x18ftyp${brand}\0\0\0\0mif1heic`,
		);
		const heads = [...heic, `\0\0\0\x1cftypmif1\0\0\0\0mif1avif`];
		const { outputs } = await waitFor(heads.map((head) => ['video/mp4', head] as const));
		const errors = fieldsOf(outputs[FAILED]).map((fields) => fields['error_message']);
		expect(errors).toStrictEqual(
			['heic', 'heic', 'heic', 'heic', 'heic', 'heic', 'heic', 'heic', 'avif'].map(
				(type) => `The host did not send a video, but image/${type}. ${HINT}`,
			),
		);
	});

	test('a file of the input item, which is not taken for it', async () => {
		scene.host = answer('text/html', PAGE);
		const invoice = { data: 'aW52b2ljZQ==', mimeType: 'application/pdf', fileName: 'a.pdf' };
		const { outputs } = await scene.wait({}, { binaries: [{ data: invoice }] });
		expect(outputs[FAILED]![0]).not.toHaveProperty('binary');
	});
});

test('a video that arrives byte by byte is whole', async () => {
	const file = sampleFile('video/mp4', 'x'.repeat(2_000));
	scene.host = (response) => {
		response.writeHead(200, { 'content-type': 'binary/octet-stream' });
		let sent = 0;
		const sendNext = (): void => {
			if (sent === file.length) response.end();
			else response.write(file.subarray(sent, ++sent), sendNext);
		};
		sendNext();
	};
	expect((await scene.wait()).file!.data).toBe(file.toString('base64'));
});

describe('file names', () => {
	const FAMILY = '👨‍👩‍👧';
	const NAMES = [
		['clip.v2', 'clip.v2.mp4'],
		['example.com', 'example.com.mp4'],
		['clip.m4v', 'clip.m4v'],
		['clip.MP4', 'clip.MP4'],
		// The extension of the file is the true one.
		['clip.jpeg', 'clip.mp4'],
		['Trip v1.25.webm', 'Trip v1.25.mp4'],
		['no\u202etxt.4pm', 'notxt.4pm.mp4'],
		['\u2066a\u2069\u200f\u061cb', 'ab.mp4'],
		['a\u0085b\u2028c', 'abc.mp4'],
		['a\nb/c', 'a-b-c.mp4'],
		['x'.repeat(500), `${'x'.repeat(196)}.mp4`],
		[`${'x'.repeat(500)}.mp4`, `${'x'.repeat(196)}.mp4`],
		// 3 bytes each, 18 of the family.
		['夜'.repeat(120), `${'夜'.repeat(65)}.mp4`],
		[FAMILY.repeat(50), `${FAMILY.repeat(10)}.mp4`],
		[`${'x'.repeat(195)}e\u0301`, `${'x'.repeat(195)}.mp4`],
		[`e${'\u0301'.repeat(500)}`, 'file.mp4'],
		['...', 'file.mp4'],
		[`a.${'b'.repeat(300)}`, `a.${'b'.repeat(194)}.mp4`],
		[`${FAMILY}.mov`, `${FAMILY}.mp4`],
		['CON', '_CON.mp4'],
		['nul.mp4', '_nul.mp4'],
		['Com1.tar', '_Com1.tar.mp4'],
		['LPT² .a', '_LPT² .a.mp4'],
		['console', 'console.mp4'],
		['= 1+1', '_= 1+1.mp4'],
		['=HYPERLINK("x")', '_=HYPERLINK(-x-).mp4'],
		['a=b', 'a=b.mp4'],
	] as const;

	test('what is entered is stored as a safe name, with the extension of the file', async () => {
		scene.host = answer('video/mp4', MP4);
		const items = NAMES.map(([name], index) => ({ task_id: `${index}`, name }));
		const { outputs } = await scene.wait({ fileName: '={{ $json.name }}' }, { items });
		const stored = outputs[COMPLETED]!.map(({ binary }) => binary!['data']!.fileName);
		expect(stored).toStrictEqual(NAMES.map(([, fileName]) => fileName));
	});

	test('a link has no other rules', async () => {
		scene.host = answer(undefined, MP4);
		const { media } = await scene.media(`${scene.url}/cdn/${'a%E2%80%AE'.repeat(200)}.mp4`);
		expect(media).toMatchObject([{ fileName: `${'a'.repeat(196)}.mp4` }]);
	});
});

describe('a URL that leads nowhere is an error at once', () => {
	const NO_URL = 'The URL of the file is not an http(s) URL:';
	test.each<[unknown, string]>([
		['/videos/a.mp4', `${NO_URL} /videos/a.mp4`],
		[17, `${NO_URL} 17`],
		[{ link: 'x' }, `${NO_URL} {"link":"x"}`],
		[{ url: 'x' }, `${NO_URL} x`],
		['file:///etc/passwd', `${NO_URL} file:///etc/passwd`],
		['ftp://host/a.mp4', `${NO_URL} ftp://host/a.mp4`],
		[null, 'The service returned no video_url'],
		[' ', 'The service returned no video_url'],
	])('%j', async (video_url, message) => {
		scene.reports = [{ video_url }];
		const { status, outputs, fields, error } = await scene.wait();
		expect(status).toBe('success');
		expect(outputs[COMPLETED]).toStrictEqual([]);
		expect(fields).toMatchObject({ task_id: 'task-1', reason: 'download' });
		expect(error).toContain(`${message}. `);
		expect(scene.files()).toHaveLength(0);
	});

	const NO_TARGET = 'The URL of the file redirects to an address that cannot be opened';
	test.each<[string, object, string, number]>([
		[
			'a redirect loop',
			{ location: '/cdn/task-1.mp4' },
			'The URL of the file redirects without end',
			11,
		],
		['a redirect to a file', { location: 'file:///etc/passwd' }, NO_TARGET, 1],
		['a redirect to FTP', { location: 'ftp://host/a.mp4' }, NO_TARGET, 1],
		['a redirect to no URL', { location: 'http://' }, NO_TARGET, 1],
		['a redirect without a target', {}, 'The file could not be downloaded (status 302)', 1],
	])('%s', async (_name, headers, message, requests) => {
		scene.host = (response) => response.writeHead(302, { ...headers }).end();
		const { fields, error } = await scene.wait();
		const video_url = `${scene.url}/cdn/task-1.mp4`;
		expect(fields).toMatchObject({ reason: 'download', video_url });
		expect(error).toBe(`${message}. ${HINT}`);
		expect(scene.files()).toHaveLength(requests);
	});

	test('white space around a URL does not matter', async () => {
		scene.host = answer(undefined, MP4);
		scene.reports = [{ video_url: ` ${scene.url}/cdn/a.mp4\n` }];
		expect((await scene.wait()).isCompleted).toBe(true);
	});
});

describe('Download Media', () => {
	/** The names and types of files of one reply, or their errors. */
	async function fetchAll(
		files: readonly (readonly [name: string, declared: Declared, body: Bytes, ...unknown[]])[],
		contentOf: (urls: readonly string[]) => unknown = (urls) => urls.join(' '),
	) {
		serve(files.map(([, declared, body]) => [declared, body]));
		const urls = files.map(([name], index) => `${scene.url}/cdn/${index}/${name}`);
		const { media } = await scene.media(contentOf(urls));
		return media.map(({ fileName, mimeType, error_message: error }) =>
			error === undefined ? [fileName, mimeType] : error,
		);
	}
	const notSent = (words: string) => `The host did not send ${words}. Open the URL of the file`;

	test('a part of a reply is a file of any type, which no error page is', async () => {
		const files = [
			['export?id=5', 'text/csv', 'a,b\n1,2\n', ['export.csv', 'text/csv']],
			['export', 'text/csv', '{a},b\n1,2\n', ['export.csv', 'text/csv']],
			['export', 'text/plain', '[{"error":"of a person"}]', ['export.txt', 'text/plain']],
			['export', 'application/json', EXPIRED, ['export.json', 'application/json']],
			['export', 'application/yaml', 'a: 1', ['export', 'application/yaml']],
			['export', 'application/pdf', 'No', notSent('the file, but text/plain: No')],
			['export', undefined, 'a: 1', ['export.txt', 'text/plain']],
			[
				'export',
				'binary/octet-stream',
				Buffer.from([1, 2, 3]),
				['export', 'application/octet-stream'],
			],
			['export', 'application/pdf', PNG, ['export.png', 'image/png']],
			['page', 'text/html; charset=utf-8', PAGE, ['page.html', 'text/html']],
			['export', 'text/csv', PAGE, notSent('the file, but text/html: Please sign in')],
			['export', undefined, PAGE, notSent('the file, but text/html: Please sign in')],
		] as const;
		const parts = (urls: readonly string[]) =>
			urls.map((url) => ({ type: 'file', file: { url } }));
		expect(await fetchAll(files, parts)).toStrictEqual(files.map(([, , , file]) => file));
	});

	test('a linked file has the type of its bytes, and of text that of its name', async () => {
		const files = [
			[
				'film.mp4',
				'application/octet-stream',
				sampleFile('video/quicktime'),
				['film.mov', 'video/quicktime'],
			],
			['photo.jpeg', 'image/png', sampleFile('image/jpeg'), ['photo.jpeg', 'image/jpeg']],
			['photo.jpg', 'image/jpeg', PNG, ['photo.png', 'image/png']],
			['a.svg', 'image/svg+xml', sampleFile('image/svg+xml'), ['a.svg', 'image/svg+xml']],
			['song.mp3', undefined, sampleFile('audio/mpeg'), ['song.mp3', 'audio/mpeg']],
			['song.m4a', 'video/mp4', MP4, ['song.m4a', 'audio/mp4']],
			['song.opus', undefined, sampleFile('audio/ogg'), ['song.opus', 'audio/ogg']],
			['scan.tif', undefined, sampleFile('image/tiff'), ['scan.tif', 'image/tiff']],
			['photo.heif', undefined, sampleFile('image/heic'), ['photo.heif', 'image/heic']],
			['song.wav', 'audio/x-wav', sampleFile('audio/wav'), ['song.wav', 'audio/wav']],
			[
				'report.pdf',
				'binary/octet-stream',
				sampleFile('application/pdf'),
				['report.pdf', 'application/pdf'],
			],
			['report.pdf', 'application/pdf', PNG, ['report.png', 'image/png']],
			[
				'all.zip',
				'application/zip',
				sampleFile('application/zip'),
				['all.zip', 'application/zip'],
			],
			['data.json', 'application/json', EXPIRED, ['data.json', 'application/json']],
			['data.json', 'text/plain', EXPIRED, ['data.json', 'application/json']],
			['table.csv', 'application/octet-stream', CSV, ['table.csv', 'text/csv']],
			['notes.txt', 'text/plain', '{"a": 1} is JSON', ['notes.txt', 'text/plain']],
			[
				'notes.md',
				'application/octet-stream',
				'<p align="center">Hi</p>',
				['notes.md', 'text/markdown'],
			],
		] as const;
		expect(await fetchAll(files)).toStrictEqual(files.map(([, , , file]) => file));
	});

	test('an error page is no linked file, and is not asked for again', async () => {
		const files = [
			['film.mp4', 'text/html', PAGE, 'a video, but text/html: Please sign in'],
			['a.jpg', 'application/json', EXPIRED, `an image, but application/json: ${EXPIRED}`],
			['photo.jpg', 'image/jpeg', MP4, 'an image, but video/mp4'],
			['song.mp3', 'text/plain', 'Forbidden', 'an audio file, but text/plain: Forbidden'],
			['report.pdf', 'text/html', PAGE, 'the file, but text/html: Please sign in'],
			['all.zip', 'text/plain', 'Forbidden', 'the file, but text/plain: Forbidden'],
			['a.csv', 'application/json', EXPIRED, `the file, but application/json: ${EXPIRED}`],
			['table.csv', 'text/plain', PAGE, 'the file, but text/html: Please sign in'],
			['data.json', 'text/html', PAGE, 'the file, but text/html: Please sign in'],
			['a.txt', 'application/xml', '<Error>No</Error>', 'the file, but application/xml: No'],
		] as const;
		expect(await fetchAll(files)).toStrictEqual(files.map(([, , , words]) => notSent(words)));
		expect(scene.files()).toHaveLength(files.length);
	});

	test('an empty body is asked for again twice', async () => {
		const fetched = await fetchAll([['all.zip', 'application/zip', '']]);
		expect(fetched).toStrictEqual([notSent('the file, but an empty body')]);
		expect(scene.files()).toHaveLength(3);
	});

	test('images and sound are recognized by their bytes', async () => {
		const types = SAMPLE_TYPES.filter((type) => /^(image|audio)/.test(type));
		const files = types.map((type) => {
			const name = type.startsWith('image') ? 'any.jpg' : 'any.mp3';
			return [name, 'application/octet-stream', sampleFile(type)] as const;
		});
		expect(await fetchAll(files)).toStrictEqual(
			types.map((type) => [expect.stringMatching(/^any\.\w+$/) as string, type]),
		);
	});

	test('WebM sound has an extension', async () => {
		const files = [['voice', 'application/octet-stream', sampleFile('video/webm')]] as const;
		const parts = ([url]: readonly string[]) => [{ type: 'audio_url', audio_url: { url } }];
		expect(await fetchAll(files, parts)).toStrictEqual([['voice.webm', 'audio/webm']]);
	});

	test('a relative URL of a part belongs to the Base URL; any other that cannot be opened says so', async () => {
		scene.host = answer('image/png', PNG);
		const { media } = await scene.media([
			{ type: 'image_url', image_url: { url: '/cdn/cat.png?size=2' } },
			{ type: 'image_url', image_url: 'sandbox:/files/dog.jpg' },
			{ type: 'file', file: { url: 'cdn/report.png' } },
			{ type: 'text', text: 'hello' },
		]);
		expect(media).toMatchObject([
			{ kind: 'image', url: `${scene.url}/cdn/cat.png?size=2`, fileName: 'cat.png' },
			{
				kind: 'image',
				url: 'sandbox:/files/dog.jpg',
				error_message:
					'The URL of the file is not an http(s) URL: sandbox:/files/dog.jpg. Open the URL of the file',
			},
			{ kind: 'image', url: `${scene.url}/cdn/report.png`, fileName: 'report.png' },
		]);
	});

	test('archives and documents with a known extension are files; office files, source code and pages are not', async () => {
		scene.host = answer('application/octet-stream', sampleFile('application/zip'));
		const names = ['a.zip', 'b.ZIP'];
		const others = ['a.docx', 'a.XLSX', 'a.ppt', 'main.ts', 'index.html', 'feed.xml', 'page'];
		const urls = [...names, ...others].map((name) => `${scene.url}/cdn/${name}`);
		const { media } = await scene.media(urls.join(' '));
		expect(media.map(({ kind, fileName }) => [kind, fileName])).toStrictEqual(
			names.map((name) => ['file', name]),
		);
	});

	test('names of properties of objects are no types', async () => {
		scene.host = answer('constructor', Buffer.from([1, 2, 3]));
		const url = `${scene.url}/cdn/a.toString`;
		const { media } = await scene.media([{ type: '__proto__', url }]);
		expect(media).toMatchObject([{ kind: 'file', mimeType: 'constructor' }]);
	});
});

// cspell:ignore ftypjp notxt
import { runNode } from '../support/engine';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const MP4 = sampleFile('video/mp4', 'frames');
const PACKET = `G@\0\x10${'\0'.repeat(184)}`;

/** The first bytes of videos whose host often declares no type. */
const CONTAINERS: Record<string, readonly [type: string, extension: string, head: string]> = {
	'MPEG-TS': ['video/mp2t', 'ts', PACKET.repeat(4)],
	'MPEG-TS of a camera': ['video/mp2t', 'ts', `\0\0\0\x01${PACKET}`.repeat(4)],
	'MPEG-PS': ['video/mpeg', 'mpg', '\0\0\x01\xba\x44\0\x04\0'],
	'MPEG video': ['video/mpeg', 'mpg', '\0\0\x01\xb3\x14\0\xf0\x13'],
	FLV: ['video/x-flv', 'flv', 'FLV\x01\x05\0\0\0\x09'],
	ASF: ['video/x-ms-wmv', 'wmv', '0&\xb2u\x8ef\xcf\x11\xa6\xd9\0\xaa\0b\xcel'],
	'Ogg Theora': ['video/ogg', 'ogv', `OggS\0\x02${'\0'.repeat(20)}\x01\x2a\x80theora\x03\x02`],
};

let file: { readonly type?: string; readonly body: Buffer };
let videoUrl: (path: string) => string;
/** The content of a chat reply. */
let content: unknown;

const server = serverForEach((response, { path }) => {
	if (path.startsWith('/files/')) {
		response.writeHead(200, file.type === undefined ? {} : { 'content-type': file.type });
		response.end(file.body);
	} else if (path === '/v1/videos/tasks') {
		json(response, 200, { status: 'completed', video_url: videoUrl('/files/a') });
	} else {
		const message = { role: 'assistant', content };
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	}
});

beforeEach(() => {
	videoUrl = (path) => `${server.url}${path}`;
});

async function wait(name?: string) {
	const { outputs } = await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ task_id: 'task-1', ...(name && { name }) }],
		parameters: { options: { fileName: '={{ $json.name }}' } },
	});
	const { fileName, mimeType } = outputs[COMPLETED]![0]?.binary?.['data'] ?? {};
	return { fileName, mimeType, error: outputs[FAILED]![0]?.json['error_message'] };
}

/** The entries of `media` after Download Media, each with its file. */
async function fetchMedia(options: object = {}): Promise<Record<string, unknown>[]> {
	const { outputs } = await runNode('chatCompletion', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ chatInput: 'Show me' }],
		parameters: { streaming: 'off', options: { downloadMedia: true, ...options } },
	});
	const { json: fields, binary = {} } = outputs[0]![0]!;
	return ((fields['media'] ?? []) as Record<string, string>[]).map((entry) => {
		const { fileName, mimeType } = binary[entry['binary'] ?? ''] ?? {};
		return { ...entry, fileName, mimeType };
	});
}

describe.each(Object.entries(CONTAINERS))('%s', (_name, [type, extension, head]) => {
	test.each([undefined, 'application/octet-stream', 'video/mp4'])(
		'is a video if its host declares %s',
		async (declared) => {
			file = { ...(declared && { type: declared }), body: Buffer.from(head, 'latin1') };
			expect(await wait()).toStrictEqual({
				fileName: `task-1.${extension}`,
				mimeType: type,
				error: undefined,
			});
		},
	);
});

/** The first bytes of files that are no videos, and of one that nothing is known of. */
const NO_VIDEOS: Record<string, string> = {
	'7z': '7z\xbc\xaf\x27\x1c\0\x04',
	'JPEG XL in a box': '\0\0\0\x0cJXL \x0d\x0a\x87\x0a',
	'JPEG 2000': '\0\0\0\x0cjP  \x0d\x0a\x87\x0a\0\0\0\x14ftypjp2 ',
	ICO: '\0\0\x01\0\x01\0\x10\x10\0\0\x01\0',
	'a program of Linux': '\x7fELF\x02\x01\x01\0',
	zeros: '\0'.repeat(5_000),
	'an error with a control character': 'Access denied\x01',
};

test.each(Object.entries(NO_VIDEOS))(
	'%s that its host declares as a video is none',
	async (_name, head) => {
		file = { type: 'video/mp4', body: Buffer.from(head, 'latin1') };
		expect(await wait()).toMatchObject({
			fileName: undefined,
			error: expect.stringContaining(
				'The host did not send a video, but bytes that are declared as video/mp4',
			) as string,
		});
	},
);

test('bytes that nothing is known of are no video, also of a type whose first bytes are not known', async () => {
	file = { type: 'video/3gpp2', body: Buffer.from([0, 1, 2, 3]) };
	expect((await wait()).error).toContain('but bytes that are declared as video/3gpp2');
});

test('WebM sound has an extension', async () => {
	file = { type: 'application/octet-stream', body: sampleFile('video/webm') };
	content = [{ type: 'audio_url', audio_url: { url: `${server.url}/files/voice` } }];
	expect(await fetchMedia()).toMatchObject([{ fileName: 'voice.webm', mimeType: 'audio/webm' }]);
});

const PAGE = '<!DOCTYPE html><html><body>Please sign in</body></html>';
test.each<[string, Buffer, string]>([
	['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]), 'application/gzip'],
	['a page with a mark', Buffer.from(`\ufeff${PAGE}`), 'text/html: Please sign in'],
	[
		'a UTF-16 page',
		Buffer.from(`\ufeff${PAGE}`, 'utf16le'),
		'bytes that are declared as video/mp4',
	],
	['text with a G at the right places', Buffer.from('G'.padEnd(188).repeat(2)), 'text/plain: G'],
])('%s that its host declares as video/mp4 is no video', async (_name, body, words) => {
	file = { type: 'video/mp4', body };
	expect((await wait()).error).toContain(`The host did not send a video, but ${words}`);
});

test('white space around a video_url does not matter', async () => {
	file = { body: MP4 };
	videoUrl = (path) => ` ${server.url}${path}\n`;
	expect(await wait()).toMatchObject({ mimeType: 'video/mp4', error: undefined });
});

describe('file names', () => {
	beforeEach(() => {
		file = { body: MP4 };
	});
	const FAMILY = '👨‍👩‍👧';

	test.each([
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
	])('entered name %# is stored as a safe one', async (entered, fileName) => {
		expect(await wait(entered)).toMatchObject({ fileName });
	});

	test('a link has no other rules', async () => {
		content = `${server.url}/files/${'a%E2%80%AE'.repeat(200)}.mp4`;
		expect(await fetchMedia()).toMatchObject([{ fileName: `${'a'.repeat(196)}.mp4` }]);
	});
});

describe('links of a reply', () => {
	test('a relative URL of a part belongs to the Base URL; any other that cannot be opened says so', async () => {
		file = { type: 'image/png', body: sampleFile('image/png') };
		content = [
			{ type: 'image_url', image_url: { url: '/files/cat.png?size=2' } },
			{ type: 'image_url', image_url: 'sandbox:/files/dog.jpg' },
			{ type: 'file', file: { url: 'report.pdf' } },
			{ type: 'text', text: 'hello' },
		];
		expect(await fetchMedia()).toMatchObject([
			{ kind: 'image', url: `${server.url}/files/cat.png?size=2`, fileName: 'cat.png' },
			{
				kind: 'image',
				url: 'sandbox:/files/dog.jpg',
				error_message:
					'The URL of the file is not an http(s) URL: sandbox:/files/dog.jpg. Open the URL of the file',
			},
			{ kind: 'file', url: `${server.url}/report.pdf` },
		]);
	});

	test('archives and documents with a known extension are files; office files, source code and pages are not', async () => {
		file = { type: 'application/octet-stream', body: sampleFile('application/zip') };
		const names = ['a.zip', 'b.ZIP'];
		const others = ['a.docx', 'a.XLSX', 'a.ppt', 'main.ts', 'index.html', 'feed.xml', 'page'];
		content = [...names, ...others].map((name) => `${server.url}/files/${name}`).join(' ');
		expect(
			(await fetchMedia()).map((entry) => [entry['kind'], entry['fileName']]),
		).toStrictEqual(names.map((name) => ['file', name]));
	});

	test('names of properties of objects are no types', async () => {
		file = { type: 'constructor', body: Buffer.from([1, 2, 3]) };
		content = [{ type: '__proto__', constructor: { url: `${server.url}/files/a.toString` } }];
		expect(await fetchMedia()).toMatchObject([{ kind: 'file', mimeType: 'constructor' }]);
	});
});

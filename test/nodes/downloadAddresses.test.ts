import type { ServerResponse } from 'node:http';

import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { imitateNetwork, type ImitatedNetwork } from '../support/imitatedNetwork';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach, type SeenRequest } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const MP4 = sampleFile('video/mp4', 'frames');
/** Imitated addresses of the service and of the public file host. */
const SERVICE = '93.184.216.34';
const PUBLIC = '93.184.216.35';

let network: ImitatedNetwork;
/** URL of the file that the service returns; `$port` stands for the port of the server. */
let fileUrl: string;
/** Whether a model has written the URL; by default it is in a field. */
let isInText: boolean;
/** Where the file host redirects, by path. */
let redirects: Record<string, string>;

const real = (url: string) => url.replace('$port', String(server.port));

function answerFile(response: ServerResponse, { path }: SeenRequest): void {
	const location = redirects[path];
	if (location === undefined) {
		response.writeHead(200, { 'content-type': 'video/mp4' }).end(MP4);
	} else response.writeHead(302, { location: real(location) }).end();
}

const server = serverForEach((response, request) => {
	// A proxy gets the whole URL.
	const path = request.path.replace(/^http:\/\/[^/]+/, '');
	if (path === '/v1/videos/tasks') {
		json(response, 200, { status: 'completed', video_url: real(fileUrl) });
	} else if (path === '/v1/chat/completions') {
		const url = real(fileUrl);
		const content = isInText ? url : [{ type: 'video_url', video_url: { url } }];
		const message = { role: 'assistant', content };
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	} else answerFile(response, request);
});

beforeEach(() => {
	redirects = {};
	isInText = false;
	network = imitateNetwork();
	network.resolve('service.example', [SERVICE]);
	network.resolve('files.example', [PUBLIC]);
});
afterEach(() => {
	network.restore();
});

const credential = (host = 'service.example') => ({
	baseUrl: `http://${host}:${server.port}`,
	apiKey: 'k',
});

/** Downloads the file with each node: whether it came, and the error. */
const NODES: Record<string, (host?: string) => Promise<{ bytes?: string; error: string }>> = {
	'Wait for Video': async (host) => {
		const { outputs } = await runNode('waitForVideo', {
			credential: credential(host),
			items: [{ task_id: 'task-1' }],
		});
		const data = outputs[COMPLETED]![0]?.binary!['data']!.data;
		const error = String(outputs[FAILED]![0]?.json['error_message'] ?? '');
		return { ...(data === undefined ? {} : { bytes: data }), error };
	},
	'Download Media': async (host) => {
		const { outputs } = await runNode('chatCompletion', {
			credential: credential(host),
			items: [{ chatInput: 'Show me' }],
			parameters: { streaming: 'off', options: { downloadMedia: true } },
		});
		const [item] = outputs[0]!;
		const [{ error_message: error = '' }] = item!.json['media'] as [{ error_message?: string }];
		const data = item!.binary?.['media_0']!.data;
		return { ...(data === undefined ? {} : { bytes: data }), error };
	},
};

describe.each(Object.entries(NODES))('%s', (_name, download) => {
	const fetchFile = async (host?: string) =>
		await withFakeTimers(async ({ passedMs }) => {
			const file = await download(host);
			// No time passes: another attempt would be refused, too. (A poll waits at most 6 s.)
			expect(passedMs()).toBeLessThan(6_000);
			return file;
		});
	const filesOf = () => server.requests.filter(({ path }) => path.startsWith('/files'));

	test('a public address is opened', async () => {
		fileUrl = 'http://files.example:$port/files/a.mp4';
		expect(await fetchFile()).toStrictEqual({ bytes: MP4.toString('base64'), error: '' });
		expect(network.contacted.at(-1)).toBe(PUBLIC);
		// The host of the URL is kept: servers with several sites need it.
		expect(filesOf()[0]!.headers.host).toBe(`files.example:${server.port}`);
	});

	test('a redirect to another public address is followed', async () => {
		network.resolve('cdn.example', ['2606:4700::1111']);
		fileUrl = 'http://files.example:$port/files/a.mp4';
		redirects = {
			'/files/a.mp4': '/files/b.mp4',
			'/files/b.mp4': 'http://cdn.example:$port/files/c.mp4',
		};
		expect((await fetchFile()).error).toBe('');
		expect(network.contacted.slice(-3)).toStrictEqual([PUBLIC, PUBLIC, '2606:4700::1111']);
	});

	test.each([
		'127.0.0.1',
		'127.1',
		'0177.0.0.1',
		'0x7f.1',
		'2130706433',
		'10.1.2.3',
		'169.254.169.254',
		'100.100.100.200',
		'[::1]',
		'[::ffff:127.0.0.1]',
		'[::127.0.0.1]',
		'[64:ff9b::7f00:1]',
		'[64:ff9b:1::1]',
		'[2002:7f00:1::]',
		'[fd00:ec2::254]',
		'localhost',
		'localhost.localdomain',
		'vault.default.svc',
		'wiki.corp',
		'nas.home.arpa',
		'intranet',
	])('%s is private, in the URL and in a redirect', async (host) => {
		network.resolve(host, [PUBLIC]);
		fileUrl = `http://${host}:$port/files/a.mp4`;
		expect((await fetchFile()).error).toContain(
			'The URL of the file leads to a private network',
		);
		expect(filesOf()).toHaveLength(0);

		fileUrl = 'http://files.example:$port/files/a.mp4';
		redirects = { '/files/a.mp4': `http://${host}:$port/files/secret` };
		expect((await fetchFile()).error).toContain(
			'The URL of the file leads to a private network',
		);
		expect(filesOf()).toHaveLength(1);
		expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE, PUBLIC]));
	});

	test.each([
		[['127.0.0.1']],
		[['10.0.0.5']],
		[['::1']],
		[['::ffff:7f00:1']],
		[['::7f00:1']],
		[['64:ff9b::a00:5']],
		[['2002:7f00:1::']],
		[['fe80::1']],
		// A list with one private address is private: the connection may take any of them.
		[[PUBLIC, '127.0.0.1']],
		[['2606:4700::1111', 'fd00::1']],
	])('a public name that resolves to %j is private', async (addresses) => {
		network.resolve('inside.example', addresses);
		for (const [url, location] of [
			['http://inside.example:$port/files/a.mp4', undefined],
			['https://inside.example:$port/files/a.mp4', undefined],
			['http://files.example:$port/files/a.mp4', 'http://inside.example:$port/files/b.mp4'],
		] as const) {
			fileUrl = url;
			redirects = location === undefined ? {} : { '/files/a.mp4': location };
			expect((await fetchFile()).error).toContain(
				'leads to a private network: inside.example',
			);
		}
		expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE, PUBLIC]));
	});

	test('a name behind DNS64 is judged by its IPv4 address', async () => {
		network.resolve('files.example', ['64:ff9b::5db8:d823']);
		fileUrl = 'http://files.example:$port/files/a.mp4';
		expect((await fetchFile()).error).toBe('');
	});

	test('a name that resolves otherwise a moment later is opened where it was judged', async () => {
		network.resolve('rebind.example', [PUBLIC], ['127.0.0.1']);
		fileUrl = 'http://rebind.example:$port/files/a.mp4';
		expect((await fetchFile()).error).toBe('');
		expect(network.contacted.at(-1)).toBe(PUBLIC);
	});

	test('redirects have a limit', async () => {
		fileUrl = 'http://files.example:$port/files/a.mp4';
		redirects = { '/files/a.mp4': 'http://files.example:$port/files/a.mp4' };
		expect((await fetchFile()).error).toContain('The URL of the file redirects without end');
		expect(filesOf()).toHaveLength(11);
	});

	test('with a service on a private network its private files are opened', async () => {
		fileUrl = 'http://localhost:$port/files/a.mp4';
		redirects = { '/files/a.mp4': 'http://127.0.0.1:$port/files/b.mp4' };
		network.resolve('localhost', ['127.0.0.1']);
		expect((await fetchFile('127.0.0.1')).error).toBe('');
	});
});

describe('with a service on a private network, a link that a model has written', () => {
	const download = async (more = {}) => {
		isInText = true;
		network.resolve('vault.corp', ['10.0.0.5']);
		const { outputs } = await withFakeTimers(
			async () =>
				await runNode('chatCompletion', {
					credential: { ...credential('127.0.0.1'), ...more },
					items: [{ chatInput: 'Show me' }],
					parameters: { streaming: 'off', options: { downloadMedia: true } },
				}),
		);
		const [{ error_message: error = '' }] = outputs[0]![0]!.json['media'] as [
			{ error_message?: string },
		];
		return error;
	};

	test.each(['127.0.0.1:$port', '127.0.0.1:1', 'vault.corp:$port'])('to %s', async (host) => {
		fileUrl = `http://${host}/files/a.mp4`;
		const isOwn = host === '127.0.0.1:$port';
		expect(await download()).toMatch(
			isOwn ? /^$/ : /private network: .*\. If you trust it, add it to File Hosts/,
		);
		expect(server.requests).toHaveLength(isOwn ? 2 : 1);
	});

	test('to a redirect of the service is not opened elsewhere', async () => {
		fileUrl = 'http://127.0.0.1:$port/files/a.mp4';
		redirects = { '/files/a.mp4': 'http://vault.corp:$port/files/b.mp4' };
		expect(await download()).toContain('leads to a private network: vault.corp');
	});

	test.each([
		['http://vault.corp:$port', 'https://VAULT.corp/, other.corp'],
		['http://b\u00fccher.corp:$port', 'b\u00fccher.corp'],
		['http://xn--bcher-kva.corp:$port', '*.corp:1 BU\u0308CHER.corp'],
		['http://files.b\u00fccher.corp:$port', '*.b\u00fccher.corp'],
	])('to %s is opened if the credential names %s', async (host, fileHosts) => {
		fileUrl = `${host}/files/a.mp4`;
		network.resolve(new URL(host.replace(':$port', '')).hostname, ['10.0.0.5']);
		expect(await download({ fileHosts })).toBe('');
		expect(network.contacted.at(-1)).toBe('10.0.0.5');
	});
});

test('a name that does not resolve at first is not opened where it resolves later', async () => {
	network.resolve('late.example', [], ['127.0.0.1']);
	fileUrl = 'http://late.example:$port/files/a.mp4';
	const { error } = await withFakeTimers(async () => await NODES['Download Media']!());
	// Another attempt judges the name again.
	expect(error).toContain('The URL of the file leads to a private network');
	expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE]));
});

test('behind a proxy the name reaches the proxy, which resolves it', async () => {
	network.resolve('files.example', []);
	fileUrl = 'http://files.example:$port/files/a.mp4';
	process.env['HTTP_PROXY'] = server.url;
	try {
		await withFakeTimers(async () => await NODES['Download Media']!());
		expect(server.requests.map(({ path }) => path)).toContain(
			`http://files.example:${server.port}/files/a.mp4`,
		);
	} finally {
		delete process.env['HTTP_PROXY'];
	}
});

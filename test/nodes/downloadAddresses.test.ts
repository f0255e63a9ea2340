import { downloads } from '../support/downloads';
import { imitateNetwork, type ImitatedNetwork } from '../support/imitatedNetwork';
import { sampleFile } from '../support/sampleFiles';

/** Imitated addresses of the service and of the public file host. */
const SERVICE = '93.184.216.34';
const PUBLIC = '93.184.216.35';
const IN_PRIVATE = 'The URL of the file leads to a private network';

const scene = downloads();
let network: ImitatedNetwork;
/** Where the file host redirects, by path. */
let redirects: Record<string, string>;

const port = () => new URL(scene.url).port;
/** `$port` stands for the port of the server. */
const real = (url: string) => url.replace('$port', port());

beforeEach(() => {
	redirects = {};
	network = imitateNetwork();
	network.resolve('service.example', [SERVICE]);
	network.resolve('files.example', [PUBLIC]);
	scene.host = (response, { path }) => {
		const location = redirects[path];
		if (location === undefined) response.end(sampleFile('video/mp4'));
		else response.writeHead(302, { location: real(location) }).end();
	};
});
afterEach(() => {
	network.restore();
});

const credential = (host = 'service.example') => ({
	baseUrl: `http://${host}:${port()}`,
	apiKey: 'k',
});

/** Lets Chat Completion download what a model has answered: whether the file came, and the error. */
async function fetchMedia(content: unknown, more = credential()) {
	const { media, passedMs } = await scene.media(content, {}, { credential: more });
	const [{ fileName, error_message: error = '' } = {}] = media;
	return { came: fileName !== undefined, error: String(error), passedMs };
}
const part = (url: string) => [{ type: 'video_url', video_url: { url: real(url) } }];

/** Downloads a file with each node. */
const NODES: Record<string, (url: string, host?: string) => ReturnType<typeof fetchMedia>> = {
	'Wait for Video': async (url, host) => {
		scene.reports = [{ video_url: real(url) }];
		const more = { credential: credential(host) };
		const { file, error = '', passedMs } = await scene.wait({}, more);
		return { came: file !== undefined, error: String(error), passedMs };
	},
	'Download Media': async (url, host) => await fetchMedia(part(url), credential(host)),
};
const PUBLIC_FILE = 'http://files.example:$port/cdn/a.mp4';

describe.each(Object.entries(NODES))('%s', (_name, download) => {
	const errorOf = async (url: string, host?: string) => {
		const { error, came, passedMs } = await download(url, host);
		expect(came).toBe(error === '');
		// No time passes: another attempt would be refused, too. (A poll waits at most 6 s.)
		expect(passedMs).toBeLessThan(6_000);
		return error;
	};

	test('a public address is opened', async () => {
		expect(await errorOf(PUBLIC_FILE)).toBe('');
		expect(network.contacted.at(-1)).toBe(PUBLIC);
		// The host of the URL is kept: servers with several sites need it.
		expect(scene.files()[0]!.headers.host).toBe(`files.example:${port()}`);
	});

	test('a redirect to another public address is followed', async () => {
		network.resolve('cdn.example', ['2606:4700::1111']);
		redirects = {
			'/cdn/a.mp4': '/cdn/b.mp4',
			'/cdn/b.mp4': 'http://cdn.example:$port/cdn/c.mp4',
		};
		expect(await errorOf(PUBLIC_FILE)).toBe('');
		expect(network.contacted.slice(-3)).toStrictEqual([PUBLIC, PUBLIC, '2606:4700::1111']);
	});

	// The table of private hosts, with their spellings, is that of `isPrivateUrl`.
	test.each([
		'127.0.0.1',
		'100.100.100.200',
		'[::ffff:127.0.0.1]',
		'[64:ff9b:1::1]',
		'[fd00:ec2::254]',
		'localhost',
		'vault.default.svc',
		'intranet',
	])('%s is private, in the URL and in a redirect', async (host) => {
		network.resolve(host, [PUBLIC]);
		expect(await errorOf(`http://${host}:$port/cdn/a.mp4`)).toContain(IN_PRIVATE);
		expect(scene.files()).toHaveLength(0);
		redirects = { '/cdn/a.mp4': `http://${host}:$port/cdn/secret` };
		expect(await errorOf(PUBLIC_FILE)).toContain(IN_PRIVATE);
		expect(scene.files()).toHaveLength(1);
		expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE, PUBLIC]));
	});

	test.each([
		[['127.0.0.1']],
		[['::7f00:1']],
		[['64:ff9b::a00:5']],
		[['fe80::1']],
		// A list with one private address is private: the connection may take any of them.
		[[PUBLIC, '127.0.0.1']],
		[['2606:4700::1111', 'fd00::1']],
	])('a public name that resolves to %j is private', async (addresses) => {
		network.resolve('inside.example', addresses);
		const inside = '://inside.example:$port/cdn/b.mp4';
		redirects = { '/cdn/a.mp4': `http${inside}` };
		for (const url of [`http${inside}`, `https${inside}`, PUBLIC_FILE])
			expect(await errorOf(url)).toContain(`${IN_PRIVATE}: inside.example`);
		expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE, PUBLIC]));
	});

	test('a name behind DNS64 is judged by its IPv4 address', async () => {
		network.resolve('files.example', ['64:ff9b::5db8:d823']);
		expect(await errorOf(PUBLIC_FILE)).toBe('');
	});

	test('a name that resolves otherwise a moment later is opened where it was judged', async () => {
		network.resolve('files.example', [PUBLIC], ['127.0.0.1']);
		expect(await errorOf(PUBLIC_FILE)).toBe('');
		expect(network.contacted.at(-1)).toBe(PUBLIC);
	});

	test('with a service on a private network its private files are opened', async () => {
		redirects = { '/cdn/a.mp4': 'http://127.0.0.1:$port/cdn/b.mp4' };
		network.resolve('localhost', ['127.0.0.1']);
		expect(await errorOf('http://localhost:$port/cdn/a.mp4', '127.0.0.1')).toBe('');
	});
});

describe('with a service on a private network, a link that a model has written', () => {
	const download = async (url: string, more = {}) =>
		(await fetchMedia(real(url), { ...credential('127.0.0.1'), ...more })).error;
	beforeEach(() => {
		network.resolve('vault.corp', ['10.0.0.5']);
	});

	test.each(['127.0.0.1:$port', '127.0.0.1:1', 'vault.corp:$port'])('to %s', async (host) => {
		const isOwn = host === '127.0.0.1:$port';
		expect(await download(`http://${host}/cdn/a.mp4`)).toMatch(
			isOwn ? /^$/ : /private network: .*\. If you trust it, add it to File Hosts/,
		);
		expect(scene.files()).toHaveLength(isOwn ? 1 : 0);
	});

	test('to a redirect of the service is not opened elsewhere', async () => {
		redirects = { '/cdn/a.mp4': 'http://vault.corp:$port/cdn/b.mp4' };
		const error = await download('http://127.0.0.1:$port/cdn/a.mp4');
		expect(error).toContain('leads to a private network: vault.corp');
	});

	test.each([
		['http://vault.corp:$port', 'https://VAULT.corp/, other.corp'],
		['http://b\u00fccher.corp:$port', 'b\u00fccher.corp'],
		['http://xn--bcher-kva.corp:$port', '*.corp:1 BU\u0308CHER.corp'],
		['http://files.b\u00fccher.corp:$port', '*.b\u00fccher.corp'],
	])('to %s is opened if the credential names %s', async (host, fileHosts) => {
		network.resolve(new URL(host.replace(':$port', '')).hostname, ['10.0.0.5']);
		expect(await download(`${host}/cdn/a.mp4`, { fileHosts })).toBe('');
		expect(network.contacted.at(-1)).toBe('10.0.0.5');
	});
});

test('a name that does not resolve at first is not opened where it resolves later', async () => {
	network.resolve('late.example', [], ['127.0.0.1']);
	const { error } = await fetchMedia(part('http://late.example:$port/cdn/a.mp4'));
	// Another attempt judges the name again.
	expect(error).toContain(IN_PRIVATE);
	expect(new Set(network.contacted)).toStrictEqual(new Set([SERVICE]));
});

test('behind a proxy the name reaches the proxy, which resolves it', async () => {
	network.resolve('files.example', []);
	const seen: string[] = [];
	scene.host = (response, { path }) => {
		seen.push(path);
		response.end();
	};
	process.env['HTTP_PROXY'] = scene.url;
	try {
		await fetchMedia(part(PUBLIC_FILE));
		expect(seen).toContain(real(PUBLIC_FILE));
	} finally {
		delete process.env['HTTP_PROXY'];
	}
});

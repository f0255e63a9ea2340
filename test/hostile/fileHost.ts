// cspell:ignore byteranges cwin cwindows fetc fpasswd localdomain
import { gzipSync } from 'node:zlib';

import type { IDataObject } from 'n8n-workflow';

import { reply } from '../faults/answers';
import type { Circumstances, Outcome } from '../faults/operations';
import { runNode } from '../support/engine';
import { sampleFile } from '../support/sampleFiles';
import { thorough } from '../support/thorough';
import { drip, MEGABYTE, pour, raw, reject, type Attacker, type Exchange } from './exchange';
import type { Hosts } from './runCell';

/** What a file host, or the one who names its files, can do to a node. */
export interface FileAttack {
	readonly title: string;
	/** Responds to every request for a file. Default: the file. */
	readonly act?: Attacker;
	/** The files that the service or the model names. Default: one on the file host. */
	readonly links?: (hosts: Hosts) => readonly string[];
	/** The whole text of the reply. */
	readonly text?: (hosts: Hosts) => string;
	/** Whether the file arrives; undefined where both are right. */
	readonly ends?: 'well' | 'badly';
	/** Options of the node. */
	readonly options?: IDataObject;
	/** Only where a model writes the links. */
	readonly chatsOnly?: boolean;
	readonly maxRequests?: number;
	readonly maxMinutes?: number;
	readonly maxKilobytes?: number;
	readonly maxMegabytes?: number;
}

/** The file, and its next version of the same length. */
export const FILE = sampleFile('video/mp4', '0123456789'.repeat(10_000));
export const SECOND = sampleFile('video/mp4', 'abcdefghij'.repeat(10_000));
/** A file for many requests. */
export const SMALL = sampleFile('video/mp4', '0123456789');
const HALF = Math.floor(FILE.length / 2);

type Headers = Record<string, string | number>;

const whole = ({ response }: Exchange, headers: Headers = {}, file = FILE) => {
	const all = { 'content-type': 'video/mp4', 'content-length': file.length, ...headers };
	response.writeHead(200, all).end(file);
};

/** Sends half of the file, then closes the connection. */
const half = ({ response }: Exchange, headers: Headers = {}) => {
	const all = { 'content-type': 'video/mp4', 'content-length': FILE.length, etag: '"1"' };
	response.writeHead(200, { ...all, ...headers });
	response.write(FILE.subarray(0, HALF), () => {
		response.socket!.destroySoon();
	});
};

const sendsWhole: Attacker = (exchange) => {
	whole(exchange);
};

/** Sends the second half of the file as the part that the range names. */
const sendRest = (response: Exchange['response'], range: string) => {
	response.writeHead(206, { 'content-type': 'video/mp4', 'content-range': range });
	response.end(FILE.subarray(HALF));
};

/** Sends the file, and zeros without end. */
const pourAfterFile = (response: Exchange['response'], headers: Headers) => {
	response.writeHead(200, { 'content-type': 'video/mp4', ...headers });
	response.write(FILE);
	pour(response, Buffer.alloc(64 * 1024));
};

/** Answers what follows half of the file. */
const afterHalf =
	(act: Attacker): Attacker =>
	(exchange) => {
		if (exchange.index === 0) half(exchange);
		else act(exchange);
	};

const redirect = (title: string, target: (hosts: Hosts, path: string) => string): FileAttack => ({
	title: `redirect to ${title}`,
	ends: 'badly',
	act: ({ response, request, hosts }) => {
		response.writeHead(302, { location: target(hosts!, request.path) }).end();
	},
});

const linked = (title: string, link: (hosts: Hosts) => string): FileAttack => ({
	title: `a link to ${title}`,
	ends: 'badly',
	links: (hosts) => [link(hosts)],
	maxRequests: 1,
	maxMinutes: 0.02,
});

/** Hosts that lead to this machine, by the kind of their name. */
const INSIDE: Readonly<Record<string, string>> = {
	'an address of this machine': '127.0.0.1',
	'a service of the cluster': 'vault.default.svc',
	'a number': '2130706433',
	'octal numbers': '0177.0.0.1',
	'a name with two dots at its end': 'localhost..',
	'full-width letters': '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
	'percent-encoded letters': '%6c%6f%63%61%6c%68%6f%73%74',
	'metadata of a cloud': '169.254.169.254',
	'a user before an address': 'user:pass@127.0.0.1',
	'IPv4 in IPv6 for NAT64': '[64:ff9b::7f00:1]',
	'a public name of this machine': 'inside.example.net',
	'a name with a public and a private address': 'mixed.example.net',
	'a name of IPv4 in IPv6': 'mapped.example.net',
};

const rebinding = (fileUrl: string) => fileUrl.replace('cdn.example.com', 'rebind.example.net');

const SCHEMES = ['file:///etc/passwd', 'javascript:alert(1)', '//'];

const OPTION = { maximumFileSize: 1 };
const ODD_NAMES: Readonly<Record<string, string>> = {
	'path traversal': '..%2f..%2f..%2fetc%2fpasswd',
	'a backslash': '..%5c..%5cwindows%5cwin.ini',
	'bidirectional controls': 'film%E2%80%AE%E2%81%A6gpj.exe',
	'five thousand characters': 'a'.repeat(5_000),
};

/** Every attack of the file host and of the one who names its files, one per row. */
export const FILE_ATTACKS: readonly FileAttack[] = [
	...Object.entries(INSIDE).map(([title, host]) =>
		linked(title, ({ insidePort }) => `http://${host}:${insidePort}/secret.mp4`),
	),
	...Object.entries(INSIDE)
		.slice(-4)
		.map(([title, host]) =>
			redirect(title, ({ insidePort }) => `http://${host}:${insidePort}/secret.mp4`),
		),
	linked(
		'credentials in the address',
		({ insidePort }) => `http://cdn.example.com@127.0.0.1:${insidePort}/a.mp4`,
	),
	...SCHEMES.map((url) => linked(url, () => url)),
	...SCHEMES.slice(0, 2).map((url) => redirect(url, () => url)),
	{ ...redirect('itself', ({ fileUrl }, path) => `${fileUrl}${path}`), maxRequests: 30 },

	{
		title: 'a link to a name whose second answer is private',
		links: ({ fileUrl }) => [`${rebinding(fileUrl)}/film.mp4`],
		act: sendsWhole,
		ends: 'well',
	},
	...Object.entries(ODD_NAMES).map(([title, name]): FileAttack => ({
		title: `${title} in the name`,
		links: ({ fileUrl }) => [`${fileUrl}/files/${name}.mp4`],
		act: sendsWhole,
		ends: 'well',
	})),
	{
		title: 'a media type of ten thousand characters',
		act: (exchange) => {
			whole(exchange, { 'content-type': `video/${'a'.repeat(10_000)}` });
		},
		ends: 'well',
	},
	{
		title: 'path traversal in Content-Disposition',
		act: (exchange) => {
			whole(exchange, {
				'content-disposition': `attachment; filename="../../etc/passwd"; filename*=UTF-8''%E2%80%AEa%2f..%2fb`,
			});
		},
		ends: 'well',
	},
	{
		title: 'a new version in mid-download',
		act: afterHalf((exchange) => {
			whole(exchange, { etag: '"2"' }, SECOND);
		}),
	},
	...Object.entries<Attacker>({
		'half of the file, every time': (exchange) => {
			half(exchange);
		},
		'a 206 that was not asked for': ({ response }) => {
			sendRest(response, `bytes 5-9/${FILE.length}`);
		},
		'a 206 in mid-download': afterHalf(({ response }) => {
			sendRest(response, `bytes ${HALF}-${FILE.length - 1}/${FILE.length}`);
		}),
		// n8n's HTTP client decompresses it, and takes what has come for the whole file.
		'truncated gzip': (exchange) => {
			whole(exchange, { 'content-encoding': 'gzip' }, gzipSync(FILE).subarray(0, 90));
		},
		'bytes that are no HTTP': (exchange) => {
			raw(exchange, Buffer.alloc(64 * 1024, 0xff));
		},
		'a page as a video': (exchange) => {
			whole(exchange, {}, Buffer.from('<!doctype html><script>alert(1)</script>'));
		},
		'an empty file': (exchange) => {
			whole(exchange, {}, Buffer.alloc(0));
		},
		'503 with a day in Retry-After': (exchange) => {
			reject(exchange, 503, {}, {}, { 'retry-after': '86400' });
		},
		'no response': ({ response, time }) => {
			time.hold(response);
		},
	}).map(([title, act]): FileAttack => ({ title, act, ends: 'badly' })),
	{
		title: 'gzip of much more than is read',
		options: OPTION,
		act: (exchange) => {
			const bomb = gzipSync(
				Buffer.concat([FILE, Buffer.alloc(thorough(16, 200) * MEGABYTE)]),
			);
			whole(exchange, { 'content-encoding': 'gzip' }, bomb);
		},
		ends: 'badly',
	},
	{
		title: 'endless file',
		options: OPTION,
		act: ({ response }) => {
			pourAfterFile(response, {});
		},
		ends: 'badly',
		maxMegabytes: 40,
	},
	{
		title: 'endless error page',
		act: ({ response }) => {
			response.writeHead(410, { 'content-type': 'text/html' });
			pour(response, '<p>no</p>'.repeat(1_000));
		},
		ends: 'badly',
		maxMegabytes: 20,
	},
	{
		title: 'a file of ten terabytes',
		act: ({ response }) => {
			pourAfterFile(response, { 'content-length': 1e13 });
		},
		ends: 'badly',
		maxMegabytes: 20,
	},
	{
		title: 'endless slow file',
		act: (exchange) => {
			exchange.response.writeHead(200, { 'content-type': 'video/mp4' });
			exchange.response.write(FILE);
			drip(exchange, Buffer.alloc(9));
		},
		ends: 'badly',
		maxMinutes: 90,
	},

	{
		title: 'three thousand links',
		chatsOnly: true,
		links: ({ fileUrl }) =>
			Array.from({ length: 3_000 }, (_, index) => `${fileUrl}/${index}.mp4`),
		act: (exchange) => {
			whole(exchange, {}, SMALL);
		},
		maxRequests: 100,
		maxKilobytes: 3_000,
	},
	{
		title: '300 kB of links without spaces',
		chatsOnly: true,
		text: () => 'http://a/….x'.repeat(23_000),
		maxKilobytes: 5_000,
	},
	{
		title: '64 kB of beginnings of pictures',
		chatsOnly: true,
		text: () => '![!['.repeat(16_000),
	},
	{
		title: 'a data: URL that cannot be decoded',
		chatsOnly: true,
		text: () => `![a](data:image/png;base64,${'='.repeat(100_000)})`,
	},
];

/** A node that downloads files. */
export interface FileOperation {
	readonly title: string;
	/** Requests to the service for another URL of a file, which cost nothing. */
	readonly freePolls?: number;
	/** The body with which the service names the files. */
	answer(links: readonly string[], text?: string): object;
	run(circumstances: Circumstances, options: IDataObject): Promise<Outcome>;
}

const chat = (title: string, node: string, parameters: IDataObject): FileOperation => ({
	title,
	answer: (links, text = links.map((link) => `[film](${link})`).join(' ')) =>
		JSON.parse(reply(text).pieces.join('')) as object,
	run: async (circumstances, options) => {
		const result = await runNode(node, {
			...circumstances,
			parameters: {
				streaming: 'off',
				...parameters,
				options: { downloadMedia: true, ...options },
			},
		});
		return { ...result, items: result.outputs.flat() };
	},
});

/** Every node that downloads files. */
export const FILE_OPERATIONS: readonly FileOperation[] = [
	{
		title: 'Wait for Video',
		freePolls: 1,
		answer: ([video_url]) => ({ task_id: 'task-1', status: 'completed', video_url }),
		run: async (circumstances, options) => {
			const result = await runNode('waitForVideo', {
				...circumstances,
				items: [{ task_id: 'task-1' }],
				parameters: { options },
			});
			return { ...result, items: result.outputs.flat() };
		},
	},
	chat('Chat Completion', 'chatCompletion', { prompt: 'Show me' }),
	chat('Agent with Tools', 'functionCallingAgent', { prompt: 'Show me' }),
	chat('Super Assistant', 'superAssistant', { appCode: 'app', message: 'Show me' }),
];

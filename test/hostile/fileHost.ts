// cspell:ignore cwin cwindows fetc fpasswd
import { gzipSync } from 'node:zlib';

import type { IDataObject } from 'n8n-workflow';

import { reply } from '../faults/answers';
import { single, type Circumstances, type Outcome } from '../faults/operations';
import { sampleFile } from '../support/sampleFiles';
import { thorough } from '../support/thorough';
import { MEGABYTE, pour, raw, reject, type Attacker, type Exchange } from './exchange';

/** What a file host, or the one who names its files, can do to a node. */
export interface FileAttack {
	readonly title: string;
	/** Responds to every request for a file. Default: the file. */
	readonly act?: Attacker;
	/** The file that the service or the model names, at a file host. Default: /film.mp4 */
	readonly link?: (fileUrl: string) => string;
	/** The whole text of the reply. */
	readonly text?: string;
	/** Whether the file arrives; undefined where both are right. */
	readonly ends?: 'well' | 'badly';
	/** Options of the node. */
	readonly options?: IDataObject;
	/** Only where a model writes the links. */
	readonly chatsOnly?: boolean;
	readonly maxKilobytes?: number;
	readonly maxMegabytes?: number;
}

/** The only file of the host. */
export const FILE = sampleFile('video/mp4', '0123456789'.repeat(10_000));

type Headers = Record<string, string | number>;

const whole = ({ response }: Exchange, headers: Headers = {}, file: Buffer = FILE) => {
	const all = { 'content-type': 'video/mp4', 'content-length': file.length, ...headers };
	response.writeHead(200, all).end(file);
};

const sendsWhole: Attacker = (exchange) => {
	whole(exchange);
};

const OPTION = { maximumFileSize: 1 };
const ODD_NAMES: Readonly<Record<string, string>> = {
	'path traversal': '..%2f..%2f..%2fetc%2fpasswd',
	'a backslash': '..%5c..%5cwindows%5cwin.ini',
	'bidirectional controls': 'film%E2%80%AE%E2%81%A6gpj.exe',
	'five thousand characters': 'a'.repeat(5_000),
};

/** Every attack of the file host and of the one who names its files, one per row. */
export const FILE_ATTACKS: readonly FileAttack[] = [
	{
		title: 'a link to a name whose second answer is private',
		link: (fileUrl) => fileUrl.replace('cdn.example.com', 'rebind.example.net') + '/film.mp4',
		act: sendsWhole,
		ends: 'well',
	},
	...Object.entries(ODD_NAMES).map(([title, name]): FileAttack => ({
		title: `${title} in the name`,
		link: (fileUrl) => `${fileUrl}/files/${name}.mp4`,
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
	...Object.entries<Attacker>({
		'bytes that are no HTTP': (exchange) => {
			raw(exchange, Buffer.alloc(64 * 1024, 0xff));
		},
		'503 with a day in Retry-After': (exchange) => {
			reject(exchange, 503, {}, {}, { 'retry-after': '86400' });
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
			response.writeHead(200, { 'content-type': 'video/mp4' }).write(FILE);
			pour(response, Buffer.alloc(64 * 1024));
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
		title: '300 kB of links without spaces',
		chatsOnly: true,
		text: 'http://a/….x'.repeat(23_000),
		maxKilobytes: 5_000,
	},
	{
		title: '64 kB of beginnings of pictures',
		chatsOnly: true,
		text: '![!['.repeat(16_000),
	},
	{
		title: 'a data: URL that cannot be decoded',
		chatsOnly: true,
		text: `![a](data:image/png;base64,${'='.repeat(100_000)})`,
	},
];

/** A node that downloads files. */
export interface FileOperation {
	readonly title: string;
	/** The body with which the service names the files. */
	answer(link: string, text?: string): object;
	run(circumstances: Circumstances, options: IDataObject): Promise<Outcome>;
}

const chat = (title: string, node: string, parameters: IDataObject): FileOperation => ({
	title,
	answer: (link, text = `[film](${link})`) => JSON.parse(reply(text).pieces.join('')) as object,
	run: async (circumstances, options) =>
		await single(node, {
			streaming: 'off',
			...parameters,
			options: { downloadMedia: true, ...options },
		})(circumstances),
});

/** Every node that downloads files. */
export const FILE_OPERATIONS: readonly FileOperation[] = [
	{
		title: 'Wait for Video',
		answer: (video_url) => ({ task_id: 'task-1', status: 'completed', video_url }),
		run: async (circumstances, options) =>
			await single('waitForVideo', { options }, [{ task_id: 'task-1' }])(circumstances),
	},
	chat('Chat Completion', 'chatCompletion', { prompt: 'Show me' }),
	chat('Agent with Tools', 'functionCallingAgent', { prompt: 'Show me' }),
	chat('Super Assistant', 'superAssistant', { appCode: 'app', message: 'Show me' }),
];

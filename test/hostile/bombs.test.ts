// @seconds 10
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { FAILURE } from '../support/failureTexts';
import { runInSmallHeap } from '../support/smallHeap';
import { thorough } from '../support/thorough';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const REPLY = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] };
/** The answers of the service, each with as many empty objects as its length takes. */
const ANSWERS: Readonly<Record<string, readonly [status: number, body: object]>> = {
	chat: [200, REPLY],
	video: [200, { task_id: 't', status: 'completed', video_url: 'https://a.example/v.mp4' }],
	error: [400, { error: { message: 'No such model' } }],
};

let server: ScriptedServer;
let bombs: Readonly<Record<string, Buffer>>;

beforeAll(async () => {
	server = await startScriptedServer((response, { path }) => {
		const [, kind = ''] = path.split('/');
		const [status, body] = ANSWERS[kind] ?? [200, REPLY];
		const bomb = bombs[kind];
		if (bomb === undefined) {
			json(response, status, body);
			return;
		}
		const type = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
		response.writeHead(status, type).end(bomb);
	});
});
afterAll(() => server.stop());

const PROTOCOL = ['The response has more than 200,000 values', 'protocol', null];
const STATUS = [FAILURE.malformed, 'http', 400];

const BOMBS: readonly (readonly [what: string, value: string, megabytes: number])[] = [
	['15 MB of empty objects', '{}', 15],
	['31 MB of empty objects', '{}', 31],
	['15 MB of nested lists', '['.repeat(90) + ']'.repeat(90), 15],
	['15 MB of numbers', '1', 15],
];

test.each(thorough(BOMBS.slice(0, 1), BOMBS))(
	'a process of 1.5 GB survives three answers with %s, and reads others',
	async (_name, value, megabytes) => {
		const many = `[${`${value},`.repeat((megabytes * 2 ** 20) / (value.length + 1))}0]`;
		bombs = Object.fromEntries(
			Object.entries(ANSWERS).map(([kind, [, body]]) => {
				const text = JSON.stringify({ ...body, x: null }).replace(
					'"x":null',
					`"x":${many}`,
				);
				return [kind, gzipSync(text)];
			}),
		);
		expect(bombs['chat']!.length).toBeLessThan(100_000);
		const result = await runInSmallHeap(join(__dirname, 'bombs.ts'), server.url);
		expect(result).toStrictEqual({ outcomes: [PROTOCOL, PROTOCOL, STATUS], served: true });
	},
	120_000,
);

test('it survives eight streams whose few bytes are millions of values, and reads others', async () => {
	const result = await runInSmallHeap(join(__dirname, 'bombs.ts'));
	const end = ['The reply has more than 200,000 values', 'protocol', null];
	expect(result).toStrictEqual({ outcomes: Array(8).fill(end), served: true });
}, 60_000);

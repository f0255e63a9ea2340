import type { ServerResponse } from 'node:http';

import { chunk, event } from '../faults/answers';
import { OPERATIONS, WAYS, type Operation } from '../faults/operations';
import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const KEY = 'sk-0f4e/very+sesame';
const BEARER = `Bearer ${KEY}`;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const hexEscaped = (prefix: string) =>
	KEY.replace(/[^a-z0-9]/g, (character) => `${prefix}00${character.charCodeAt(0).toString(16)}`);

const everyCharacter = (before: string, after = '') =>
	Array.from(KEY, (each) => `${before}${each.charCodeAt(0).toString(16)}${after}`).join('');

/** The ways to quote the key, and the part of each that gives it away. */
const QUOTES: Readonly<Record<string, string>> = {
	plain: BEARER,
	'with each letter as an escape': `Bearer ${everyCharacter('\\u00')}`,
	'with each character URL-encoded': `Bearer ${everyCharacter('%')}`,
	'with each character as HTML': `Bearer ${everyCharacter('&#x', ';')}`,
	'with each character URL-encoded twice': `Bearer ${everyCharacter('%25')}`,
	'URL-encoded': encodeURIComponent(BEARER),
	'URL-encoded in lower case': encodeURIComponent(BEARER).replace(/%../g, (c) => c.toLowerCase()),
	'with escaped slashes': BEARER.replaceAll('/', '\\/'),
	'escaped for JSON': hexEscaped('\\u'),
	'escaped for HTML': KEY.replaceAll('/', '&#x2F;').replaceAll('+', '&#x2B;'),
	base64: base64(KEY),
	'base64 of the header': base64(BEARER),
	'base64 of all headers': base64(`Accept: */*\r\nAuthorization: ${BEARER}\r\nHost: x\r\n`),
	base64url: Buffer.from(`x ${BEARER}`).toString('base64url'),
	hexadecimal: Buffer.from(KEY).toString('hex'),
	'hexadecimal in upper case': Buffer.from(KEY).toString('hex').toUpperCase(),
};
/** The longest part of each that stands in the middle of the quote, whatever is around it. */
const coreOf = (quote: string) => {
	if (quote.includes('sesame')) return 'sesame';
	const hex = Buffer.from('sesame').toString('hex');
	if (/^Bearer [\\%&]/.test(quote)) return quote.slice(-12);
	const inBase64 = [0, 1, 2].map((at) => base64('x'.repeat(at) + KEY).slice(4, -4));
	return [...inBase64, hex, hex.toUpperCase()].find((core) => quote.includes(core))!;
};

let server: ScriptedServer;
let respond: (response: ServerResponse) => void;
beforeAll(async () => {
	server = await startScriptedServer((response) => {
		respond(response);
	});
});
beforeEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

const credential = () => ({ baseUrl: server.url, apiKey: KEY });

/** A body that every operation takes for a success, with the key in a text, an ID, a name and in what nobody knows. */
const successful = (response: ServerResponse, more: object = {}) => {
	const message = { role: 'assistant', content: `You sent ${BEARER}` };
	response.writeHead(200, { 'content-type': 'application/json' }).end(
		JSON.stringify({
			choices: [{ index: 0, message, finish_reason: 'stop' }],
			session_id: `s-${KEY}`,
			task_id: `task-${KEY}`,
			status: 'completed',
			video_url: `https://cdn.example.com/lake.mp4?key=${KEY}`,
			quota: { [KEY]: BEARER },
			...more,
		}),
	);
};

describe.each(Object.entries(OPERATIONS))('%s', (_id, operation: Operation) => {
	test('neither changes nor rejects a body that is well', async () => {
		respond = (response) => {
			// A poll is answered about the task that it asks for.
			successful(response, operation.node === 'waitForVideo' ? { task_id: 'task-1' } : {});
		};
		const { items, error } = await withFakeTimers(
			async () => await operation.run({ credential: credential() }),
		);
		expect(error).toBeUndefined();
		expect(JSON.stringify(items)).toContain(KEY);
		expect(JSON.stringify(items)).not.toContain('[masked');
	});
});

async function replyTo(pieces: readonly string[]): Promise<string> {
	respond = (response) => {
		response.writeHead(400, { 'content-type': 'text/plain' });
		const next = (index: number) => {
			if (index === pieces.length) response.end();
			// A later turn of the event loop: a chunk of its own.
			else response.write(pieces[index], () => setImmediate(next, index + 1));
		};
		next(0);
	};
	const { outputs } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: { prompt: 'Hi', streaming: 'off' },
		onError: 'continueErrorOutput',
	});
	return JSON.stringify(outputs);
}

test.each(Object.entries(QUOTES))('the key is masked %s', async (_how, quote) => {
	const shown = await replyTo([`before ${quote} after`]);
	expect(shown).toMatch(/before .*\[masked: API Key\].* after/);
	expect(shown).not.toContain(coreOf(quote));
});

test('the key is masked wherever two chunks split it', async () => {
	for (let at = 1; at < KEY.length; at++) {
		const shown = await replyTo([`before ${KEY.slice(0, at)}`, `${KEY.slice(at)} after`]);
		expect(shown).toContain('before [masked: API Key] after');
	}
});

test('a key of 9,000 characters is masked', async () => {
	const apiKey = Array.from({ length: 1_000 }, (_, index) => `${index}`.padStart(9, 'k')).join(
		'',
	);
	respond = (response) => response.writeHead(400).end(`The key ${apiKey} is unknown`);
	const { outputs } = await runNode('chatCompletion', {
		credential: { baseUrl: server.url, apiKey },
		parameters: { prompt: 'Hi' },
		onError: 'continueErrorOutput',
	});
	// It does not fit into the excerpt.
	expect(JSON.stringify(outputs)).toContain('The key [masked: API Key]…');
	expect(JSON.stringify(outputs)).not.toMatch(/k{3}/);
});

test('no part of the key is left wherever an excerpt is cut', async () => {
	for (let before = 200 - KEY.length; before <= 196; before++) {
		const shown = await replyTo([`${'.'.repeat(before)}${KEY} and more`]);
		expect(shown).not.toContain(KEY.slice(0, 4));
		expect(shown).toContain('[masked: API Key]');
	}
});

test('no part of the key is left of a refusal that is cut for one line', async () => {
	respond = (response) => {
		const message = { role: 'assistant', content: null, refusal: `${'.'.repeat(110)}${KEY}` };
		successful(response, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	};
	const { error } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: { prompt: 'Hi', streaming: 'off' },
	});
	expect(error!.message).toMatch(/^The model refused to answer: \.+\[masked: API Key\]…$/);
});

test('a short key masks nothing: it may be a word', async () => {
	respond = (response) => response.writeHead(400).end('The keyring is empty');
	const { outputs } = await runNode('chatCompletion', {
		credential: { baseUrl: server.url, apiKey: 'key' },
		parameters: { prompt: 'Hi' },
		onError: 'continueErrorOutput',
	});
	expect(JSON.stringify(outputs)).toContain('The keyring is empty');
});

/** The chat and the output of a streamed reply in these pieces. */
async function streamed(...pieces: readonly string[]) {
	respond = (response) => {
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		const next = (index: number) => {
			if (index === pieces.length) response.end('data: [DONE]\n\n');
			else
				response.write(event(JSON.stringify(chunk({ content: pieces[index]! }))), () =>
					setImmediate(next, index + 1),
				);
		};
		next(0);
	};
	const { chunks, outputs } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: { prompt: 'Hi' },
		streaming: true,
	});
	const shown = chunks.flatMap(({ content = '' }) => (content === '' ? [] : [content]));
	return { shown, output: outputs[0]![0]!.json['output'] };
}

test('the key is masked in a chat wherever two events split it, and in the item', async () => {
	for (let at = 1; at < KEY.length; at++) {
		const { shown, output } = await streamed(`One ${KEY.slice(0, at)}`, `${KEY.slice(at)} two`);
		expect(shown.join('')).toBe('One [masked: API Key] two');
		expect(output).toBe('One [masked: API Key] two');
	}
});

test('a reply that ends like the beginning of the key is complete', async () => {
	const { shown, output } = await streamed('A des', 'k-sk-0f');
	expect([shown.join(''), output]).toStrictEqual(['A desk-sk-0f', 'A desk-sk-0f']);
});

describe.each([OPERATIONS.chatStreamed, OPERATIONS.agent, OPERATIONS.assistantStreamed])(
	'$title in a chat',
	(operation: Operation) => {
		test('a visitor gets our words; the words of the service are in the details', async () => {
			respond = (response) => {
				const error = { message: 'Tenant 7 is broke', type: 'tenant_error' };
				response.writeHead(406).end(JSON.stringify({ error, trace_id: 'trace-7' }));
			};
			const { chunks, error } = await operation.run({
				credential: credential(),
				...WAYS.streaming,
			});
			const shown = chunks.find(({ type }) => type === 'error');
			expect(shown?.content).toBe(`${FAILURE.noCredit}. Tell the person who set this up.`);
			expect(JSON.stringify(chunks)).not.toMatch(/tenant|trace-7/i);
			expect(JSON.stringify(error)).toContain('Tenant 7 is broke');
			expect(JSON.stringify(error)).toContain('trace-7');
		});
	},
);

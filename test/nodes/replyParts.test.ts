import type { IDataObject } from 'n8n-workflow';

import { runNode } from '../support/engine';
import { events, json, serverForEach } from '../support/scriptedServer';

const CDN = 'https://cdn.example';
const picture = (url: string) => ({ type: 'image_url', image_url: { url } });
const PICTURE = picture(`${CDN}/77`);
const CLIP = { type: 'video_url', video_url: `${CDN}/clip` };
const SOUND = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
const PARTS = [{ type: 'text', text: 'A lake ' }, PICTURE, CLIP, SOUND, 'at dawn'];
const MEDIA = [
	{ kind: 'image', url: `${CDN}/77` },
	{ kind: 'video', url: `${CDN}/clip` },
	{ kind: 'audio', url: 'data:audio/wav;base64,UklGRg==' },
];

const CALL = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
const RUN = { tool_calls: [CALL], tool_results: [{ tool_call_id: 'c1', content: 'Rain' }] };

/** The content of the reply; in a stream, one part per chunk. */
let content: readonly unknown[];
let reasoning: unknown;
/** The other fields of its message. */
let said: object;

const server = serverForEach((response, { body }) => {
	const more = { session_id: 's-1' };
	const end = { index: 0, finish_reason: 'stop' };
	if (reasoning === null || (body as { stream?: boolean }).stream !== true) {
		const message = { role: 'assistant', content, reasoning_content: reasoning, ...said };
		json(response, 200, { choices: [{ ...end, message }], ...more });
		return;
	}
	const chunks = content.map((part) => ({
		choices: [{ index: 0, delta: { content: [part] } }],
	}));
	events(response, [...chunks, { choices: [{ ...end, delta: said }], ...more }, '[DONE]']);
});

beforeEach(() => {
	content = PARTS;
	reasoning = undefined;
	said = {};
});

const credential = () => ({ baseUrl: server.url, apiKey: 'k' });

async function run(node: string, parameters: IDataObject) {
	const { outputs, status, chunks } = await runNode(node, {
		credential: credential(),
		parameters,
		streaming: parameters['live'] === true,
	});
	expect(status).toBe('success');
	return { json: outputs.flat()[0]!.json, chunks };
}

test.each(['auto', 'off'])(
	'the text of a list of parts is text, and its files are media, with Streaming set to %s',
	async (streaming) => {
		const { json: item } = await run('chatCompletion', {
			prompt: 'Hi',
			streaming,
			output: 'detailed',
		});
		expect(item).toMatchObject({ output: 'A lake at dawn', media: MEDIA, session_id: 's-1' });
	},
);

const NODES: readonly (readonly [string, IDataObject])[] = [
	['chatCompletion', { prompt: 'Hi' }],
	['functionCallingAgent', { prompt: 'Hi' }],
	['superAssistant', { appCode: 'a', message: 'Hi' }],
];

describe.each(NODES)('%s', (node, parameters) => {
	test.each<[string, readonly unknown[], object, string]>([
		['links', ['<think>Hm</think>', PICTURE], {}, MEDIA[0]!.url],
		['work', [], RUN, 'Done without an answer: look'],
		['links, and no image of another host', [picture(`![a](${CDN}/7)`)], {}, `[a](${CDN}/7)`],
		['text, and no links', ['A lake', PICTURE], {}, 'A lake'],
	])('shows in a chat of a reply its %s', async (_name, parts, more, shown) => {
		content = parts;
		said = more;
		const { chunks } = await run(node, { ...parameters, live: true, output: 'detailed' });
		const texts = chunks.map(({ content: text = '' }) => text);
		expect(texts.join('').replace(`${server.url}/`, '').trim()).toBe(shown);
	});
});

test.each(['auto', 'off'])(
	'a raw response has the parts that are not text, with Streaming set to %s',
	async (streaming) => {
		const { json: item } = await run('chatCompletion', {
			prompt: 'Hi',
			streaming,
			output: 'raw',
		});
		const message = { content: 'A lake at dawn', parts: [PICTURE, CLIP, SOUND] };
		expect(item).toMatchObject({ choices: [{ message }] });
	},
);

test.each([
	['an image by its key', { image: `${CDN}/1` }, { kind: 'image', url: `${CDN}/1` }],
	[
		'a file by its extension',
		{ type: 'file', file: { url: `${CDN}/a.mp3` } },
		{ kind: 'audio', url: `${CDN}/a.mp3` },
	],
	['a file', { type: 'file', file: { url: `${CDN}/a` } }, { kind: 'file', url: `${CDN}/a` }],
	[
		'a file in the response',
		{ type: 'file', url: 'data:video/mp4;base64,AAAA' },
		{ kind: 'video', url: 'data:video/mp4;base64,AAAA' },
	],
])('a part can be %s', async (_name, part, media) => {
	content = [part, { type: 'text', text: 'No more' }, { type: 'unknown' }, null];
	const { json: item } = await run('chatCompletion', { prompt: 'Hi' });
	expect(item).toMatchObject({ output: 'No more', media: [media] });
});

test('a JSON body with null for its reasoning shows no reasoning in a chat', async () => {
	reasoning = null;
	const { json: item, chunks } = await run('chatCompletion', {
		prompt: 'Hi',
		live: true,
		streaming: 'reasoning',
	});
	expect(item).not.toHaveProperty('reasoning_content');
	expect(JSON.stringify(chunks)).not.toContain('null');
});

test('a reply that is not the JSON that was asked for keeps its session', async () => {
	const { error } = await runNode('chatCompletion', {
		credential: credential(),
		parameters: { prompt: 'Hi', responseFormat: 'json' },
	});
	expect(error).toMatchObject({ message: 'The reply is not valid JSON' });
	expect(error!.description).toContain('session_id: s-1');
});

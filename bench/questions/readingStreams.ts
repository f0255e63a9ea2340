import { createParser } from 'eventsource-parser';
import OpenAI from 'openai';

import { completeChat } from '../../nodes/client/chat/completeChat';
import type { HttpPort } from '../../nodes/client/ports';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { measuredOf, type Contender, type Question, type Ratio, type Row } from '../question';

const CHUNKS = 6_000;
/** The maximum of one socket read, and about the size of one event of a slow model. */
const PIECES = [
	{ key: 'large', bytes: 16_384, label: '16 kB pieces' },
	{ key: 'small', bytes: 256, label: '256 B pieces' },
] as const;
const REPEATS = { full: 50, quick: 12 };
/** Rounds until the JIT compiler has optimized all readers. */
const WARM_UPS = 15;
const MEGABYTE = 2 ** 20;
const TEXT = 'word '.repeat(CHUNKS);
const MESSAGES = [{ role: 'user' as const, content: 'Hello?' }];

/** A client library that reads a stream and returns its text. */
interface Reader extends Contender {
	readonly read: (pieces: readonly Uint8Array[]) => Promise<string>;
}

const READERS: readonly Reader[] = [
	{ name: 'this package (completeChat)', isBounded: true, read: readOurs },
	{
		name: 'eventsource-parser + JSON.parse (baseline)',
		isBounded: true,
		read: readBare,
		note: 'no validation; assembles the text only',
	},
	{ name: '`openai` client', isBounded: true, read: readOpenAi },
	{ name: '`ai` SDK, streamText', read: readAiSdk },
];

export const READING_STREAMS: Question = {
	id: 'reading-streams',
	title: 'Reading streams',
	method: `A reply of ${CHUNKS} chunks, about 1 MB, is read from memory, in pieces of 16 kB (a fast server) and of 256 bytes (about one
event each).`,
	run: async (bench) => {
		const { quick, onProgress } = bench;
		const readers = measuredOf(READERS, bench);
		const bytes = sseStream();
		const rows: Row[] = readers.map(({ name, note }) => ({
			contender: name,
			figures: {},
			...(note === undefined ? {} : { note }),
		}));
		const ratios: Ratio[] = [];
		for (const { key, bytes: size, label } of PIECES) {
			onProgress(label);
			const pieces = split(bytes, size);
			const measured = await interleave(
				readers,
				quick ? REPEATS.quick : REPEATS.full,
				async ({ name, read }) => {
					const startMs = performance.now();
					const text = await read(pieces);
					const perSecond = 1000 / (performance.now() - startMs);
					if (text !== TEXT) throw new Error(`${name} read a different text`);
					return { [`mb-${key}`]: (bytes.length / MEGABYTE) * perSecond };
				},
				WARM_UPS,
			);
			ratios.push(...(await ratiosOf({ key, label }, measured)));
			for (const [index, values] of measured.entries()) {
				const figures = { ...rows[index]!.figures, ...(await toFigures(values)) };
				rows[index] = { ...rows[index]!, figures };
			}
		}
		return {
			columns: PIECES.map(({ key, label }) => ({
				key: `mb-${key}`,
				title: `MB/s, ${label}`,
				digits: 1,
			})),
			rows,
			ratios,
		};
	},
};

/** The medians of the ratios within a round: what slows the machine down slows the readers of a round alike. */
async function ratiosOf(
	{ key, label }: Pick<(typeof PIECES)[number], 'key' | 'label'>,
	measured: readonly (readonly Readonly<Record<string, number>>[])[],
): Promise<Ratio[]> {
	const { median } = await import('simple-statistics');
	const [ours, ...peers] = measured.map((values) => values.map((each) => each[`mb-${key}`]!));
	return (['baseline', 'openai', 'ai'] as const).slice(0, peers.length).map((peer, index) => ({
		id: `reading-${key}-vs-${peer}`,
		label: `time per stream, ${label}, vs. ${READERS[index + 1]!.name}`,
		value: median(peers[index]!.map((rate, round) => rate / ours![round]!)),
		...(peer === 'baseline' ? { reason: BASELINE_REASON } : {}),
	}));
}

const BASELINE_REASON = 'the baseline extracts the text only; [what the rest is](#goals)';

function sseStream(): Uint8Array {
	const chunk = (delta: object, finish_reason: string | null, more: object = {}) => ({
		id: 'bench',
		object: 'chat.completion.chunk',
		created: 1_800_000_000,
		model: 'chat-m1',
		choices: [{ index: 0, delta, finish_reason }],
		...more,
	});
	const usage = { prompt_tokens: 9, completion_tokens: CHUNKS, total_tokens: CHUNKS + 9 };
	const chunks = [
		chunk({ role: 'assistant' }, null),
		...Array.from({ length: CHUNKS }, () => chunk({ content: 'word ' }, null)),
		chunk({}, 'stop', { usage }),
	];
	const events = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`);
	return new TextEncoder().encode(`${events.join('')}data: [DONE]\n\n`);
}

function split(bytes: Uint8Array, size: number): Uint8Array[] {
	return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
		bytes.subarray(index * size, (index + 1) * size),
	);
}

async function* feed(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
	yield* pieces;
}

async function readOurs(pieces: readonly Uint8Array[]): Promise<string> {
	const http: HttpPort = () =>
		Promise.resolve({
			status: 200,
			headers: { 'content-type': 'text/event-stream' },
			body: feed(pieces),
		});
	const request = { messages: MESSAGES };
	const { choices } = await completeChat(http, request, { stream: true, idleTimeoutMs: 1_000 });
	return choices[0]!.message.content ?? '';
}

async function readBare(pieces: readonly Uint8Array[]): Promise<string> {
	let text = '';
	const parser = createParser({
		onEvent: ({ data }) => {
			if (data === '[DONE]') return;
			const { choices } = JSON.parse(data) as { choices: [{ delta: { content?: string } }] };
			text += choices[0].delta.content ?? '';
		},
	});
	const utf8 = new TextDecoder();
	for await (const piece of feed(pieces)) parser.feed(utf8.decode(piece, { stream: true }));
	return text;
}

const respondWith = (pieces: readonly Uint8Array[]) => () =>
	Promise.resolve(
		new Response(ReadableStream.from(feed(pieces)), {
			headers: { 'content-type': 'text/event-stream' },
		}),
	);

async function readOpenAi(pieces: readonly Uint8Array[]): Promise<string> {
	const fetch = respondWith(pieces);
	const client = new OpenAI({ baseURL: 'http://127.0.0.1/v1', apiKey: 'bench-key', fetch });
	const stream = client.chat.completions.stream({ model: 'chat-m1', messages: MESSAGES });
	return (await stream.finalChatCompletion()).choices[0]!.message.content ?? '';
}

async function readAiSdk(pieces: readonly Uint8Array[]): Promise<string> {
	const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
	const { streamText } = await import('ai');
	const provider = createOpenAICompatible({
		name: 'bench',
		baseURL: 'http://127.0.0.1/v1',
		fetch: respondWith(pieces),
	});
	return await streamText({ model: provider.chatModel('chat-m1'), messages: MESSAGES }).text;
}

import { setTimeout as sleep } from 'node:timers/promises';

import { node, withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import { httpRequest, langchain, modelById, openAiModel, ourNode, webhook } from '../n8n/nodes';
import { toFigures } from '../measure/figure';
import { interleave } from '../measure/interleave';
import { readStream, wholeMs, type StreamTimes } from '../measure/readStream';
import { measuredOf, type Contender, type Question, type Row } from '../question';
import { modelName } from '../server/behavior';

const REPEATS = { full: 21, quick: 7 };
const MODEL = modelName({ chunks: 40, gapMs: 5 });
/** A fast service, or one that has buffered its reply. */
const BURST_MODEL = modelName({ chunks: 2_000, gapMs: 0 });
const PROMPT = '={{ $json.body.question }}';
const REGISTRATION_MS = 500;

interface StreamContender extends Contender {
	/** Missing for the client that calls the server directly. */
	readonly workflow?: (serverUrl: string, path: string, model: string) => Workflow;
	/** Does not stream: its first text is its only one. */
	readonly isWhole?: true;
}

const agent = (path: string) =>
	workflow(path, [
		webhook(path, 'streaming'),
		langchain('Agent', 'agent', 3.1, {
			promptType: 'define',
			text: PROMPT,
			options: { enableStreaming: true },
		}),
	]);

const respond = () =>
	node('Respond', 'n8n-nodes-base.respondToWebhook', 1.5, {
		parameters: {
			respondWith: 'text',
			responseBody: '={{ $now.toMillis() }}.000\n{{ $now.toMillis() }}.000',
		},
	});

const OURS = 'Chat Completion';
const PEER = 'AI Agent 3.1 + OpenAI Chat Model';
const FLOOR = 'Webhook + HTTP Request + Respond to Webhook, whole reply at once';

/** The client without n8n comes last: what n8n adds is the rest of another's times. */
const CONTENDERS: readonly StreamContender[] = [
	{
		name: OURS,
		isBounded: true,
		workflow: (_serverUrl, path, model) =>
			workflow(path, [
				webhook(path, 'streaming'),
				ourNode('Chat', 'chatCompletion', { prompt: PROMPT, model: modelById(model) }),
			]),
	},
	{
		name: PEER,
		isBounded: true,
		workflow: (serverUrl, path, model) =>
			withSubNodes(agent(path), 'Agent', [
				[openAiModel(serverUrl, model), 'ai_languageModel'],
			]),
	},
	{
		name: 'AI Agent 3.1 + Agent Video Chat Model',
		workflow: (_serverUrl, path, model) =>
			withSubNodes(agent(path), 'Agent', [
				[
					ourNode('Model', 'agentVideoChatModel', { model: modelById(model) }),
					'ai_languageModel',
				],
			]),
	},
	{
		name: 'Webhook + Respond to Webhook, no model',
		note: 'the share of n8n itself',
		isWhole: true,
		workflow: (_serverUrl, path) => workflow(path, [webhook(path, 'responseNode'), respond()]),
	},
	{
		name: FLOOR,
		note: "n8n's own credential, expression and request",
		isWhole: true,
		workflow: (serverUrl, path) => {
			const body = JSON.stringify({ model: modelName() }).slice(0, -1);
			const json = `=${body}, "messages": [{ "role": "user", "content": {{ JSON.stringify($json.body.question) }} }] }`;
			return workflow(path, [
				webhook(path, 'responseNode'),
				httpRequest('Request', `${serverUrl}/v1/chat/completions`, json),
				respond(),
			]);
		},
	},
	{ name: 'plain client, no n8n (baseline)', isBounded: true },
];

export const FIRST_TOKEN: Question = {
	id: 'first-token',
	title: 'Time to first token',
	method: `A client calls a streaming webhook; the model sends 40 chunks, 5 ms apart. *First token* is the time from the request to the
client's first text; *until sent* the part of it before the server sends that text. *Per chunk* is a later chunk's time from the
server to the client. *2,000 at once* is a reply of 2,000 chunks without a pause. *Over baseline* is what n8n and the node add.`,
	run: async (bench) => {
		const { quick, server, n8n: shared, onProgress } = bench;
		const contenders = measuredOf(CONTENDERS, bench);
		const n8n = await shared();
		/** The URL and the body that make a contender ask this model. */
		const address = async (
			{ workflow: drawn }: StreamContender,
			path: string,
			model: string,
		): Promise<readonly [url: string, body: object]> => {
			const messages = [{ role: 'user', content: 'Hello?' }];
			if (drawn === undefined) {
				const url = `${server.url}/v1/chat/completions`;
				return [url, { model, stream: true, messages }];
			}
			await n8n.install(drawn(server.url, path, model), path);
			return [n8n.webhook(path), { question: 'Hello?' }];
		};
		const requests: (() => Promise<StreamTimes & { readonly burst: number }>)[] = [];
		for (const [index, contender] of contenders.entries()) {
			const slow = await address(contender, `first-token-${index}`, MODEL);
			const burst = await address(contender, `burst-${index}`, BURST_MODEL);
			requests.push(async () => ({
				...(await readStream(...slow)),
				burst: await wholeMs(...burst),
			}));
		}
		await sleep(REGISTRATION_MS);
		onProgress(`${contenders.length} contenders, round-robin`);
		const measured = await interleave(
			requests,
			quick ? REPEATS.quick : REPEATS.full,
			async (measure) => await measure(),
		);
		const figures = await Promise.all(measured.map((values) => toFigures(values)));
		const baseline = figures.at(-1)!;
		const rows: Row[] = contenders.map(({ name, note, isWhole }, index) => {
			const own = figures[index]!;
			const overBaseline = (key: 'firstToken' | 'perChunk') => ({
				...own[key],
				median: own[key].median - baseline[key].median,
			});
			const first = { firstToken: own.firstToken, addedFirst: overBaseline('firstToken') };
			if (isWhole) return { contender: name, figures: first, ...(note && { note }) };
			return {
				contender: name,
				figures: { ...own, ...first, addedChunk: overBaseline('perChunk') },
			};
		});
		const medianOf = (name: string, key: string) =>
			rows.find(({ contender }) => contender === name)!.figures[key]!.median;
		const ratio = (key: string, other = PEER) => medianOf(OURS, key) / medianOf(other, key);
		return {
			columns: [
				{ key: 'firstToken', title: 'first token (ms)', digits: 1 },
				{ key: 'untilSent', title: 'until sent (ms)', digits: 1 },
				{ key: 'addedFirst', title: 'over baseline (ms)', digits: 1 },
				{ key: 'perChunk', title: 'per chunk (ms)', digits: 2 },
				{ key: 'addedChunk', title: 'per chunk, over baseline (ms)', digits: 2 },
				{ key: 'burst', title: '2,000 at once (ms)', digits: 0 },
			],
			rows,
			ratios: [
				{
					id: 'first-token-vs-agent',
					label: 'first token, Chat Completion vs. AI Agent + OpenAI Chat Model',
					value: ratio('firstToken'),
				},
				...(bench.guard
					? []
					: [
							{
								id: 'first-token-vs-http',
								label: "first token, Chat Completion vs. n8n's HTTP Request",
								value: ratio('firstToken', FLOOR),
								reason: 'the text is sent while the reply arrives',
							},
						]),
				{
					id: 'first-token-burst-vs-agent',
					label: '2,000 chunks at once, Chat Completion vs. AI Agent + OpenAI Chat Model',
					value: ratio('burst'),
				},
				{
					id: 'first-token-chunk-vs-agent',
					label: 'per chunk, Chat Completion vs. AI Agent + OpenAI Chat Model',
					value: ratio('perChunk'),
				},
			],
		};
	},
};
